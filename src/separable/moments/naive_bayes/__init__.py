"""Naive Bayes classifiers from sums."""
