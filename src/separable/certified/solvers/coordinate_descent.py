"""Coordinate descent along paths of C for l1 and elastic net problems with one score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from separable._core import native
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import SparseWeights, certify
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.options import FLOAT32_TOL
from separable.certified.solvers.parallel import Cancellation
from separable.certified.solvers.solved import Goal, Result, Start, chains
from separable.linalg.column_major import ReadColumns
from separable.linalg.lstsq import lstsq
from separable.typing import Floats

#: The relative gap to which single models of small problems are solved.
ROUNDING = 1e-14
#: Fractions of tol: the aim of the solver, and its factor after a certificate that misses.
AIM_FRACTION, TIGHTEN = 0.9, 0.1
#: Maximum number of times that the aim is tightened.
MAX_TIGHTENINGS = 4
#: Maximum cells of the tables certified at a time.
MAX_TABLE_CELLS = 1 << 22
#: Maximum cells of the support of a fitted dual point, and its steps of iterative refinement.
MAX_SUPPORT, REFINEMENTS = 4_000_000, 2
#: Minimum number of models certified at a time.
MIN_LANES = 8


class CoordinateSolver(ABC):
    """Coordinate descent along paths of C, each lane from the one before.

    Parameters
    ----------
    tol : float
        The requested relative gap.
    """

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol

    @property
    @abstractmethod
    def width(self) -> int:
        """Columns of a lane."""

    @abstractmethod
    def certify(self, lane: Lane, weights: Floats, z: Floats) -> CertifiedSolution:
        """Return the certified weights, (d, K), with dual variables, (n, K)."""

    @abstractmethod
    def resume(
        self, lane: Lane, weights: Floats, goal: Goal, on_pass: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the solution of a lane from weights, (d, K), and the number of sweeps."""

    @abstractmethod
    def aim(self, n_lanes: int) -> float:
        """Return the relative gap to aim at."""

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        _ = self.columns

    def _first_weights(self, start: Start | None) -> Floats:
        """Return the first weights of a path, (d, K)."""
        penalty, K = self.problem.column_penalty, self.width
        if start is None:
            return np.zeros((self.problem.rows.n_features, K))
        if start.weights is not None:
            weights = np.array(start.weights[:, :K], dtype=np.float64)
            return np.maximum(weights, 0.0) if penalty.positive else weights
        if penalty.l2 == 0:
            return self._first_weights(None)
        dual = np.ascontiguousarray(start.dual[:, :K])
        return penalty.minimizer(self.problem.x.rmatvec(dual))

    @cached_property
    def columns(self) -> ReadColumns:
        """The design matrix by columns."""
        exact = self.problem.is_small or self.tol < FLOAT32_TOL
        dtype = np.dtype(np.float64) if exact else self.problem.rows.values.dtype
        return ReadColumns.of(self.problem, dtype)

    def as_read(self, u: Floats) -> Floats:
        """Return weights, (d, K), in the scale of ``columns``."""
        factor = self.columns.factor
        return u if factor is None else u * factor[:, None]

    def as_problem(self, u: Floats) -> Floats:
        """Return weights, (d, K), for the problem's columns."""
        factor = self.columns.factor
        return u if factor is None else u / factor[:, None]


@dataclass(frozen=True)
class _Path:
    """A regularization path: the non-zero weights for each C, in the scale of `ReadColumns`."""

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Floats
    intercept: Floats
    gap: Floats
    sweeps: NDArray[np.int64]

    def weights(self, columns: ReadColumns) -> SparseWeights:
        """Return the weights for the problem's columns."""
        weight = self.weight
        if columns.factor is not None:
            weight = weight / columns.factor[self.column]
        return SparseWeights(self.start, self.column, weight, columns.rows.n_rows)


class CoordinateDescent(CoordinateSolver):
    """Coordinate descent for one score a row; slices of a path of C are batches."""

    width = 1

    def __init__(self, problem: Problem, tol: float) -> None:
        super().__init__(problem, tol)
        self._aim = self.aim(1)

    def blocks(
        self, lanes: Sequence[Lane], chosen: list[int], n_jobs: int
    ) -> list[list[list[int]]]:
        """Return a path for each class and fold, in slices that are certified together."""
        del n_jobs
        paths, (n, d) = chains(lanes, chosen), self.problem.rows.shape
        self._aim = self.aim(max(len(path) for path in paths))
        sparse_l1 = self.problem.column_penalty.l2 == 0 and self.problem.rows.is_sparse
        width = max(MIN_LANES, MAX_TABLE_CELLS // ((0 if sparse_l1 else d) + 3 * n))
        return [
            [path[first : first + width] for first in range(0, len(path), width)] for path in paths
        ]

    def solve(
        self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: Cancellation
    ) -> Result:
        """Solve a slice of a path."""
        found, sweeps = self._learn(lanes, self._first_weights(start), self._aim, goal, on_pass)
        done = np.array([one.converged for one in found.certificates])
        return Result(found, np.maximum(sweeps, 1), ["coordinates"] * len(lanes), done)

    def resume(
        self, lane: Lane, weights: Floats, goal: Goal, on_pass: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the solution of a lane from weights, (d, 1), and the number of sweeps."""
        found, sweeps = self._learn([lane], weights, self.aim(1), goal, on_pass)
        return found, int(sweeps[0])

    def _learn(
        self, lanes: list[Lane], weights: Floats, aim: float, goal: Goal, on_pass: Cancellation
    ) -> tuple[CertifiedSolution, NDArray[np.int64]]:
        path = self._descend(lanes, weights[:, 0], aim, goal, on_pass)
        sweeps = path.sweeps.copy()
        found = self._certify(lanes, path.weights(self.columns))
        return self._tighten(lanes, found, sweeps, aim, goal, on_pass), sweeps

    def aim(self, n_lanes: int) -> float:
        """Return the relative gap to aim at: rounding for one small problem or a few tiny ones."""
        if self.problem.is_small if n_lanes == 1 else self.problem.is_tiny(n_lanes):
            return min(self.tol, ROUNDING)
        return AIM_FRACTION * self.tol

    def certify(self, lane: Lane, weights: Floats, z: Floats) -> CertifiedSolution:
        """Return the certified weights, (d, 1), with a dual point, (n, 1)."""
        return self._certify([lane], weights, z)

    def _with_better_dual(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
        """Return a solution that did not converge with a refined dual point, if that is better."""
        problem, u = self.problem, found.weights[:, 0]
        support = np.flatnonzero(u)
        if found.certificates[0].converged or not 0 < len(support) * len(found.dual) <= MAX_SUPPORT:
            return found
        y, c, penalty = problem.targets(lane), problem.costs(lane), problem.column_penalty
        gradient, h = problem.loss.derivatives(y, found.scores[:, 0], c)
        x = self.columns.take(support).written_out()
        correlation = penalty.l1 * np.sign(u[support]) + penalty.l2 * u[support]
        z = fitted_dual(x, h, -gradient, correlation, is_centred=problem.fit_intercept)
        one = self._certify([lane], found.weights, z[:, None])
        return one if one.is_better_than(found) else found

    def _tighten(
        self,
        lanes: list[Lane],
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        aim: float,
        goal: Goal,
        on_pass: Cancellation,
    ) -> CertifiedSolution:
        """Continue lanes that did not converge, with a tighter aim, then with better dual points.

        ``sweeps`` counts the sweeps of each lane and is updated.
        """
        last = found.weights.copy()  # a copy: those of the solution may remain the best
        parts = [found.lane(k) for k in range(len(lanes))]
        for _ in range(MAX_TIGHTENINGS):
            short = [
                k
                for k, one in enumerate(parts)
                if not one.certificates[0].converged and sweeps[k] < goal.max_iter
            ]
            aim *= TIGHTEN
            if not short or on_pass.stop_requested:
                break
            for k in short:
                rest = replace(goal, max_iter=goal.max_iter - int(sweeps[k]))
                path = self._descend([lanes[k]], last[:, k], aim, rest, on_pass)
                sweeps[k] += path.sweeps[0]
                one = self._certify([lanes[k]], path.weights(self.columns))
                last[:, k] = one.weights[:, 0]
                if one.is_better_than(parts[k]):
                    parts[k] = one
        if not on_pass.stop_requested:
            parts = [self._with_better_dual(*pair) for pair in zip(lanes, parts, strict=True)]
        return CertifiedSolution.side_by_side(parts)

    def _certify(
        self, lanes: list[Lane], weights: SparseWeights | Floats, z: Floats | None = None
    ) -> CertifiedSolution:
        return certify(self.problem, lanes, z, self.tol, weights, columns=self.columns)

    @cached_property
    def _penalties(self) -> tuple[Floats, Floats]:
        penalty = self.problem.column_penalty
        return self.columns.penalty(penalty.l1, penalty.l2)

    def _descend(
        self, lanes: list[Lane], start: Floats, aim: float, goal: Goal, on_pass: Cancellation
    ) -> _Path:
        """Run coordinate descent along a path from ``start``, (d,), from small to large C."""
        problem = self.problem
        one = replace(lanes[0], C=problem.value)  # costs as if C were 1
        return _Path(
            *native.descend_path(
                self.columns.core,
                problem.loss.name,
                problem.targets(one),
                problem.costs(one),
                *self._penalties,
                problem.penalty.positive,
                problem.fit_intercept,
                np.array([lane.C / problem.value for lane in lanes]),
                np.ascontiguousarray(self.as_read(start[:, None])[:, 0]),
                0.0,
                aim,
                goal.max_iter,
                None if goal.is_silent else on_pass,
            )
        )


def fitted_dual(
    x: Floats, h: Floats, z: Floats, correlation: Floats, *, is_centred: bool
) -> Floats:
    """Return the dual point nearest to z with the given correlations, in the metric of h.

    If columns share a large common part, rounding of the weights moves all scores together, and the
    correlations of the residual by much more. This point has the optimal ones on the support.

    Parameters
    ----------
    x : ndarray, shape (m, n)
        The columns of the support.
    h : ndarray, shape (n,)
        Curvatures of the losses; rows of curvature 0 do not move.
    z : ndarray, shape (n,)
    correlation : ndarray, shape (m,)
        The target value of Xz.
    is_centred : bool
        Whether z must sum to 0.

    Examples
    --------
    >>> fitted_dual(np.array([[1.0, 1.0]]), np.ones(2), np.array([0.5, 0.7]), np.ones(1),
    ...             is_centred=False)
    array([0.4, 0.6])
    """
    if is_centred:
        x, correlation = np.vstack([x, np.ones(len(z))]), np.append(correlation, 0.0)
    size = np.sqrt(np.einsum("ij,ij->i", x, x))
    size[size == 0] = 1.0
    root = np.sqrt(h)
    scaled = x * root / size[:, None]
    for _ in range(REFINEMENTS):
        try:
            by = lstsq(scaled, (correlation - x @ z) / size)
        except (LinAlgError, ValueError):
            break
        z = z + root * by
    return z
