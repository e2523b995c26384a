"""Data in memory as rows and columns."""
