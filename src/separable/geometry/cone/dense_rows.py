"""Vectors of a cone as a dense matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.linalg.exact import lowest_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats, Indices


__all__ = ["WrittenRows"]


class WrittenRows:
    """Vectors that are the rows of a matrix.

    Parameters
    ----------
    matrix : ndarray, shape (m, D)

    Examples
    --------
    >>> cone = WrittenRows(np.array([[1.0, 2.0], [3.0, -1.0]]))
    >>> cone.scores(np.array([1.0, 1.0])), cone.sums(np.array([1.0, 2.0]))
    (array([3., 2.]), array([7., 0.]))
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.size, self.dimension = matrix.shape
        self.terms = self.dimension

    def scores(self, u: Floats) -> Floats:
        """Return Zu, shape (m,)."""
        return self.matrix @ u

    def magnitudes(self, u: Floats) -> Floats:
        """Return |Z||u|, shape (m,)."""
        product: Floats = np.abs(self.matrix) @ np.abs(u)
        return product

    def sums(self, a: Floats) -> Floats:
        """Return Z'a, shape (D,)."""
        return a @ self.matrix

    def gram(self, c: Floats) -> Floats:
        """Return Z'CZ, shape (D, D), for c >= 0."""
        used = np.flatnonzero(c)
        part = self.matrix[used] if len(used) < self.size else self.matrix
        return part.T @ (part * c[used][:, None])

    def take(self, chosen: Indices) -> Floats:
        """Return some vectors."""
        return self.matrix[chosen]

    def take_occupied(self, chosen: Indices) -> tuple[Floats, Indices]:
        """Return some vectors, and all columns."""
        return self.take(chosen), np.arange(self.dimension)

    def lowest_bits(self) -> NDArray[np.int64]:
        """Return, for each column, an e such that all its values are multiples of 2^e."""
        return lowest_bits(self.matrix)

    def raw(self, u: Floats) -> Floats:
        """Return u."""
        return u
