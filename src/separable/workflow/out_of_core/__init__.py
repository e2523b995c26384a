"""Training on data in partitions: larger than memory, or on a cluster."""
