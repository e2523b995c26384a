"""An interior point for norms of groups, where passes move slowly along columns that are alike.

    minimise  1/2 u'Hu - q'u + sum_g strength_g |u_g|

is min over t of strength_g t_g with |u_g| <= t_g. The barrier -mu log(t_g^2 - |u_g|^2) of these
second-order cones (Nesterov and Nemirovskii, 1994) has its least value at

    t_g = e_g + sqrt(e_g^2 + |u_g|^2),    e_g = mu / strength_g,

which leaves a smooth function of u alone, of gradient strength_g u_g / t_g. Damped Newton steps
follow its minimum as mu falls; about 40 of them end near the optimum, whatever H is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["MOST_COLUMNS", "follow_barrier"]

#: More columns would take seconds.
MOST_COLUMNS = 1000
#: How far mu falls, in how large steps, and Newton steps at most.
FINAL_MU_RATIO, MU_FACTOR, MAX_STEPS = 1e-13, 0.1, 200
#: A step ends the work at one mu if it promises at most this share of mu for each group; halvings
#: of a step, and the share of what it promised that it has to keep.
CENTRING_TOL, MAX_HALVINGS, SUFFICIENT_DECREASE = 0.5, 40, 0.1


def follow_barrier(
    h: Floats, u: Floats, g: Floats, group: NDArray[np.intp], lam: Floats, size: float
) -> None:
    """Bring u close to the minimum; u and its pull g = q - hu are changed.

    Parameters
    ----------
    h : ndarray, shape (d, d)
        Symmetric, without negative eigenvalues.
    u, g : ndarray, shape (d,)
    group : ndarray of intp, shape (d,)
        The number of each weight's group.
    lam : ndarray, shape (n_groups,)
    size : float
        The value of the objective, about: mu starts as its share of a group.
    """
    same = group[:, None] == group
    mu = size / len(lam)
    last, steps = FINAL_MU_RATIO * mu, 0
    while steps < MAX_STEPS:
        steps += 1
        promised = _newton_step(h, u, g, group, same, lam, mu)
        if not promised > CENTRING_TOL * mu * len(lam):
            if mu <= last:
                break
            mu *= MU_FACTOR


def _newton_step(
    h: Floats,
    u: Floats,
    g: Floats,
    group: NDArray[np.intp],
    same: NDArray[np.bool_],
    lam: Floats,
    mu: float,
) -> float:
    """Take one damped step; return what it promised, 0 where rounding allows none."""
    t, root = _bounds(u, group, lam, mu)
    rise = (lam / t)[group]
    hessian = np.where(same, -np.outer(u, u) * (rise / (t * root)[group])[:, None], 0.0)
    hessian[np.diag_indices(len(u))] += rise
    gradient = rise * u - g
    direction = -Cholesky(h + hessian).solve(gradient)
    h_direction = h @ direction
    promised, bent = -float(gradient @ direction), max(0.0, 0.5 * float(direction @ h_direction))
    value, uphill, length = _barrier(t, lam, mu), -float(g @ direction), 1.0
    for _ in range(MAX_HALVINGS):
        new = u + length * direction
        change = length * uphill + length**2 * bent
        change += _barrier(_bounds(new, group, lam, mu)[0], lam, mu) - value
        if change <= -SUFFICIENT_DECREASE * length * promised:
            u[:] = new
            g -= length * h_direction
            return promised
        length *= 0.5
    return 0.0


def _bounds(u: Floats, group: NDArray[np.intp], lam: Floats, mu: float) -> tuple[Floats, Floats]:
    """Return the best t of each group, and its root."""
    square = np.bincount(group, weights=u * u, minlength=len(lam))
    e = mu / lam
    root = np.hypot(e, np.sqrt(square))
    return e + root, root


def _barrier(t: Floats, lam: Floats, mu: float) -> float:
    """Return sum_g strength_g t_g - mu log(t_g^2 - |u_g|^2), where t_g is the best."""
    return float((lam * t - mu * np.log(2 * mu * t / lam)).sum())
