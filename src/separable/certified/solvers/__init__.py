"""Solvers of the certified learners: which one takes a problem, and what they have in common."""
