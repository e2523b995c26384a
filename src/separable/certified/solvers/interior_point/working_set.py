"""Working sets of rows near the breakpoint of a piecewise linear loss.

A row far on the right side of the breakpoint has z = 0, one far on the wrong side z = c. The
working set is predicted from the weights of a sample, then from better weights; the certificate of
all rows verifies the prediction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from separable.certified.solvers.interior_point.piecewise_linear_interior import (
    Fixed,
    interior_point,
)
from separable.certified.solvers.stopping import LooseStopping, StoppingRule
from separable.data.rows import as_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.problem import Problem
    from separable.linalg.design_matrix import DesignMatrix
    from separable.losses.loss import Loss
    from separable.typing import Floats


__all__ = ["part_of", "solve_near_breakpoints"]

#: For each round, the fraction of rows in the working set, and its relative gap as a multiple of
#: tol.
ROUNDS = ((0.25, 1e3), (0.2, 0.3), (0.2, 0.3))
#: Above this fraction of wrongly fixed rows, all rows are solved instead.
MAX_WRONG_FRACTION = 0.15
#: Minimum number of working rows per column.
ROWS_PER_COLUMN = 8


def part_of(problem: Problem, chosen: NDArray[np.intp] | slice) -> Problem:
    """Return the problem restricted to the chosen rows."""
    return replace(
        problem,
        rows=as_rows(problem.rows.to_matrix()[chosen], check_values=False),
        target=cast("Floats", np.ascontiguousarray(problem.target[chosen])),
        weight=None if problem.weight is None else np.ascontiguousarray(problem.weight[chosen]),
        fold=None if problem.fold is None else np.ascontiguousarray(problem.fold[chosen]),
    )


def solve_near_breakpoints(
    problem: Problem,
    x: DesignMatrix,
    y: Floats,
    c: Floats,
    w: Floats,
    *,
    stopping_rule: StoppingRule,
    max_iter: int,
) -> Floats:
    """Solve working sets of growing accuracy from w; ``stopping_rule`` certifies the weights."""
    loss = problem.loss
    may_move = np.zeros(len(c), bool)
    inside, z = _sides(loss, y, c, _scores(problem, x, y, c, w))
    for share, factor in ROUNDS:
        size = max(int(share * np.count_nonzero(c)), ROWS_PER_COLUMN * x.shape[1])
        if size >= len(c):
            break
        inside[c == 0] = np.inf
        may_move[np.argpartition(np.abs(inside), size)[:size]] = True
        chosen = np.flatnonzero(may_move)
        z[chosen], left = 0.0, max_iter - stopping_rule.steps
        z[chosen], w = interior_point(
            part_of(problem, chosen).x,
            loss,
            y[chosen],
            c[chosen],
            fit_intercept=problem.fit_intercept,
            stopping_rule=LooseStopping(stopping_rule, factor * stopping_rule.tol, left),
            max_iter=left,
            fixed=Fixed(x.rmatvec(z), float(z.sum())),
        )
        if stopping_rule.is_stopped or factor < 1 or stopping_rule.steps >= max_iter:
            stopping_rule.consider(z, x.expand(w))
        if stopping_rule.is_stopped or stopping_rule.is_done or stopping_rule.steps >= max_iter:
            break
        inside, after = _sides(loss, y, c, _scores(problem, x, y, c, w))
        wrong = (after != z) & ~may_move & (c > 0)
        if np.count_nonzero(wrong) > MAX_WRONG_FRACTION * len(chosen):
            break
        may_move |= wrong
        z = after
    return w


def _scores(problem: Problem, x: DesignMatrix, y: Floats, c: Floats, w: Floats) -> Floats:
    """Return the scores with the optimal intercept."""
    scores = x.matvec(w)
    return scores + problem.loss.best_intercept(y, scores, c) if problem.fit_intercept else scores


def _sides(loss: Loss, y: Floats, c: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return the signed distance of each row to its breakpoint, and z far from it."""
    if loss.is_regression:
        off = y - scores
        inside = loss.epsilon - np.abs(off)
        return inside, np.where(inside < 0, np.sign(off) * c, 0.0)
    inside = y * scores - 1.0
    return inside, np.where(inside < 0, y * c, 0.0)
