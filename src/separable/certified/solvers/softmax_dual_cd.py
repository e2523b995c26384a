"""Dual coordinate descent for multinomial logistic regression (Yu, Huang and Lin, 2011).

Several models run in one pass: class k of model m is lane m * stride + k. Each model stops at its
own certificate; see `run_phases`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify, uncertified_joint
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.intercept_multiplier import Multipliers, penalty_parameter
from separable.certified.solvers.lane_schedule import bits
from separable.certified.solvers.solved import Start
from separable.linalg.blas import LINE_BYTES, aligned_zeros
from separable.typing import Floats

if TYPE_CHECKING:
    from separable.certified.solvers.dual_cd import PassedRows


#: The logarithm of a negligible probability, and of the probability of an absent class.
LOG_ZERO, LOG_ABSENT = -80.0, -1e30


def most_models(dtype: np.dtype[Any], n_classes: int) -> int:
    """Return the number of models of ``n_classes`` that fit into a cache line.

    Examples
    --------
    >>> [most_models(np.dtype(np.float32), k) for k in (2, 3, 10, 20)]
    [8, 4, 1, 1]
    """
    return max(1, LINE_BYTES // dtype.itemsize // native.class_stride(n_classes, dtype.itemsize))


class SoftmaxBlock:
    """State of a block of models: weights, probabilities and multipliers."""

    def __init__(
        self,
        problem: Problem,
        passed: PassedRows,
        lanes: Sequence[Lane],
        start: Start | None,
    ) -> None:
        self._problem, self._passed, self._lanes = problem, passed, lanes
        (n, d), k, dtype = problem.rows.shape, len(lanes), passed.dtype
        stride = native.class_stride(problem.n_classes, dtype.itemsize)
        width = max(stride, LINE_BYTES // dtype.itemsize)
        # by lane: the classes of all models side by side
        self._w, self._u = aligned_zeros((d, width), dtype), aligned_zeros((n, width), dtype)
        self._by_lane = np.zeros((2, width))  # multipliers and sums
        self._lane_shape = (-1, width // stride, stride)
        self._targets = self._native_targets()
        rho = penalty_parameter(problem, passed.squared_norm, lanes)
        self._multipliers = Multipliers(np.repeat(rho, problem.n_classes))
        self._by_model = np.zeros((3, k))  # rho, and the limits of a small and a large gap of a row
        self._by_model[0], self._by_model[2] = rho, np.inf
        self._hot = np.zeros(n, np.uint16)  # a bit for each model
        self.paused = np.zeros(k, bool)
        self._rows = [problem.softmax_losses(lane) for lane in lanes]
        self._present = np.array([rows.present for rows in self._rows])
        self._begin(start)

    def _native_targets(self) -> native.MultinomialTargets:
        problem = self._problem
        return native.MultinomialTargets(
            problem.n_classes,
            problem.target.astype(np.int32, copy=False),
            problem.weight,
            problem.fold,
            np.array([lane.fold for lane in self._lanes], np.int32),
            np.array([lane.C / problem.value for lane in self._lanes]),
        )

    def _of_models(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table by lane viewed as [.][model][class]."""
        return table.reshape(self._lane_shape)[:, : len(self._lanes), : self._problem.n_classes]

    def _begin(self, start: Start | None) -> None:
        """Initialise from weights 0 and one-hot probabilities, or from a warm start."""
        problem, k = self._problem, len(self._lanes)
        n, classes = problem.rows.n_rows, problem.n_classes
        self._u.reshape(n, *self._lane_shape[1:])[:, k:] = -np.log(self._lane_shape[2])
        self._u.reshape(n, *self._lane_shape[1:])[:, :k] = LOG_ABSENT
        u, multiplier = self._of_models(self._u), self._of_models(self._by_lane)[0]
        if start is None:
            u[:] = np.where(self._present, LOG_ZERO, LOG_ABSENT)
            u[np.arange(n), :, problem.target] = 0.0
            if problem.fit_intercept:
                multiplier[:] = [_log_fractions(rows.totals) for rows in self._rows]
            return
        dual = start.dual.reshape(n, k, classes)
        for index, rows in enumerate(self._rows):
            p = rows.probabilities(dual[:, index])
            u[:, index] = np.log(np.clip(p, np.exp(LOG_ZERO), 1.0))
        u[:, ~self._present] = LOG_ABSENT
        self._of_models(self._w)[:] = problem.x.rmatvec(start.dual).reshape(-1, k, classes)
        intercept = start.intercept.reshape(k, classes)
        multiplier[:] = np.where(np.isfinite(intercept), intercept, 0.0)
        self._of_models(self._by_lane)[1] = dual.sum(axis=0)

    def run_pass(self, number: int, seed: int) -> Floats:
        """Run one pass over the rows; return the estimated relative gap of each model."""
        passed, problem, k = self._passed, self._problem, len(self._lanes)
        loss, gap = native.multinomial_pass(
            self._targets,
            passed.core,
            passed.squared_norm,
            self._w,
            self._u,
            self._hot,
            self._by_lane,
            self._by_model,
            bits(self.paused),
            number,
            seed,
        )
        if problem.fit_intercept:
            self._move_multipliers(np.repeat(~self.paused, problem.n_classes))
        squares = np.einsum("jl,jl->l", self._w, self._w).astype(np.float64)
        norms = self._of_models(squares).sum(axis=(0, 2))
        primal = np.array(loss) + 0.5 * norms
        with np.errstate(invalid="ignore"):  # float32 weights that overflowed
            seen: Floats = np.divide(gap, primal, out=np.zeros(k), where=primal > 0)
        return seen

    def _move_multipliers(self, running: NDArray[np.bool_]) -> None:
        multiplier, total = (self._of_models(row)[0] for row in self._by_lane)
        moved = self._multipliers.after_pass(multiplier.ravel(), total.ravel(), running)
        multiplier[:] = moved.reshape(multiplier.shape)

    def unshrink(self, lanes: NDArray[np.bool_]) -> None:
        """Restore the shrunk rows of these models."""
        self._by_model[1, lanes] = 0.0

    def certify(self, tol: float) -> CertifiedSolution:
        """Certify the current point of all models."""
        return certify(
            self._problem,
            self._lanes,
            self._probabilities(),
            tol,
            self._weights(),
            self._intercept(),
        )

    def solution(self) -> CertifiedSolution:
        """Return the current point of all models without certificates."""
        weights = self._weights()
        return uncertified_joint(
            self._problem, self._lanes, self._probabilities(), weights, self._intercept()
        )

    def _probabilities(self) -> Floats:
        with np.errstate(under="ignore"):
            p: Floats = np.exp(self._of_models(self._u).astype(np.float64))
        return p.reshape(len(p), -1)

    def _weights(self) -> NDArray[Any]:
        return self._of_models(self._w).reshape(len(self._w), -1)

    def _intercept(self) -> Floats:
        intercept: Floats = self._of_models(self._by_lane)[0].ravel()
        return intercept


def _log_fractions(costs: Floats) -> Floats:
    """Return the logarithms of the class fractions; 0 for absent classes."""
    probabilities = costs / costs.sum()
    return np.log(np.where(probabilities > 0, probabilities, 1.0))
