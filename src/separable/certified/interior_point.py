"""A primal-dual interior point method: for losses with corners and few columns.

problem   the dual of hinge and epsilon-insensitive losses: minimise over the box 0 <= a <= c
              1/2 sum_j v_j^2 / p_j + q.a,   v = U'z,  z = sum of sign a,  and sum z = 0 with an intercept
given     U by its products; the box; for each variable its row's sign and q
returns   z, feasible but for the sum, which the certificate repairs
steps     1. residuals of  sign (Uw + b) + q - s + t = 0,  a s = mu,  (c - a) t = mu
          2. eliminate all but w and b: (P + U'D^-1 U) dw = ..., d x d, by Cholesky's method
          3. predict with mu = 0, then correct with the mu that this allows
          4. step as far as the box allows
source    M. C. Ferris, T. S. Munson, Interior-point methods for massive support vector machines,
          SIAM J. Optim. 13 (2003); S. Mehrotra, SIAM J. Optim. 2 (1992)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.cholesky import Cholesky

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.scaled_rows import ScaledRows

    Floats = NDArray[np.float64]

__all__ = ["Box", "interior_point"]

#: How far a step goes of what the box allows.
STEP_BACK = 0.995


@dataclass(frozen=True)
class Box:
    """The variables of a loss: k blocks, each with one a row.

    Parameters
    ----------
    sign, linear : ndarray, shape (k, n)
        How a variable enters z, and q.
    most : ndarray, shape (n,)
        c, above 0.
    """

    sign: Floats
    linear: Floats
    most: Floats


def interior_point(
    x: ScaledRows,
    box: Box,
    penalty: Floats,
    *,
    fit_intercept: bool,
    good_enough: Callable[[Floats], bool],
    max_iter: int,
) -> tuple[Floats, int]:
    """Solve until ``good_enough``, which looks at the certificate of z, or ``max_iter`` steps.

    Parameters
    ----------
    x : ScaledRows
    box : Box
    penalty : ndarray, shape (d,)
        p_j > 0, of scaled columns.

    Returns
    -------
    z : ndarray, shape (n,)
    steps : int
    """
    sign, q, c = box.sign, box.linear, box.most
    a = np.broadcast_to(0.5 * c, sign.shape).copy()
    room = a.copy()  # c - a, kept on its own: near 0 the difference has no digits
    w, b = np.zeros(len(penalty)), 0.0
    s = np.maximum(1.0, np.abs(q))
    t = s.copy()
    z = (sign * a).sum(axis=0)
    for step in range(1, max_iter + 1):
        scores = x.scores(w, b)
        dual = sign * scores + q - s + t  # 1
        weight_gap = penalty * w - x.along(z)
        total = float(z.sum()) if fit_intercept else 0.0
        mu = float((a * s).sum() + (room * t).sum()) / (2 * a.size)
        inverse = 1.0 / (s / a + t / room)
        products, mixed = x.products(inverse.sum(axis=0))  # 2
        products[np.diag_indices(len(w))] += penalty
        factor = Cholesky(products)
        side = factor.solve(mixed)
        curvature = float(inverse.sum()) - float(mixed @ side)

        def solve(push: Floats, inverse: Floats = inverse) -> tuple[Floats, Floats, float, Floats]:
            """Return the steps of a, w, b and the change of scores, for a right-hand side."""
            moved = (sign * inverse * push).sum(axis=0)
            dw = factor.solve(x.along(moved) - weight_gap)
            db = 0.0
            if fit_intercept:
                db = (float(moved.sum()) + total - float(mixed @ dw)) / curvature
                dw = dw - side * db
            change = x.scores(dw, db)
            return inverse * (push - sign * change), dw, db, change

        plain = -dual - s + t  # with mu = 0: s and t leave through a s + s da = 0
        da, _, _, _ = solve(plain)
        ds, dt = -s - s / a * da, -t + t / room * da
        length = min(_reach(a, da), _reach(room, -da), _reach(s, ds), _reach(t, dt))
        allowed = float(((a + length * da) * (s + length * ds)).sum())
        allowed += float(((room - length * da) * (t + length * dt)).sum())
        target = mu * (allowed / (2 * a.size) / mu) ** 3
        ps, pt = (target - da * ds) / a, (target + da * dt) / room  # 3
        da, dw, db, _ = solve(-dual + (ps - s) - (pt - t))
        ds, dt = ps - s - s / a * da, pt - t + t / room * da
        primal = STEP_BACK * min(_reach(a, da), _reach(room, -da))  # 4
        length = min(1.0, primal, STEP_BACK * min(_reach(s, ds), _reach(t, dt)))
        a, room = a + length * da, room - length * da
        s, t = s + length * ds, t + length * dt
        w, b = w + length * dw, b + length * db
        z = (sign * a).sum(axis=0)
        if good_enough(z):
            break
    return z, step


def _reach(values: Floats, change: Floats) -> float:
    """Return how far values > 0 can change before one is 0, at most 1."""
    falling = change < 0
    if not falling.any():
        return 1.0
    return min(1.0, float((values[falling] / -change[falling]).min()))
