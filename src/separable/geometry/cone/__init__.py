"""Vectors of a cone: the form in which separability is decided."""
