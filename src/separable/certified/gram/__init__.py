"""Least squares with an elastic-net penalty from the Gram matrix."""
