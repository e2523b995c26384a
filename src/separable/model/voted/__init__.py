"""The voted perceptron's model: many weight vectors, each with its votes."""
