"""One-hot encoder of categories."""
