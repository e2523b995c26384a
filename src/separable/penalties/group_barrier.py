"""A barrier method for the group lasso, for nearly collinear columns.

    minimise  1/2 u'Hu - q'u + sum_g lam_g |u_g|

is min over t of lam_g t_g with |u_g| <= t_g. The barrier -mu log(t_g^2 - |u_g|^2) of these
second-order cones (Nesterov and Nemirovskii, 1994) has its least value at

    t_g = e_g + sqrt(e_g^2 + |u_g|^2),    e_g = mu / lam_g,

which leaves a smooth function of u with gradient lam_g u_g / t_g. Damped Newton steps follow the
central path as mu falls; about 40 steps are enough, whatever the conditioning of H.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separable.linalg.cholesky import Cholesky
from separable.typing import Floats

#: Maximum number of columns: more would take seconds.
MOST_COLUMNS = 1000
#: The last mu relative to the first, the factor of mu, and the maximum number of Newton steps.
FINAL_MU_RATIO, MU_FACTOR, MAX_STEPS = 1e-13, 0.1, 200
#: A point is centred if the predicted decrease is at most this times mu a group; the maximum
#: number of halvings of the line search, and its sufficient decrease (Armijo).
CENTRING_TOL, MAX_HALVINGS, SUFFICIENT_DECREASE = 0.5, 40, 0.1


def follow_barrier(
    h: Floats, u: Floats, g: Floats, group: NDArray[np.intp], lam: Floats, size: float
) -> None:
    """Move u close to the minimum; u and g = q - hu are updated in place.

    They stay where they are if columns are more than `MOST_COLUMNS`.

    Parameters
    ----------
    h : ndarray, shape (d, d)
        Symmetric, positive semidefinite.
    u, g : ndarray, shape (d,)
    group : ndarray of intp, shape (d,)
        The group of each weight.
    lam : ndarray, shape (n_groups,)
    size : float
        Roughly the objective value; mu starts at size / n_groups.
    """
    if len(u) > MOST_COLUMNS:
        return
    same = group[:, None] == group
    mu = size / len(lam)
    last, steps = FINAL_MU_RATIO * mu, 0
    while steps < MAX_STEPS:
        steps += 1
        predicted = _newton_step(h, u, g, group, same, lam, mu)
        if not predicted > CENTRING_TOL * mu * len(lam):
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
    """Take one damped Newton step; return its predicted decrease, 0 if the line search failed."""
    t, root = _bounds(u, group, lam, mu)
    rise = (lam / t)[group]
    hessian = np.where(same, -np.outer(u, u) * (rise / (t * root)[group])[:, None], 0.0)
    hessian[np.diag_indices(len(u))] += rise
    gradient = rise * u - g
    direction = -Cholesky(h + hessian).solve(gradient)
    h_direction = h @ direction
    predicted, bent = -float(gradient @ direction), max(0.0, 0.5 * float(direction @ h_direction))
    value, uphill, length = _barrier(t, lam, mu), -float(g @ direction), 1.0
    for _ in range(MAX_HALVINGS):
        new = u + length * direction
        change = length * uphill + length**2 * bent
        change += _barrier(_bounds(new, group, lam, mu)[0], lam, mu) - value
        if change <= -SUFFICIENT_DECREASE * length * predicted:
            u[:] = new
            g -= length * h_direction
            return predicted
        length *= 0.5
    return 0.0


def _bounds(u: Floats, group: NDArray[np.intp], lam: Floats, mu: float) -> tuple[Floats, Floats]:
    """Return the optimal t of each group, and its square root term."""
    square = np.bincount(group, weights=u * u, minlength=len(lam))
    e = mu / lam
    root = np.hypot(e, np.sqrt(square))
    return e + root, root


def _barrier(t: Floats, lam: Floats, mu: float) -> float:
    """Return sum_g lam_g t_g - mu log(t_g^2 - |u_g|^2) at the optimal t."""
    return float((lam * t - mu * np.log(2 * mu * t / lam)).sum())
