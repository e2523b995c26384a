"""Training from a table: target, candidates, comparison, refit and test."""
