"""Piecewise linear curves of numeric columns."""
