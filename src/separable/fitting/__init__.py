"""Shared by all learners: base class, targets, folds, scorers, held-out predictions."""
