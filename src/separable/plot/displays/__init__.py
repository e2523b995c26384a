"""Displays of models, data and validation."""
