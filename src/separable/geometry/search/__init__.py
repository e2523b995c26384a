"""Search for a verdict on separability."""
