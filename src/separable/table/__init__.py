"""Encoder and learner as one: from a raw table to a model that reads raw records."""
