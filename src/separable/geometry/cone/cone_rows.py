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

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from separable.geometry.cone.signed_rows import SeenRows, SignedRows
from separable.linalg.exact import lowest_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats, Indices

__all__ = ["ConeRows", "JointRows", "WrittenRows"]


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


class JointRows:
    """Rows of K classes together: vectors (e_y - e_k) (x) z_i, z_i those of rows without classes.

    Weights u_k separate the classes jointly if (u_y - u_k).(x_i, 1) > 0 for every row, y its class,
    and every other class k, as in the multinomial model. Adding the same vector to all u_k changes
    nothing, so the first class has weights 0 (e_0 = 0), and u is the concatenation of the others.
    The vectors are never stored all at once.

    The vectors of row i are i (K - 1) ... (i + 1) (K - 1) - 1, in the order of the classes that are
    not its own.

    Parameters
    ----------
    base : SignedRows
        Vectors (x_i, 1), or x_i, of the rows, all with the sign 1.
    label : ndarray of int, shape (n,)
        The number of each row's class, 0 ... K - 1.
    n_classes : int
        K.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> cone = JointRows.of(as_rows([[2.0], [3.0]]), np.array([0, 2]), 3, False)
    >>> cone.take(np.arange(cone.size))
    array([[-2.,  0.],
           [ 0., -2.],
           [ 0.,  3.],
           [-3.,  3.]])
    """

    def __init__(self, base: SignedRows, label: NDArray[np.integer], n_classes: int) -> None:
        self._base = base
        self.label = np.asarray(label, dtype=np.intp)
        self.n_classes, self._others = n_classes, n_classes - 1
        self.size = base.size * self._others
        self._m = base.dimension
        self.dimension = self._others * self._m
        self.terms = 2 * base.terms

    @classmethod
    def of(
        cls, rows: Rows, label: NDArray[np.integer], n_classes: int, fit_intercept: bool
    ) -> JointRows:
        """Take rows as they came."""
        return cls(SignedRows(rows, np.ones(rows.n_rows), fit_intercept), label, n_classes)

    def seen(self) -> JointRows:
        """Return the same vectors as a search sees them: columns centred and scaled."""
        return JointRows(SeenRows(self._base), self.label, self.n_classes)

    @property
    def column(self) -> Indices:
        """The column that each coordinate is of; -1 for intercepts."""
        return np.tile(self._base.column, self._others)

    @cached_property
    def _other(self) -> NDArray[np.intp]:
        """The other class of each vector, (n, K - 1)."""
        other = np.arange(self._others)
        return other + (other >= self.label[:, None])

    def _parts(self, u: Floats) -> Floats:
        return u.reshape(self._others, self._m)

    def scores(self, u: Floats) -> Floats:
        """Return Zu, shape (m,)."""
        s = np.zeros((len(self.label), self.n_classes))
        for k, part in enumerate(self._parts(u), start=1):
            if part.any():
                s[:, k] = self._base.scores(part)
        own = np.take_along_axis(s, self.label[:, None], axis=1)
        return (own - np.take_along_axis(s, self._other, axis=1)).ravel()

    def magnitudes(self, u: Floats) -> Floats:
        """Return |Z||u|, shape (m,)."""
        s = np.zeros((len(self.label), self.n_classes))
        for k, part in enumerate(self._parts(u), start=1):
            s[:, k] = self._base.magnitudes(part)
        own = np.take_along_axis(s, self.label[:, None], axis=1)
        return (own + np.take_along_axis(s, self._other, axis=1)).ravel()

    def sums(self, a: Floats) -> Floats:
        """Return Z'a, shape (D,)."""
        a = a.reshape(-1, self._others)
        r = np.zeros((len(a), self.n_classes))
        np.put_along_axis(r, self._other, -a, axis=1)
        np.put_along_axis(r, self.label[:, None], a.sum(axis=1, keepdims=True), axis=1)
        return np.concatenate([self._base.sums(r[:, k]) for k in range(1, self.n_classes)])

    def gram(self, c: Floats) -> Floats:
        """Return Z'CZ, shape (D, D), for c >= 0."""
        c = c.reshape(-1, self._others)
        whole = np.zeros((self._others, self._m, self._others, self._m))
        for y, (in_class, base) in enumerate(self._by_class):
            for other in range(self._others):
                cost = c[in_class, other]
                if cost.any():
                    _add_pair(whole, y - 1, other + (other >= y) - 1, base.gram(cost))
        return whole.reshape(self.dimension, self.dimension)

    @cached_property
    def _by_class(self) -> list[tuple[NDArray[np.intp], SignedRows]]:
        """The rows of each class, and which they are."""
        base = self._base
        parts = []
        for y in range(self.n_classes):
            in_class = np.flatnonzero(self.label == y)
            arguments = base.rows.take(in_class), np.ones(len(in_class)), base.fit_intercept
            parts.append((in_class, SignedRows(*arguments, base.centre, base.scale)))
        return parts

    def take(self, chosen: Indices) -> Floats:
        """Return some vectors, few, written out: shape (k, D)."""
        return self._stacked(chosen, self._base.take(self._row(chosen)))

    def take_occupied(self, chosen: Indices) -> tuple[Floats, Indices]:
        """Return the same without columns in which no row has a part, and the columns left."""
        seen, used = self._base.take_occupied(self._row(chosen))
        columns = np.arange(self._others)[:, None] * self._m + used
        return self._stacked(chosen, seen), columns.ravel()

    def _row(self, chosen: Indices) -> Indices:
        return np.asarray(chosen, dtype=np.intp) // self._others

    def _stacked(self, chosen: Indices, seen: Floats) -> Floats:
        """Return vectors of rows, each written at its class and, negative, at the other."""
        row, at = self._row(chosen), np.arange(len(seen))
        vectors = np.zeros((len(row), self.n_classes, seen.shape[1]))
        vectors[at, self.label[row]] = seen
        vectors[at, self._other[row, np.asarray(chosen) % self._others]] = -seen
        return vectors[:, 1:].reshape(len(row), self._others * seen.shape[1])

    def lowest_bits(self) -> NDArray[np.int64]:
        """Return, for each column, an e such that all its values are multiples of 2^e."""
        return np.tile(self._base.lowest_bits(), self._others)

    def pairs(self, chosen: Indices) -> Indices:
        """Return the row and the other class of some vectors, shape (k, 2)."""
        row, other = np.divmod(np.asarray(chosen, dtype=np.intp), self._others)
        return np.column_stack([row, self._other[row, other]])

    def row_class_pairs(self, pairs: Indices) -> Indices:
        """Return the vectors of rows and other classes, the inverse of `pairs`."""
        row, other = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
        if ((other == self.label[row]) | (other < 0) | (other >= self.n_classes)).any():
            raise ValueError("A pair names the row's own class or an unknown class.")
        return row * self._others + other - (other > self.label[row])

    def packed(self, weights: Floats, intercept: Floats) -> Floats:
        """Return u of weights, (K, d), and intercepts, (K,), the first of which are 0."""
        parts = [weights[1:], intercept[1:, None]] if self._base.fit_intercept else [weights[1:]]
        return np.hstack(parts).ravel()

    def unpacked(self, u: Floats) -> tuple[Floats, Floats]:
        """Return weights and intercepts of u, the inverse of `packed`."""
        d = self._base.rows.n_features
        whole = np.zeros((self.n_classes, self._m))
        whole[1:] = self._parts(u)
        b = whole[:, d] if self._base.fit_intercept else np.zeros(self.n_classes)
        return np.ascontiguousarray(whole[:, :d]), b.copy()

    def raw(self, u: Floats) -> Floats:
        """Return the u of columns as they came."""
        return np.concatenate([self._base.raw(part) for part in self._parts(u)])


def _add_pair(whole: Floats, y: int, k: int, products: Floats) -> None:
    """Add (e_y - e_k)(e_y - e_k)' (x) products; -1 is the class whose weights are 0."""
    if y >= 0:
        whole[y, :, y] += products
    if k >= 0:
        whole[k, :, k] += products
    if y >= 0 and k >= 0:
        whole[y, :, k] -= products
        whole[k, :, y] -= products
