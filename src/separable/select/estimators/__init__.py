"""Estimators that choose their own regularization by cross-validation."""
