"""Learners that see one example at a time."""
