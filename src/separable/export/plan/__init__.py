"""Language-independent description of what a model computes."""
