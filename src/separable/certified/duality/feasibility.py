"""Feasible dual points: in the domain of the conjugates, with sum 0 for an intercept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separable._core import native
from separable.certified.problem import Lane, Problem
from separable.linalg.design_matrix import in_lines
from separable.typing import Floats


def feasible(problem: Problem, lanes: Sequence[Lane], z: Floats) -> Floats:
    """Project z onto the dual feasible set: clipped to the domain, with sum 0 for an intercept.

    If the sum is not 0, the values of the sign with the larger sum are scaled down. Columns are
    zero-padded to whole cache lines.
    """
    dual = in_lines(np.array(z, dtype=np.float64, order="C"))
    dual[:, len(lanes) :] = 0.0
    native.make_feasible(problem.in_lanes(lanes), dual, problem.fit_intercept)
    return dual


def feasible_points(problem: Problem, lane: Lane, z: Floats) -> Floats:
    """Return dual variables of joint classes, (n, K), made feasible for a lane.

    0 for a lane without penalty.
    """
    if not np.isfinite(lane.C):
        return np.zeros_like(z)
    rows = problem.softmax_losses(lane)
    p = rows.feasible(rows.probabilities(z), fit_intercept=problem.fit_intercept)
    return rows.dual_variables(p)
