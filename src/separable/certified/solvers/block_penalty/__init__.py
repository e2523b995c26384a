"""Solvers for penalties that are sums over blocks of weights: group lasso and L_p."""
