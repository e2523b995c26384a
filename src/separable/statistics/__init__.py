"""Sufficient statistics of rows (moments, class counts) and their error bounds."""
