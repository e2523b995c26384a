"""Newton's method on the primal problem: for smooth losses and few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.cholesky import Bordered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.losses import SmoothLoss
    from separable.certified.row_products import RowProducts
    from separable.certified.watch import Watch

    Floats = NDArray[np.float64]

__all__ = ["SHORTEST", "linear_dual", "newton", "shorten"]

#: A step that is cut to less than this has met rounding.
SHORTEST = 1e-10
#: What rounding may add to an objective.
SLACK = 1e-15
#: Steps after which an objective that no longer falls has met rounding.
IDLE = 10
#: Without a penalty, an objective that fell by so much has no minimum: the classes are separable.
SEPARABLE = 1e-12


def newton(
    x: RowProducts,
    loss: SmoothLoss,
    y: Floats,
    c: Floats,
    *,
    penalty: float,
    fit_intercept: bool,
    start: Floats | None,
    watch: Watch,
    max_iter: int,
) -> tuple[Floats, Floats]:
    """Minimise penalty/2 |u|^2 + sum_i c_i loss(y_i, u.x_i + b) over u and b.

    Steps: 1. slope and curvature of every row's loss; 2. the quadratic model; 3. its minimum, and
    the dual point that goes with it: slopes as the model sees them there, whose weights are those
    of the minimum but for rounding; 4. half of the way as often as the objective does not fall.

    Parameters
    ----------
    x : RowProducts
    loss : SmoothLoss
    y, c : ndarray, shape (n,)
        Targets and costs.
    penalty : float
        1, or 0 for none.
    start : ndarray, shape (m,), or None
        Weights.
    watch : Watch
        Sees each step and says when to stop.
    max_iter : int
        Most steps.

    Returns
    -------
    z : ndarray, shape (n,)
        The dual point of the last weights.
    u : ndarray, shape (m,)
    """
    u = np.zeros(x.size) if start is None else start
    s = x.scores(u, 0.0)
    b = loss.best_intercept(y, s, c) if fit_intercept else 0.0
    s += b
    first = value = 0.5 * penalty * float(u @ u) + loss.total(y, s, c)
    idle = 0
    for _ in range(max_iter):
        slope, curve = loss.slopes(y, s, c)  # 1
        hessian, mixed, along = x.products(curve, slope)  # 2
        hessian[np.diag_indices(x.size)] += penalty
        gradient, total = along + penalty * u, float(slope.sum())
        try:
            equations = Bordered(hessian, mixed, float(curve.sum()), fit_intercept=fit_intercept)
        except LinAlgError:
            break
        du, db = equations.solve(-gradient, -total)  # 3
        ds = x.scores(du, db)
        z, seen = linear_dual(loss, y, c, s, ds, slope, curve, penalty, u + du)
        if watch(z, lambda: x.weights(u + du), seen):  # noqa: B023
            break
        decrease = -float(gradient @ du) - total * db
        length, new = shorten(loss, y, c, penalty, u, du, s, ds, value, decrease)  # 4
        if length < SHORTEST or not np.isfinite(new):
            break
        u, b = u + length * du, b + length * db
        s = x.scores(u, b)
        idle = 0 if new < value - SLACK * value else idle + 1
        value = new
        if idle >= IDLE:
            break
        if penalty == 0 and value < SEPARABLE * first:
            break
    return -loss.slopes(y, s, c)[0], u


def linear_dual(
    loss: SmoothLoss,
    y: Floats,
    c: Floats,
    s: Floats,
    ds: Floats,
    slope: Floats,
    curve: Floats,
    penalty: float,
    u: Floats,
) -> tuple[Floats, float]:
    """Return the dual point of a step ds of scores, and the relative gap at its end, u.

    The gap is infinite where the dual point has to be cut: then its weights are not u.
    """
    z = -(slope + curve * ds)
    allowed = loss.cut(y, c, z)
    if float(np.abs(z - allowed).sum()) > 1e-9 * float(np.abs(allowed).sum()):
        return allowed, np.inf
    end = s + ds
    gap = float(np.maximum(loss.gap(y, end, c, allowed), 0.0).sum())
    primal = 0.5 * penalty * float(u @ u) + loss.total(y, end, c)
    return allowed, gap / primal if primal > 0 else 0.0


def shorten(
    loss: SmoothLoss,
    y: Floats,
    c: Floats,
    penalty: float,
    u: Floats,
    du: Floats,
    s: Floats,
    ds: Floats,
    value: float,
    decrease: float,
) -> tuple[float, float]:
    """Return how much of a step to take so that the objective falls, and what it then is."""
    length, new = 1.0, np.inf
    while length >= SHORTEST and decrease >= 0:
        shorter = u + length * du
        new = 0.5 * penalty * float(shorter @ shorter) + loss.total(y, s + length * ds, c)
        if new <= value - 1e-4 * length * decrease + SLACK * value:
            return length, new
        length *= 0.5
    return 0.0, new
