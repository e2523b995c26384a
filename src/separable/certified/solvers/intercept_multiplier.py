"""Lagrange multiplier of the intercept constraint in dual coordinate descent.

An unpenalised intercept requires S = sum_i a_i y_i = 0. Passes with a multiplier lambda end at
S(lambda), which decreases in lambda; lambda moves towards its root by the secant method. (The fixed
step of the method of multipliers needs several times as many passes with imbalanced classes.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from separable.certified.problem import Lane, Problem
from separable.typing import Floats

#: Maximum ratio of a step to the one before, and of its inverse.
MAX_STEP_RATIO = 4.0
#: Range of the step, as multiples of rho, the step of the method of multipliers.
MIN_RATIO, MAX_RATIO = 0.25, 64.0
#: Squared norms are raised to at least this quantile.
SHORT_ROW_QUANTILE = 0.1


def penalty_parameter(problem: Problem, squared_norm: Floats, lanes: Sequence[Lane]) -> Floats:
    """Return the penalty parameter rho of the constraint S = 0 in each lane."""
    if not problem.fit_intercept:
        return np.zeros(len(lanes))
    C = np.array([lane.C / problem.value for lane in lanes])
    weight, n = problem.weight, problem.rows.n_rows
    total = C * (n if weight is None else float(weight.sum()))
    norm = _typical_norm(squared_norm)
    return np.clip(400.0 / total, 0.003, 1.0) * norm


def _typical_norm(squared_norm: Floats) -> float:
    """Return the harmonic mean of the squared norms, the smallest ones raised.

    A row reacts to the multiplier by 1 / |x|^2, so short rows decide how the sum moves. With the
    arithmetic mean a few long rows would make rho far too large.
    """
    positive = squared_norm[squared_norm > 0]
    if len(positive) == 0:
        return 1.0
    return float(
        1.0 / np.mean(1.0 / np.maximum(positive, np.quantile(positive, SHORT_ROW_QUANTILE)))
    )


class Multipliers:
    """Secant steps of the multipliers, one for each lane.

    Parameters
    ----------
    rho : ndarray, shape (k,)
        The first step of each lane; 0 without an intercept.
    """

    def __init__(self, rho: Floats) -> None:
        self._rho, self._step = rho, rho.copy()
        self._last = np.full((2, len(rho)), np.nan)

    def after_pass(self, used: Floats, sums: Floats, running: NDArray[np.bool_]) -> Floats:
        """Return the multipliers of the next pass.

        Parameters
        ----------
        used, sums : ndarray, shape (k,)
            The multipliers of the pass, and S at its end.
        running : ndarray of bool, shape (k,)
            Lanes of the pass; the others keep their multipliers.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            secant = (used - self._last[0]) / (self._last[1] - sums)
        known = np.isfinite(secant) & (secant > 0)
        step = np.clip(
            np.where(known, secant, self._step),
            self._step / MAX_STEP_RATIO,
            self._step * MAX_STEP_RATIO,
        )
        step = np.clip(step, MIN_RATIO * self._rho, MAX_RATIO * self._rho)
        np.copyto(self._step, step, where=running)
        np.copyto(self._last, np.stack([used, sums]), where=running)
        return np.where(running, used + step * sums, used)
