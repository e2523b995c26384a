"""Semismooth Newton steps on augmented Lagrangians, for hinge and epsilon-insensitive losses.

The steps are in the compiled core; here the weights are certified, and steps continue where the
estimate of the core was too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native, portable
from separable.certified.duality.l2_certifier import CertifiedSolution, certify
from separable.certified.solvers.dual_cd import PassedRows
from separable.certified.solvers.incumbent import better
from separable.data.core_rows import core_rows
from separable.data.rows import Rows
from separable.linalg.blas import aligned_zeros

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

__all__ = ["NewtonRows", "NewtonStart", "semismooth_newton"]

#: Doubles per cache line: dense rows are padded to whole lines.
LINE = 8
#: The width of the zone around the breakpoint of a warm start, over the unit of residuals.
WARM_WIDTH = 0.3
#: Rounds of steps, and the factor of the requested gap from one to the next.
MAX_ROUNDS, TIGHTEN = 4, 0.1
#: The relative gap that counts as rounding, and the one above which steps go on.
ROUNDING, NEAR_ROUNDING = 1e-14, 1e-12
#: Steps after which the next solver is faster; most problems need 15 to 50.
MAX_STEPS = 250


@dataclass(frozen=True)
class NewtonRows:
    """The rows in the problem's columns, float64, dense ones padded to whole cache lines.

    Parameters
    ----------
    core : portable.Rows
    n_columns : int
        With padding.
    """

    core: portable.Rows
    n_columns: int

    @classmethod
    def of(cls, problem: Problem) -> NewtonRows:
        """Convert the rows of a problem."""
        rows, columns = problem.rows, problem.columns
        if rows.is_sparse:
            return cls(PassedRows.of(problem, np.dtype(np.float64)).core, rows.n_features)
        width = -(-rows.n_features // LINE) * LINE
        values = aligned_zeros((rows.n_rows, width), np.dtype(np.float64))
        here = values[:, : rows.n_features]
        if columns.shift is None:
            here[:] = rows.values
        else:
            np.subtract(rows.values, columns.shift, out=here)
        if columns.scale is not None:
            here *= columns.scale
        return cls(core_rows(Rows(values, width)), width)


@dataclass(frozen=True)
class NewtonStart:
    """A warm start: weights of the problem's columns, the intercept, and a dual point."""

    weights: Floats
    intercept: float
    dual: Floats

    @classmethod
    def after(cls, solution: CertifiedSolution, factor: float = 1.0) -> NewtonStart:
        """Start from the solution of a lane whose C is ``factor`` times smaller."""
        dual = solution.dual[:, 0]
        return cls(solution.weights[:, 0], float(solution.intercept[0]), factor * dual)


def semismooth_newton(
    problem: Problem,
    rows: NewtonRows,
    lane: Lane,
    *,
    tol: float,
    to_rounding: bool,
    max_iter: int,
    start: NewtonStart | None = None,
    on_step: Callable[[int, float], Any] | None = None,
) -> tuple[CertifiedSolution, int, bool]:
    """Solve one lane.

    Parameters
    ----------
    problem : Problem
        With a piecewise linear loss.
    rows : NewtonRows
    lane : Lane
    tol : float
        The requested relative gap.
    to_rounding : bool
        Go on until the certificate cannot improve.
    max_iter : int
        Maximum number of steps.
    start : NewtonStart, optional
    on_step : callable, optional
        Called with the number of a step and the estimated relative gap; returning True stops.

    Returns
    -------
    solution : CertifiedSolution
        Of the one lane.
    steps : int
    is_done : bool
        Whether no other solver should continue: converged, or stopped by ``on_step``.
    """
    d = problem.rows.n_features
    w, z, b, width = np.zeros(rows.n_columns), np.zeros(problem.rows.n_rows), 0.0, 0.0
    if start is not None:
        w[:d], z[:], b, width = start.weights, start.dual, start.intercept, WARM_WIDTH
    elif problem.is_regression and problem.fit_intercept:
        b = float(np.median(problem.target))
    targets = problem.in_lanes([lane])
    best: CertifiedSolution | None = None
    steps, wanted = 0, ROUNDING if to_rounding else tol
    for _ in range(MAX_ROUNDS):
        more, b, width, stopped = native.semismooth_newton(
            targets,
            rows.core,
            w,
            b,
            z,
            problem.fit_intercept,
            width,
            wanted,
            min(max_iter, MAX_STEPS) - steps,
            None if on_step is None else partial(_report, on_step, steps),
        )
        steps += more
        with np.errstate(over="ignore", invalid="ignore"):
            found = certify(problem, [lane], z[:, None], tol, w[:d, None].copy())
        best = found if best is None else better(best, found)
        gap = best.certificates[0].relative_gap
        enough = gap <= (NEAR_ROUNDING if to_rounding else tol)
        if enough or stopped or more == 0 or steps >= min(max_iter, MAX_STEPS):
            break
        wanted *= TIGHTEN
    assert best is not None
    return best, steps, enough or stopped or steps >= max_iter


def _report(on_step: Callable[[int, float], Any], before: int, step: int, gap: float) -> bool:
    """Report a step of a later round; return whether to stop."""
    return bool(on_step(before + step, gap))
