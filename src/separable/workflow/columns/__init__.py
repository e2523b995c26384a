"""Decisions about single columns: which are left out, and how integers are read."""
