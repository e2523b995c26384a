"""Primal-dual interior-point methods."""
