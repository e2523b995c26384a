"""Linear models: prediction, explanation, metrics and files."""
