"""Rows of K classes together as the vectors of a cone.

Weights u_k separate the classes jointly if (u_y - u_k).(x_i, 1) > 0 for every row, y its class, and
every other class k, as in the multinomial model. Adding the same vector to all u_k changes nothing,
so the first class has weights 0, and u is the concatenation of the others. The vectors of a row,
one for each other class, are then (e_y - e_k) (x) (x_i, 1) with e_0 = 0. They are never stored all
at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.signed_rows import SeenRows, SignedRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats, Indices

__all__ = ["JointRows"]


class JointRows:
    """Vectors (e_y - e_k) (x) z_i, z_i those of rows without regard to classes.

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
