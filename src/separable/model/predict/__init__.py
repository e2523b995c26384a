"""Scores, probabilities and predictions of a model."""
