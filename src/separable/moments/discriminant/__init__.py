"""Linear discriminant analysis and least-squares classification from sums."""
