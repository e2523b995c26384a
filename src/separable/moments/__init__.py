"""Closed-form learners that need the data only through sums (sufficient statistics)."""
