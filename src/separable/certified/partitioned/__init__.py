"""Certified models of rows in partitions: solvers and certificates see sums over rows alone."""
