"""Proofs of verdicts on separability, and their checks."""
