"""Checks of a table before training: leakage, duplicates, suspicious values."""
