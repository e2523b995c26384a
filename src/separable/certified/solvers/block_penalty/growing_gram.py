"""The Gram matrix of a growing working set, for constant curvatures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separable.linalg.design_matrix import DenseMatrix, DesignMatrix
from separable.typing import Floats

#: Maximum cells of columns that are kept.
MAX_KEPT_CELLS = 1 << 25


class GrowingGram:
    """The Gram matrix Z'CZ of some columns; more columns cost only their own products.

    Dense columns are kept, centred and multiplied by c^1/2. Products of sparse ones are computed
    anew.

    Parameters
    ----------
    c : ndarray, shape (n,)
    centred : bool
        About the means with weights c, as an intercept makes it.
    """

    def __init__(self, x: DesignMatrix, c: Floats, *, centred: bool) -> None:
        self._x, self._c, self._centred = x, c, centred
        self._columns = np.zeros(0, np.intp)
        self._z, self._gram = np.zeros((0, len(c))), np.zeros((0, 0))

    def of(self, columns: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of the columns."""
        if np.array_equal(self._columns, columns):
            return self._gram
        if isinstance(self._x, DenseMatrix) and len(columns) * len(self._c) <= MAX_KEPT_CELLS:
            self._grow(columns)
        else:
            self._z = self._z[:0]
            self._gram = self._x.take_columns(columns).gram(self._c, centred=self._centred)
        self._columns = columns
        return self._gram

    def _grow(self, columns: NDArray[np.intp]) -> None:
        k = len(self._z)
        if not np.array_equal(self._columns[:k], columns[:k]):
            k = 0
        z = np.empty((len(columns) - k, len(self._c)))
        for here, block in self._x.take_columns(columns[k:]).blocks():
            z[:, here] = block.T
        total = float(self._c.sum())
        if self._centred and total > 0:
            z -= (z @ self._c / total)[:, None]
        z *= np.sqrt(self._c)
        cross, gram = z @ self._z[:k].T, np.empty((len(columns), len(columns)))
        gram[:k, :k], gram[k:, :k] = self._gram[:k, :k], cross
        gram[:k, k:], gram[k:, k:] = cross.T, z @ z.T
        self._gram, self._z = gram, np.concatenate([self._z[:k], z])
