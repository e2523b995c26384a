"""Learning curves and validation curves."""
