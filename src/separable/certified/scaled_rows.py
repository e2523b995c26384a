"""Rows whose columns are seen centred and scaled, without being copied so.

u_j = (x_j - mean_j) / size_j. Raw, unscaled columns are then as good as any, and sparse rows stay
sparse: only a block of rows at a time is written out, for products of columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows
from separable.fitting.scatter import add_rows_to_scatter, fill_lower
from separable.model.scores import linear_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows

    Floats = NDArray[np.float64]

__all__ = ["ScaledRows"]

#: Numbers of a block of rows that is written out.
BLOCK = 1 << 18


class ScaledRows:
    """U, n x d, as an object with three products.

    Parameters
    ----------
    rows : Rows
    mean, size : ndarray, shape (d,)
        Where columns are taken from, and their unit.
    """

    def __init__(self, rows: Rows, mean: Floats, size: Floats) -> None:
        self.rows, self.mean, self.size = rows, mean, size
        self._core = core_rows(rows)
        self._matrix: Any = rows.to_matrix()

    def scores(self, u: Floats, b: float) -> Floats:
        """Return Uu + b."""
        w = u / self.size
        return linear_scores(self.rows, w[None, :], np.array([b - self.mean @ w]))[:, 0]

    def along(self, r: Floats) -> Floats:
        """Return U'r."""
        sums = np.asarray(self._matrix.T @ r, dtype=np.float64)
        products: Floats = (sums - r.sum() * self.mean) / self.size
        return products

    def products(self, weight: Floats) -> tuple[Floats, Floats]:
        """Return U'CU and U'c for weights c >= 0."""
        n, d = self.rows.shape
        products, sums = np.zeros((d, d)), np.zeros(d)
        place = np.arange(d, dtype=np.int64)
        step = max(256, BLOCK // d)
        for start in range(0, n, step):
            some = min(step, n - start)
            block = np.zeros((some, d))
            native.spread_columns(self._core, start, some, place, block)
            block -= self.mean
            block /= self.size
            root = np.sqrt(weight[start : start + some])
            block *= root[:, None]
            sums += root @ block
            add_rows_to_scatter(products, block)
        fill_lower(products)
        return products, sums

    def raw(self, u: Floats, b: float) -> tuple[Floats, float]:
        """Return weights and intercept of raw columns."""
        w = u / self.size
        return w, float(b - self.mean @ w)
