"""Coordinate descent along a path of C for l1 and elastic net problems with one score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError

from separable._core import native
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import SparseWeights, certify
from separable.linalg.column_major import ReadColumns
from separable.linalg.lstsq import lstsq

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.options import SolverOptions
    from separable.certified.solvers.parallel import Cancellation
    from separable.typing import Floats


__all__ = ["ROUNDING", "TIGHTEN", "CoordinatePath", "CoordinateSolver", "fitted_dual"]

#: The smallest tol for columns in float32; smaller ones need float64.
FLOAT32_TOL = 1e-7
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


@dataclass(frozen=True)
class CoordinateSolver:
    """The columns of a problem, for coordinate descent.

    Parameters
    ----------
    problem : Problem
    solver_options : SolverOptions
    tol : float
        The requested relative gap.
    max_sweeps : int
        Maximum number of sweeps of a lane.
    """

    problem: Problem
    solver_options: SolverOptions
    tol: float
    max_sweeps: int

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

    def part(self, lanes: slice, columns: ReadColumns) -> SparseWeights:
        """Return the weights of a slice of the path, for the problem's columns."""
        first, last, _ = lanes.indices(len(self.intercept))
        start = self.start[first : last + 1]
        part = slice(start[0], start[-1])
        column, weight = self.column[part], self.weight[part]
        if columns.factor is not None:
            weight = weight / columns.factor[column]
        return SparseWeights(start, column, weight, columns.rows.n_rows)


class CoordinatePath(CoordinateSolver):
    """Coordinate descent with warm starts along a path of C."""

    #: Columns of a lane.
    width = 1

    def path(
        self, lanes: list[Lane], weights: Floats, end: Cancellation
    ) -> Iterator[tuple[CertifiedSolution, NDArray[np.int64]]]:
        """Yield the solutions of slices of the path from ``weights``, (d, 1), and their sweeps."""
        aim = self.aim(len(lanes))
        path = self._descend(lanes, weights[:, 0], aim, end, self.max_sweeps)
        n, d = self.problem.rows.shape
        sparse_l1 = self.problem.column_penalty.l2 == 0 and self.columns.rows.is_sparse
        width = max(MIN_LANES, MAX_TABLE_CELLS // ((0 if sparse_l1 else d) + 3 * n))
        for first in range(0, len(lanes), width):
            part = slice(first, first + width)
            sweeps = path.sweeps[part].copy()
            found = self._certify(lanes[part], path.part(part, self.columns))
            yield self._tighten(lanes[part], found, sweeps, aim, end, self.max_sweeps), sweeps

    def resume(
        self, lane: Lane, weights: Floats, most: int, end: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the solution of at most ``most`` sweeps from weights, (d, 1), and their number."""
        aim = self.aim(1)
        path = self._descend([lane], weights[:, 0], aim, end, most)
        sweeps = path.sweeps.copy()
        found = self._certify([lane], path.part(slice(0, 1), self.columns))
        found = self._tighten([lane], found, sweeps, aim, end, most)
        return self.with_better_dual(lane, found), int(sweeps[0])

    def aim(self, n_lanes: int) -> float:
        """Return the relative gap to aim at: rounding for one small problem or a few tiny ones."""
        if self.problem.is_small if n_lanes == 1 else self.problem.is_tiny(n_lanes):
            return min(self.tol, ROUNDING)
        return AIM_FRACTION * self.tol

    def certify(self, lane: Lane, weights: Floats, z: Floats) -> CertifiedSolution:
        """Return the certified weights, (d, 1), with a dual point, (n, 1)."""
        return self._certify([lane], weights, z)

    def with_better_dual(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
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
        end: Cancellation,
        most: int,
    ) -> CertifiedSolution:
        """Continue lanes that did not converge, with a tighter aim.

        ``sweeps`` counts the sweeps of each lane, up to ``most``, and is updated.
        """
        last = found.weights.copy()  # a copy: those of the solution may remain the best
        for _ in range(MAX_TIGHTENINGS):
            short = [
                k
                for k, one in enumerate(found.certificates)
                if not one.converged and sweeps[k] < most
            ]
            aim *= TIGHTEN
            if not short or end.stop_requested:
                break
            parts = [found.lane(k) for k in range(len(lanes))]
            for k in short:
                path = self._descend([lanes[k]], last[:, k], aim, end, most - int(sweeps[k]))
                sweeps[k] += path.sweeps[0]
                one = self._certify([lanes[k]], path.part(slice(0, 1), self.columns))
                last[:, k] = one.weights[:, 0]
                if one.is_better_than(parts[k]):
                    parts[k] = one
            found = CertifiedSolution.side_by_side(parts)
        return found

    def _certify(
        self, lanes: list[Lane], weights: SparseWeights | Floats, z: Floats | None = None
    ) -> CertifiedSolution:
        return certify(self.problem, lanes, z, self.tol, weights, columns=self.columns)

    @cached_property
    def _penalties(self) -> tuple[Floats, Floats]:
        penalty = self.problem.column_penalty
        return self.columns.penalty(penalty.l1, penalty.l2)

    def _descend(
        self, lanes: list[Lane], start: Floats, aim: float, end: Cancellation, most: int
    ) -> _Path:
        """Run coordinate descent along a path from ``start``, (d,), from small to large C."""
        problem, solver_options = self.problem, self.solver_options
        one = replace(lanes[0], C=problem.value)  # costs as if C were 1
        on_sweep: Any = None
        if solver_options.callback is not None or solver_options.n_jobs > 1:
            on_sweep = partial(end.report, solver_options.callback)
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
                most,
                on_sweep,
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
