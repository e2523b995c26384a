"""Contributions of features to scores, and the most important features."""
