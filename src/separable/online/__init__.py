"""Online learners: perceptrons, stochastic gradient descent, Widrow-Hoff."""
