"""Penalties: value, conjugate, dual scaling and proximal step."""
