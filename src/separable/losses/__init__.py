"""Loss functions: value, gradient, curvature, conjugate, duality gap and best intercept."""
