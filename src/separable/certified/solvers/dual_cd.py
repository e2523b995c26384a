"""Dual coordinate descent (Hsieh et al., 2008) with shrinking, for many models in one pass.

Lanes over the same rows run side by side and stop each at its own certificate. The running weights
only estimate when a certificate is due; the certificate is computed from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native, portable
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify, uncertified
from separable.certified.problem import TOGETHER, Lane, Problem
from separable.certified.solvers.intercept_multiplier import Multipliers, penalty_parameter
from separable.certified.solvers.lane_schedule import bits, run_phases
from separable.certified.solvers.options import FLOAT32_TOL
from separable.certified.solvers.softmax_dual_cd import SoftmaxBlock, most_models
from separable.certified.solvers.solved import Goal, OnPass, Result, Start
from separable.data.rows import Rows, core_rows
from separable.linalg.blas import aligned_zeros
from separable.linalg.design_matrix import in_lines
from separable.typing import Floats

#: Lanes of a block in float32; half as many in float64. A single model has width 1.
LANES = 16
#: The initial margin of logistic dual variables at 0.
START_MARGIN = 10.0
#: Shrunk rows are restored when the gap of the others has fallen by this factor.
UNSHRINK_RATIO = 0.1
#: Warm start for large C of several classes: the ratios of the smaller C, their minimum, their tol
#: and maximum passes.
WARM_START_RATIOS, LARGE_C, WARM_START_TOL, WARM_START_PASSES = (0.01, 0.1), 5.0, 1e-2, 20


@dataclass(frozen=True)
class PassedRows:
    """The rows in the problem's columns and in the float type of the passes."""

    core: portable.Rows
    squared_norm: Floats
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, problem: Problem, dtype: np.dtype[Any]) -> PassedRows:
        """Convert the rows of a problem; values are copied only if they change."""
        rows, columns = problem.rows, problem.columns
        values: Any = rows.values
        if columns.shift is not None:
            values = values - columns.shift
        if columns.scale is not None:
            values = values * columns.scale[rows.indices if rows.is_sparse else slice(None)]
        if values is rows.values and values.dtype == dtype:
            core = problem.core
        else:
            values = np.ascontiguousarray(values, dtype=dtype)
            core = core_rows(Rows(values, rows.n_features, rows.indices, rows.indptr))
        squared_norm = np.empty(rows.n_rows)
        core.squared_norms(squared_norm)
        return cls(core, squared_norm, dtype)


def descend(
    problem: Problem,
    passed: PassedRows,
    lanes: Sequence[Lane],
    *,
    tol: float,
    max_iter: int,
    seed: int,
    start: Start | None = None,
    on_pass: Callable[[int, float], Any] | None = None,
    certified: bool = True,
) -> tuple[CertifiedSolution, NDArray[np.int64]]:
    """Solve one block of lanes; see `run_phases`.

    Parameters
    ----------
    passed : PassedRows
        The rows; their float type is that of the passes.
    lanes : sequence of Lane
        At most `most_lanes` of that type.
    tol, max_iter : float, int
        The requested relative gap, and the maximum number of passes.
    seed : int
        Seed of the order of rows.
    on_pass : callable, optional
        Called after each pass with its number and the largest estimated relative gap; returning
        True stops the solver.
    certified : bool, default True

    Returns
    -------
    solution : CertifiedSolution
    passes : ndarray, shape (k,)
        Number of passes of each lane.
    """
    kind = SoftmaxBlock if lanes[0].target == TOGETHER else _Block
    block = kind(problem, passed, lanes, start)
    return run_phases(
        block, tol=tol, max_iter=max_iter, seed=seed, on_pass=on_pass, certified=certified
    )


def most_lanes(problem: Problem, dtype: np.dtype[Any]) -> int:
    """Return the number of lanes that fill a cache line."""
    if problem.n_classes > 2:
        return most_models(dtype, problem.n_classes)
    return LANES * 4 // dtype.itemsize


class DualCdSolver:
    """Dual coordinate descent for all lanes of a problem.

    Parameters
    ----------
    tol : float
        The requested relative gap, which decides the float type.
    """

    def __init__(self, problem: Problem, tol: float) -> None:
        self._problem = problem
        self._dtype = np.dtype(np.float64 if tol < FLOAT32_TOL else np.float32)

    @cached_property
    def _passed(self) -> PassedRows:
        return PassedRows.of(self._problem, self._dtype)

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        _ = self._passed

    def blocks(
        self, lanes: Sequence[Lane], chosen: list[int], n_jobs: int
    ) -> list[list[list[int]]]:
        """Return lanes of similar C side by side; of joint classes, a path of C for some folds."""
        del n_jobs
        order = sorted(chosen, key=lambda k: (lanes[k].C, k))
        width = most_lanes(self._problem, self._dtype)
        if self._problem.n_classes == 2:
            return [[order[first : first + width]] for first in range(0, len(order), width)]
        folds = sorted({lanes[k].fold for k in order})
        parts = [folds[first : first + width] for first in range(0, len(folds), width)]
        return [
            [
                list(same)
                for _, same in groupby(
                    (k for k in order if lanes[k].fold in part), key=lambda k: lanes[k].C
                )
            ]
            for part in parts
        ]

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve lanes side by side."""
        before = np.zeros(len(lanes), np.int64)
        if start is None and lanes[0].target == TOGETHER:
            start, before = self._warm_start(lanes, goal, on_pass)
        solution, passes = self._descend(lanes, start, goal, on_pass)
        done = passes < goal.max_iter
        if solution.certificates:
            done = np.array([one.converged for one in solution.certificates])
        return Result(solution, passes + before, ["descent"] * len(lanes), done)

    def _descend(
        self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass
    ) -> tuple[CertifiedSolution, NDArray[np.int64]]:
        return descend(
            self._problem,
            self._passed,
            lanes,
            tol=goal.tol,
            max_iter=goal.max_iter,
            seed=goal.seed,
            start=start,
            on_pass=on_pass,
            certified=not goal.scores_only,
        )

    def _warm_start(
        self, lanes: list[Lane], goal: Goal, on_pass: OnPass
    ) -> tuple[Start | None, NDArray[np.int64]]:
        """Return a warm start for lanes of large C from smaller ones, and its passes."""
        start: Start | None = None
        passes = np.zeros(len(lanes), np.int64)
        ratios = [ratio for ratio in WARM_START_RATIOS if ratio * lanes[0].C >= LARGE_C]
        if goal.max_iter <= len(WARM_START_RATIOS) * WARM_START_PASSES:
            return start, passes
        rough = replace(goal, tol=WARM_START_TOL, max_iter=WARM_START_PASSES)
        for ratio, after in zip(ratios, [*ratios, 1.0][1:], strict=True):
            smaller = [replace(lane, C=ratio * lane.C) for lane in lanes]
            solution, taken = self._descend(smaller, start, rough, on_pass)
            start = Start.after(solution, after / ratio)
            passes += taken
        return start, passes


class _Block:
    """State of a block of lanes: weights, dual variables, margins and multipliers."""

    def __init__(
        self,
        problem: Problem,
        passed: PassedRows,
        lanes: Sequence[Lane],
        start: Start | None,
    ) -> None:
        (n, d), k, dtype = problem.rows.shape, len(lanes), passed.dtype
        self._lanes, self._problem, self._passed = lanes, problem, passed
        self._targets = problem.in_lanes(lanes)
        width = 1 if k == 1 else most_lanes(problem, dtype)
        self._w = aligned_zeros((d, width), dtype)
        self._a = aligned_zeros((n, width), dtype)
        self._t: NDArray[Any] | None = None
        if problem.loss.has_logarithms:
            self._t = aligned_zeros((n, width), dtype)
            self._t += START_MARGIN
        self._rho = penalty_parameter(problem, passed.squared_norm, lanes)
        self._multipliers = Multipliers(self._rho)
        self._by_row = np.zeros((2, n), np.uint16)  # a bit for each lane: shrunk, active
        # multiplier, sum, shrinking threshold, loss of shrunk rows, limit
        self._by_lane = np.zeros((5, k))
        self._by_lane[[2, 4]] = np.inf
        self.paused = np.zeros(k, bool)
        self._unshrunk = np.ones(k, bool)  # lanes without shrunk rows
        self._full_gap = np.zeros(k)  # the gap estimated over all rows
        if start is not None:
            self._go_on(start)
        elif problem.fit_intercept:
            self._by_lane[0] = self._constants()

    def _constants(self) -> Floats:
        """Return the optimal intercept of each lane for weights 0."""
        none = np.zeros((self._problem.rows.n_rows, len(self._lanes)))
        wide = in_lines(none)
        return np.array(native.row_terms(self._targets, wide, wide, True)[0])

    def _go_on(self, start: Start) -> None:
        problem, k = self._problem, len(self._lanes)
        self._w[:, :k] = problem.x.rmatvec(start.dual)
        self._by_lane[0] = start.intercept
        self._by_lane[1] = start.dual.sum(axis=0)
        a = self._with_sign(start.dual)
        self._a[:, :k] = a
        if self._t is None:
            return
        for index, lane in enumerate(self._lanes):
            c, values = problem.costs(lane), a[:, index]
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.log(c - values) - np.log(values)
            self._t[:, index] = np.where(
                c > 0, np.clip(t, -START_MARGIN, START_MARGIN), START_MARGIN
            )

    def _with_sign(self, numbers: Floats) -> Floats:
        """Return values by row and lane times the signs of the targets, in classification."""
        problem = self._problem
        if problem.is_regression:
            return numbers
        classes = np.array([lane.target for lane in self._lanes])
        signs = np.where(np.asarray(problem.target)[:, None] == classes, 1.0, -1.0)
        return numbers * signs

    def run_pass(self, number: int, seed: int) -> Floats:
        """Run one pass over the rows; return the estimated relative gap of each lane."""
        passed, paused, hot = self._passed, bits(self.paused), self._by_row[1]
        multiplier, total = self._by_lane[:2]
        waiting = hot & np.uint16(paused)  # keep those of paused lanes
        loss, gap = native.dual_pass(
            self._targets,
            passed.core,
            passed.squared_norm,
            self._rho,
            self._w,
            self._a,
            self._t,
            self._by_row,
            self._by_lane,
            paused,
            number,
            seed,
        )
        hot &= np.uint16(0xFFFF & ~paused)
        hot |= waiting
        multiplier[:] = self._multipliers.after_pass(multiplier, total, ~self.paused)
        k = len(self._lanes)
        norms = np.einsum("jl,jl->l", self._w, self._w)[:k].astype(np.float64)
        primal = np.array(loss) + 0.5 * norms
        with np.errstate(invalid="ignore"):  # float32 weights that overflowed
            seen: Floats = np.divide(gap, primal, out=np.zeros(k), where=primal > 0)
        np.copyto(self._full_gap, seen, where=self._unshrunk)
        self._unshrunk[:] = False
        self.unshrink((seen < UNSHRINK_RATIO * self._full_gap) & ~self.paused)
        return seen

    def unshrink(self, lanes: NDArray[np.bool_]) -> None:
        """Restore the shrunk rows of these lanes."""
        self._by_row[0] &= np.uint16(0xFFFF & ~bits(lanes))
        self._by_lane[2, lanes] = np.inf
        self._by_lane[3, lanes] = 0.0
        self._unshrunk |= lanes

    def certify(self, tol: float) -> CertifiedSolution:
        """Certify the current point of all lanes."""
        # a copy: later passes change the weights in place, and the solution may be kept
        return certify(self._problem, self._lanes, self._dual(), tol, self._w.copy())

    def solution(self) -> CertifiedSolution:
        """Return the current point of all lanes without certificates."""
        return uncertified(self._problem, self._lanes, self._dual(), self._w)

    def _dual(self) -> Floats:
        """Return the dual points with the signs of the targets."""
        k = len(self._lanes)
        z: Floats = self._a.astype(np.float64)
        z[:, :k] = self._with_sign(z[:, :k])
        return z
