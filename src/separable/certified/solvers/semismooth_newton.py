"""Semismooth Newton steps on augmented Lagrangians, for hinge and epsilon-insensitive losses.

The steps are in the compiled core; here the weights are certified, and steps continue where the
estimate of the core was too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from separable._core import native, portable
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.dual_cd import PassedRows
from separable.certified.solvers.incumbent import better
from separable.certified.solvers.options import SemismoothNewtonOptions
from separable.certified.solvers.solved import Goal, OnPass, Result, Start, chains
from separable.data.rows import Rows, core_rows
from separable.linalg.blas import aligned_zeros
from separable.linalg.design_matrix import LINE


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


class SemismoothNewtonSolver:
    """Semismooth Newton steps for the lanes of a piecewise linear loss."""

    def __init__(self, problem: Problem, options: SemismoothNewtonOptions | None = None) -> None:
        self._problem = problem
        self._options = SemismoothNewtonOptions() if options is None else options

    @cached_property
    def _rows(self) -> NewtonRows:
        return NewtonRows.of(self._problem)

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        _ = self._rows

    def blocks(
        self, lanes: Sequence[Lane], chosen: list[int], n_jobs: int
    ) -> list[list[list[int]]]:
        """Return a path for each class and fold; those of a fold together if rows are few."""
        del n_jobs  # bits do not depend on it
        paths = chains(lanes, chosen)
        if not self._problem.is_small_for(len(paths)):
            return [[[k] for k in path] for path in paths]
        folds: dict[tuple[int, tuple[float, ...]], list[list[int]]] = {}
        for path in paths:
            key = lanes[path[0]].fold, tuple(lanes[k].C for k in path)
            folds.setdefault(key, []).append(path)
        return [[list(batch) for batch in zip(*some, strict=True)] for some in folds.values()]

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve lanes in one call of the core, and those whose gap is too large in another one."""
        problem, rows, k, options = self._problem, self._rows, len(lanes), self._options
        d, most = problem.rows.n_features, min(goal.max_iter, options.max_steps)
        w, z = np.zeros((k, rows.n_columns)), np.zeros((k, problem.rows.n_rows))
        b, width = np.zeros(k), np.zeros(k)
        if start is not None:
            w[:, :d], z[:] = start.weights_of(problem).T, start.dual.T
            b[:], width[:] = start.intercept, options.warm_width
        elif problem.is_regression and problem.fit_intercept:
            middle = len(problem.target) // 2
            b[:] = np.partition(problem.target, middle)[middle]
        wanted = limit = goal.tol
        if goal.to_rounding:
            wanted, limit = options.rounding, options.near_rounding
        steps, left = np.zeros(k, np.int64), np.arange(k)
        best: dict[int, CertifiedSolution] = {}
        for turn in range(options.max_rounds):
            report = None if goal.is_silent else partial(_report, on_pass, int(steps[left].max()))
            some = [lanes[i] for i in left]
            more, stalled, stopped = native.semismooth_newton(
                problem.in_lanes(some), rows.core, w, b, z, problem.fit_intercept, width, wanted,
                most - steps[left], options.max_idle, report,
            )  # fmt: skip
            steps[left] += more
            found = certify(problem, some, z.T, goal.tol, np.ascontiguousarray(w[:, :d].T))
            gaps = np.array([one.relative_gap for one in found.certificates])
            if turn == 0 and (gaps <= limit).all():
                return Result(found, steps, ["semismooth-newton"] * k, np.ones(k, np.bool_))
            for at, i in enumerate(left.tolist()):
                one = found.lane(at)
                best[i] = better(best[i], one) if turn else one
            gaps = np.array([best[i].certificates[0].relative_gap for i in left.tolist()])
            goes_on = ~(gaps <= limit) & (np.array(more) > 0) & (steps[left] < most)
            goes_on &= ~np.array(stalled)
            if stopped or not goes_on.any():
                break
            left, w, z = left[goes_on], w[goes_on], z[goes_on]
            b, width = b[goes_on], width[goes_on]
            wanted *= options.tighten
        solution = CertifiedSolution.side_by_side([best[i] for i in range(k)])
        is_enough = [one.relative_gap <= limit for one in solution.certificates]
        is_done = np.array(is_enough) | stopped | (steps >= goal.max_iter)
        return Result(solution, steps, ["semismooth-newton"] * k, is_done)


def _report(on_pass: OnPass, before: int, step: int, gap: float) -> bool:
    """Report a step of a later round; return whether to stop."""
    return on_pass(before + step, gap)
