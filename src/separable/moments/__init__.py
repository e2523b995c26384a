"""Learners that need the data only through sums."""
