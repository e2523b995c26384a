"""Feasible dual points: in the domain of the conjugates, with sum 0 for an intercept.

A dual point of one score a row is z, with the sign of the target. That of the multinomial loss is
given by probabilities p_i, which stand for z_ik = c_i (1[y_i = k] - p_ik).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.linalg.design_matrix import in_lines
from separable.losses.softmax import log_softmax, totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

    Labels = NDArray[np.int32]

__all__ = [
    "RowClasses",
    "dual_points",
    "feasible",
    "feasible_points",
    "make_feasible",
    "softmax",
]


def feasible(problem: Problem, lanes: Sequence[Lane], z: Floats) -> Floats:
    """Project z onto the dual feasible set: clipped to the domain, with sum 0 for an intercept.

    If the sum is not 0, the values of the sign with the larger sum are scaled down. Columns are
    zero-padded to whole cache lines.
    """
    dual = in_lines(np.array(z, dtype=np.float64, order="C"))
    dual[:, len(lanes) :] = 0.0
    native.make_feasible(problem.in_lanes(lanes), dual, problem.fit_intercept)
    return dual


@dataclass(frozen=True)
class RowClasses:
    """Labels and costs of the rows of one lane, and the mask of classes present."""

    y: Labels
    c: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, lane: Lane) -> RowClasses:
        """Return those of the training rows of a lane."""
        y, c = problem.target.astype(np.int32, copy=False), problem.costs(lane)
        return cls(y, c, totals(y, c, problem.n_classes) > 0)


def softmax(scores: Floats) -> Floats:
    """Return the softmax of each row's scores, (n, K)."""
    with np.errstate(under="ignore"):
        return np.exp(log_softmax(scores)[0])


def make_feasible(rows: RowClasses, p: NDArray[Any], *, fit_intercept: bool) -> Floats:
    """Return feasible probabilities: in the simplex, with the class totals of the labels.

    The totals matter only with an intercept. Excess probability of a class is taken from its rows
    proportionally and moved to the classes with a deficit, in proportion to it.

    Parameters
    ----------
    rows : RowClasses
    p : ndarray of float32 or float64, shape (n, K)
        Rows need not sum to 1; negative and non-finite values count as 0.
    fit_intercept : bool
    """
    probabilities = np.where(rows.present & np.isfinite(p), np.maximum(p, 0.0), 0.0).astype(
        np.float64
    )
    total = probabilities @ np.ones(probabilities.shape[1])
    empty = np.flatnonzero(total <= 0)
    probabilities[empty, rows.y[empty]] = 1.0
    total[empty] = 1.0
    probabilities /= total[:, None]
    if not fit_intercept:
        return probabilities
    wanted = totals(rows.y, rows.c, len(rows.present))
    got = rows.c @ probabilities
    kept = np.minimum(1.0, np.divide(wanted, got, out=np.ones_like(got), where=got > 0))
    lacking = np.maximum(wanted - got * kept, 0.0)
    if lacking.sum() > 0:
        left = probabilities @ (1.0 - kept)
        probabilities *= kept
        probabilities += left[:, None] * (lacking / lacking.sum())
    return probabilities


def feasible_points(problem: Problem, lane: Lane, z: Floats) -> Floats:
    """Return dual points z = c (1[y = k] - p_k), (n, K), made feasible for a lane.

    0 for a lane without penalty.
    """
    rows = RowClasses.of(problem, lane)
    if not np.isfinite(lane.C):
        return np.zeros_like(z)
    p = -np.divide(z, rows.c[:, None], out=np.zeros_like(z), where=rows.c[:, None] > 0)
    p[np.arange(len(p)), rows.y] += 1.0
    return dual_points(rows, make_feasible(rows, p, fit_intercept=problem.fit_intercept))


def dual_points(rows: RowClasses, probabilities: Floats) -> Floats:
    """Return the dual points z = c (1[y = k] - p_k) of probabilities, (n, K)."""
    z = -probabilities
    index = np.arange(len(z))
    # 1 - p_y as the sum of the other probabilities avoids cancellation
    z[index, rows.y] = 0.0
    z[index, rows.y] = -(z @ np.ones(z.shape[1]))
    z *= rows.c[:, None]
    return z
