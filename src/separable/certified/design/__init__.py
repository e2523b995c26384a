"""Products with the design matrix, as the solvers need them."""
