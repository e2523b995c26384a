"""Model of the voted perceptron: many weight vectors with vote counts."""
