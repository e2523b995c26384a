"""Search for features that make classes separable."""
