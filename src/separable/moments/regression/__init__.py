"""Regression from sums: least squares, ridge and Bayesian regression."""
