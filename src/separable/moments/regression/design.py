"""Normal equations of a linear regression from sums: columns centered and scaled to norm 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.statistics.sums import products_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.moments import Moments
    from separable.typing import Floats


__all__ = ["Design", "design_of"]


@dataclass(frozen=True)
class Design:
    """Gram matrix of the standardized columns u_j = (x_j - mean_j) / length_j.

    Parameters
    ----------
    n_rows, weight
        Number of rows n and sum of weights W.
    mean, target_mean : ndarray, shapes (d,) and (t,)
        Means of the columns and of the targets; 0 without an intercept.
    length : ndarray, shape (d,)
        Norm of each centered column, 1 for constant columns.
    constant : ndarray of bool, shape (d,)
        Constant columns; without an intercept, columns of zeros.
    gram : ndarray, shape (d, d)
        Products of standardized columns: ones on the diagonal, zeros for constant columns.
    cross : ndarray, shape (d, t)
        Products of standardized columns with centered targets, in units of ``target_unit``.
    target_squares : ndarray, shape (t,)
        Sums of squares of the centered targets, in those units.
    target_unit : ndarray, shape (t,)
        Powers of two, 1 unless squares of the targets would overflow or underflow.
    """

    n_rows: int
    weight: float
    mean: Floats
    target_mean: Floats
    length: Floats
    constant: NDArray[np.bool_]
    gram: Floats
    cross: Floats
    target_squares: Floats
    target_unit: Floats

    def gram_of(self, kept: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some columns; without a copy if these are all."""
        return self.gram if len(kept) == len(self.gram) else self.gram[np.ix_(kept, kept)]

    def raw(self, standardised: Floats) -> Floats:
        """Return weights of raw columns, (t, d), from those of standardized columns, (d, t)."""
        with np.errstate(over="ignore"):
            weights: Floats = (standardised * self.target_unit).T / self.length
        if not np.isfinite(weights).all():
            column = int(np.flatnonzero(~np.isfinite(weights).all(axis=0))[0])
            raise ValueError(
                f"The weight of column {column} overflows float64: its values are too small beside "
                "the targets. Scale the column or the targets."
            )
        return weights

    def penalised(self, alpha: float) -> Design:
        """Return the design augmented by the rows sqrt(alpha) e_j with target 0.

        Its least-squares solution is that with the penalty alpha |w|^2. The augmented rows do not
        change the means.
        """
        if alpha == 0:
            return self
        longer = np.where(self.constant, 1.0, np.hypot(self.length, math.sqrt(alpha)))
        factor = np.where(self.constant, 0.0, self.length / longer)
        gram = self.gram * factor * factor[:, None]
        np.fill_diagonal(gram, np.diagonal(self.gram))
        return replace(self, length=longer, gram=gram, cross=self.cross * factor[:, None])

    def intercept(self, weights: Floats) -> Floats:
        """Return the intercepts for raw weights: the hyperplane passes through the means."""
        terms = -weights * self.mean
        return np.array(
            [math.fsum([y, *row]) for y, row in zip(self.target_mean, terms, strict=True)]
        )


def design_of(moments: Moments, *, fit_intercept: bool) -> Design:
    """Return the design of the summed rows.

    Parameters
    ----------
    moments : Moments
        With numbers as the target.
    fit_intercept : bool
        Whether columns are centered.
    """
    sums, d = moments.sums, moments.n_features
    products, constant = products_about(sums, d, mean=fit_intercept)
    length = np.where(constant, 1.0, np.sqrt(np.diagonal(products)[:d]))
    with np.errstate(over="ignore"):
        raw = np.where(constant, 1.0, length / sums.scale[:d])
    if not np.isfinite(raw).all():
        raise ValueError(
            f"The length of column {np.flatnonzero(~np.isfinite(raw))[0]} overflows float64. "
            "Divide the column by a large number."
        )
    kept = np.where(constant, 0.0, 1.0 / length)
    gram = products[:d, :d] * kept * kept[:, None]
    np.fill_diagonal(gram, np.where(constant, 0.0, 1.0))
    means = sums.means[0] if fit_intercept else np.zeros(sums.n_columns)
    return Design(
        n_rows=int(sums.rows[0]),
        weight=float(sums.weight[0]),
        mean=means[:d],
        target_mean=means[d:],
        length=raw,
        constant=constant,
        gram=gram,
        cross=products[:d, d:] * kept[:, None],
        target_squares=np.diagonal(products)[d:].copy(),
        target_unit=1.0 / sums.scale[d:],
    )
