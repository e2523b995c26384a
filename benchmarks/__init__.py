"""Speed, memory and accuracy of separable beside its peers: ``python -m benchmarks``."""
