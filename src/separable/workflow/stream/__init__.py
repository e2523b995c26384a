"""Training from a stream, one row at a time."""
