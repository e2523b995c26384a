"""Comparison of learners: candidates, out-of-fold scores, calibration and decisions."""
