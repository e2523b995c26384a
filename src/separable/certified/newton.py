"""Newton's method on the primal problem: for smooth losses and few columns.

Minimises 1/2 sum_j p_j w_j^2 + sum_i c_i loss(y_i, w.x_i + b) over w and b, in columns that are
centred and scaled, so that raw, unscaled data is as good as any. Products of columns are summed by
blocks of rows, so memory is d^2 whatever the number of rows, and sparse rows stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from separable._core import native
from separable.model.scores import linear_scores
from separable.moments.sums import add_rows_to_scatter, fill_lower

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.losses import SmoothLoss
    from separable.data.rows import Rows

    Floats = NDArray[np.float64]

__all__ = ["Columns", "NewtonRun", "newton"]

#: Rows of a block of products.
STEP = 4096
#: A step that is cut to less than this has met rounding.
SHORTEST = 1e-12


@dataclass(frozen=True)
class Columns:
    """The middle and the size of each column, so that u_j = (x_j - mean_j) / size_j."""

    mean: Floats
    size: Floats


@dataclass(frozen=True)
class NewtonRun:
    """Where the method ended.

    Parameters
    ----------
    weights : ndarray, shape (d,)
        Of raw columns.
    intercept : float
    slopes : ndarray, shape (n,)
        -c_i loss'(s_i), the dual point that goes with them, signed.
    steps : int
    """

    weights: Floats
    intercept: float
    slopes: Floats
    steps: int


def newton(
    rows: Rows,
    core: native.Rows,
    loss: SmoothLoss,
    y: Floats,
    c: Floats,
    penalty: Floats,
    columns: Columns,
    *,
    fit_intercept: bool,
    good_enough: Callable[[NewtonRun], bool],
    max_iter: int,
    start: tuple[Floats, float] | None = None,
) -> NewtonRun:
    """Minimise until ``good_enough``, which looks at the certificate, or rounding stops it.

    Parameters
    ----------
    rows, core : Rows, native.Rows
        X, twice.
    loss : SmoothLoss
    y, c : ndarray, shape (n,)
        Targets and costs.
    penalty : ndarray, shape (d,)
        p_j, of raw columns.
    columns : Columns
    """
    d = rows.n_features
    scaled_penalty = penalty / columns.size**2
    u, b = np.zeros(d), 0.0
    if start is not None:
        u = start[0] * columns.size
        b = start[1] + float(columns.mean @ start[0])

    def scores(u: Floats, b: float) -> Floats:
        w = u / columns.size
        return linear_scores(rows, w[None, :], np.array([b - columns.mean @ w]))[:, 0]

    def run(s: Floats, steps: int) -> NewtonRun:
        w = u / columns.size
        return NewtonRun(w, float(b - columns.mean @ w), -loss.slope(y, s, c), steps)

    s = scores(u, b)
    value = 0.5 * float(scaled_penalty @ u**2) + loss.total(y, s, c)
    for step in range(1, max_iter + 1):
        slope, curve = loss.slope(y, s, c), loss.curvature(y, s, c)
        along = _products_with(rows, slope)
        gradient = (along - slope.sum() * columns.mean) / columns.size + scaled_penalty * u
        hessian, mixed = _weighted_products(rows, core, curve, columns)
        hessian[np.diag_indices(d)] += scaled_penalty
        du, db = _solve(hessian, mixed, float(curve.sum()), gradient, float(slope.sum()), fit_intercept)
        decrease = float(gradient @ du) + float(slope.sum()) * db
        moved = scores(du, db)
        length = 1.0
        while length > SHORTEST:
            trial = s - length * moved
            new = 0.5 * float(scaled_penalty @ (u - length * du) ** 2) + loss.total(y, trial, c)
            if new <= value - 1e-4 * length * decrease:
                break
            length *= 0.5
        if length <= SHORTEST or decrease <= 0:
            return run(s, step)
        u, b, value = u - length * du, b - length * db, new
        s = scores(u, b)
        if good_enough(run(s, step)):
            break
    return run(s, step)


def _solve(
    hessian: Floats, mixed: Floats, total: float, gradient: Floats, slope: float, fit_intercept: bool
) -> tuple[Floats, float]:
    """Solve the step for weights and intercept; a ridge of rounding size where it is singular."""
    if fit_intercept and total > 0:  # take b out: it is where its own slope vanishes
        hessian = hessian - np.multiply.outer(mixed, mixed) / total
        gradient = gradient - mixed * (slope / total)
    ridge = 0.0
    largest = float(np.diagonal(hessian).max(initial=0.0)) or 1.0
    while True:
        try:
            factor = cho_factor(hessian + ridge * np.eye(len(hessian)))
            break
        except LinAlgError:
            ridge = max(1e-14 * largest, 10 * ridge)
    du = cho_solve(factor, gradient)
    db = (slope - float(mixed @ du)) / total if fit_intercept and total > 0 else 0.0
    return du, db


def _products_with(rows: Rows, r: Floats) -> Floats:
    """Return X'r."""
    return np.asarray(rows.to_matrix().T @ r, dtype=np.float64)


def _weighted_products(
    rows: Rows, core: native.Rows, weight: Floats, columns: Columns
) -> tuple[Floats, Floats]:
    """Return sum w u u' and sum w u over rows, u being centred and scaled."""
    d = rows.n_features
    products, sums = np.zeros((d, d)), np.zeros(d)
    place = np.arange(d, dtype=np.int64)
    for start in range(0, rows.n_rows, STEP):
        n = min(STEP, rows.n_rows - start)
        block = np.zeros((n, d))
        native.spread_columns(core, start, n, place, block)
        block -= columns.mean
        block /= columns.size
        root = np.sqrt(weight[start : start + n])
        block *= root[:, None]
        sums += root @ block
        add_rows_to_scatter(products, block)
    fill_lower(products)
    return products, sums
