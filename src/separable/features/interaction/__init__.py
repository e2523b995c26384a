"""Interactions: products of the features of two columns."""
