"""Estimators of raw tables: an encoder and a learner in one object."""
