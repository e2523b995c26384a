"""Changes of the objective when a row is left out.

Its loss is removed. The mean loss averages over fewer rows, balanced class weights change, and so
do the standard deviations of standardised columns. The objective without
row i, in the columns of the fit to all rows, is

    sum_j f_ij c_j loss_j(s_j) - f_ii c_i loss_i(s_i)
    + t_i (l1 sum_k r_ik |u_k| + l2/2 sum_k r_ik^2 u_k^2)

with f_ij the factor of the class of row j, t_i the share that is left of the total weight, and r_ik
the deviation of column k without the row, for that with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separable.certified.loo.loo_rows import LeftOutRows, parts_of
from separable.typing import Floats, Indices

#: A smaller relative variance without the row counts as 0.
CONSTANT = 1e-10


@dataclass(frozen=True)
class Changes:
    """Changes of the objective without each row, apart from its own loss.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class of each row; 0 in regression.
    weight : ndarray, shape (n,)
        Of each row, that of its class included.
    share : ndarray, shape (n,), or None
        t; None: 1.
    factor : ndarray, shape (n, K), or None
        f, by class; None: 1.
    """

    label: NDArray[np.int32]
    weight: Floats
    share: Floats | None = None
    factor: Floats | None = None
    is_standardized: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes but the row's own loss."""
        return self.share is None and self.factor is None and not self.is_standardized

    def shares(self, rows: Indices) -> Floats:
        """Return t of some rows."""
        return np.ones(len(rows)) if self.share is None else self.share[rows]

    def own(self, rows: Indices) -> Floats:
        """Return the factor of each row's own class, without it."""
        if self.factor is None:
            return np.ones(len(rows))
        own: Floats = self.factor[rows, self.label[rows]]
        return own

    def sums_by_class(self, rows: LeftOutRows, gradient: Floats) -> Floats:
        """Return sum_j gradient_j x_j over the rows of each class, (K, m)."""
        n_classes = 1 if self.factor is None else self.factor.shape[1]
        sums = np.zeros((n_classes, rows.size))
        for part in rows.each_part():
            spread = np.zeros((n_classes, len(part)))
            spread[self.label[part] if n_classes > 1 else 0, np.arange(len(part))] = gradient[part]
            sums += spread @ rows.take(part)
        return sums


def class_factors(label: NDArray[np.int32], weight: Floats, n_classes: int) -> Floats:
    """Return what balanced weights of the classes are multiplied by without each row, (n, K).

    A class has W / (K W_k) for each of its rows, W and W_k sums of weights before balancing. Where
    the row is the only one of its class, that is 0.
    """
    by_class = np.bincount(label, weight, n_classes)
    total = float(weight.sum())
    factor = np.repeat(((total - weight) / total)[:, None], n_classes, axis=1)
    left = by_class[label] - weight
    own = np.divide(by_class[label], left, out=np.zeros_like(left), where=left > 0)
    factor[np.arange(len(label)), label] *= own
    return factor


class Deviations:
    """Squared deviations of standardised columns without each row.

    Parameters
    ----------
    rows : LeftOutRows
        Of columns whose deviation is 1, or 0.
    """

    def __init__(self, rows: LeftOutRows, changes: Changes) -> None:
        self._rows, self._changes = rows, changes
        #: Rows without which a column is constant, and loses its weight; of those asked for.
        self.lost = np.zeros(rows.n_rows, np.bool_)
        k = 1 if changes.factor is None else changes.factor.shape[1]
        d = rows.problem.rows.n_features
        self._totals = np.bincount(self._class(np.arange(rows.n_rows)), changes.weight, k)
        self._sums, self._squares = np.zeros((k, d)), np.zeros((k, d))
        for part in parts_of(np.arange(rows.n_rows), d):
            x = rows.columns_of(part)
            own_weight = np.zeros((k, len(part)))
            own_weight[self._class(part), np.arange(len(part))] = changes.weight[part]
            self._sums += own_weight @ x
            self._squares += own_weight @ (x * x)

    def _class(self, part: Indices) -> NDArray[np.int32]:
        label = self._changes.label[part]
        return label if self._changes.factor is not None else np.zeros_like(label)

    def without(self, part: Indices) -> Floats:
        """Return r^2 of some rows, (B, d): the deviation without the row, for that with it."""
        changes = self._changes
        x = self._rows.columns_of(part)
        own = self._class(part)
        k = len(self._totals)
        factor = np.ones((len(part), k)) if changes.factor is None else changes.factor[part]
        own_weight = (changes.weight[part] * factor[np.arange(len(part)), own])[:, None]
        total = (factor @ self._totals)[:, None] - own_weight
        mean = (factor @ self._sums - own_weight * x) / total
        square = (factor @ self._squares - own_weight * x * x) / total
        squared: Floats = np.maximum(square - mean * mean, 0.0)
        squared[:, self._squares.sum(axis=0) == 0] = 1.0  # constant columns, which have weight 0
        self.lost[part] = (squared < CONSTANT).any(axis=1)
        return squared
