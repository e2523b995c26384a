"""Encoder of texts: tokens, n-grams, vocabulary and hashing."""
