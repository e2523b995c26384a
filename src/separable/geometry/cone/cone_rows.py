"""Vectors of a cone: the common form of separability problems.

A set of labelled rows is turned into m vectors z_i of dimension D, so that a vector u separates the
rows if z_i.u > 0 for all i, and separates them weakly if z_i.u >= 0 for all i, not all 0. For two
classes z_i = y_i (x_i, 1), y_i = -1 or 1, and u = (w, b) (`signed_rows.SignedRows`). For K classes
together there is one vector (e_y - e_k) (x) (x_i, 1) for each row and each class k that is not its
own, and u holds the weights of all classes.

The search and the proofs see these vectors through `ConeRows` alone, so that they need not be
written out and serve any number of classes. There are two uses. A **search** may see them in other
coordinates, columns centred and scaled, as long as ``raw`` gives back the u of the columns as they
came; nothing that it finds is believed. A **proof** is checked on vectors as they came, for which
``raw`` changes nothing and ``take`` copies values without rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from separable.linalg.exact import lowest_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats, Indices


__all__ = ["ConeRows", "WrittenRows"]


class ConeRows(Protocol):
    """Protocol of Z, the m x D matrix of vectors z_i, through its products in float64.

    Attributes
    ----------
    size : int
        m.
    dimension : int
        D.
    terms : int
        Maximum number of terms of z_i.u; its rounding error is at most about
        ``terms`` 2^-53 |z_i|.|u|.
    """

    size: int
    dimension: int
    terms: int

    def scores(self, u: Floats) -> Floats:
        """Return Zu, shape (m,)."""

    def magnitudes(self, u: Floats) -> Floats:
        """Return |Z||u|, shape (m,): 0 where every product of a term is 0."""

    def sums(self, a: Floats) -> Floats:
        """Return Z'a, shape (D,)."""

    def gram(self, c: Floats) -> Floats:
        """Return Z'CZ, shape (D, D), for c >= 0; vectors with c = 0 should cost nothing."""

    def take(self, chosen: Indices) -> Floats:
        """Return a few vectors as a dense array: shape (k, D)."""

    def take_occupied(self, chosen: Indices) -> tuple[Floats, Indices]:
        """Return the same without columns that are 0 in all of them, and the remaining columns."""

    def lowest_bits(self) -> NDArray[np.int64]:
        """Return, for each of the D columns, an e such that all its values are multiples of 2^e."""

    def raw(self, u: Floats) -> Floats:
        """Return u in the original columns, for a u in the columns used here."""


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
