"""Newton's method on the primal problem: for smooth losses and few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.certified.cholesky import Cholesky

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.losses import SmoothLoss
    from separable.certified.scaled_rows import ScaledRows

    Floats = NDArray[np.float64]

__all__ = ["newton"]

#: A step that is cut to less than this has met rounding.
SHORTEST = 1e-12


def newton(
    x: ScaledRows,
    loss: SmoothLoss,
    y: Floats,
    c: Floats,
    penalty: Floats,
    *,
    fit_intercept: bool,
    good_enough: Callable[[Floats], bool],
    max_iter: int,
) -> tuple[Floats, int]:
    """Minimise 1/2 sum_j p_j u_j^2 + sum_i c_i loss(y_i, u.x_i + b) over u and b.

    Steps: 1. slope and curvature of every row's loss; 2. the quadratic model, with b taken out;
    3. its minimum; 4. half of the way as often as the objective does not fall.

    Parameters
    ----------
    x : ScaledRows
    loss : SmoothLoss
    y, c : ndarray, shape (n,)
        Targets and costs.
    penalty : ndarray, shape (d,)
        p_j, of scaled columns.
    good_enough : callable
        Looks at the dual point of the present weights, -c loss'(s) with its sign; True ends it.
    max_iter : int
        Most steps.

    Returns
    -------
    slopes : ndarray, shape (n,)
        The dual point at the end.
    steps : int
    """
    d = len(penalty)
    u, b = np.zeros(d), 0.0
    s = x.scores(u, b)
    value = loss.total(y, s, c)
    for step in range(1, max_iter + 1):
        slope, curve = loss.slopes(y, s, c)  # 1
        gradient, total = x.along(slope) + penalty * u, float(slope.sum())
        hessian, mixed = x.products(curve)  # 2
        hessian[np.diag_indices(d)] += penalty
        du, db = _step(hessian, mixed, float(curve.sum()), gradient, total, fit_intercept)  # 3
        decrease = float(gradient @ du) + total * db
        moved = x.scores(du, db)
        length = 1.0
        while length > SHORTEST:  # 4
            trial, shorter = s - length * moved, u - length * du
            new = 0.5 * float(penalty @ shorter**2) + loss.total(y, trial, c)
            if new <= value - 1e-4 * length * decrease:
                break
            length *= 0.5
        if length <= SHORTEST or decrease <= 0:
            break
        u, b, value = shorter, b - length * db, new
        s = x.scores(u, b)
        if good_enough(-loss.slopes(y, s, c)[0]):
            break
    return -loss.slopes(y, s, c)[0], step


def _step(
    hessian: Floats,
    mixed: Floats,
    curvature: float,
    gradient: Floats,
    slope: float,
    fit_intercept: bool,
) -> tuple[Floats, float]:
    """Return the step of weights and intercept; a ridge of rounding size where it is singular."""
    free = fit_intercept and curvature > 0
    if free:
        hessian = hessian - np.multiply.outer(mixed, mixed) / curvature
        gradient = gradient - mixed * (slope / curvature)
    du = Cholesky(hessian).solve(gradient)
    return du, (slope - float(mixed @ du)) / curvature if free else 0.0
