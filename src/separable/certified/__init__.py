"""Learners of convex problems, with a proof of how far from the optimum they stopped."""
