"""Duality gap of block-separable penalties: group lasso, lp and max norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l1_certifier import FEASIBLE_RATIO
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.solvers.block_penalty.block_newton import SmoothPart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.losses.base import Loss, SmoothLoss
    from separable.typing import Floats


__all__ = ["BlockPenalty", "ConvexPenalty", "Evaluation", "balanced", "correlation_at", "evaluate"]


class ConvexPenalty(Protocol):
    """The interface of a penalty that certificates use."""

    def value(self, u: Floats) -> float:
        """Return the penalty."""

    def dual_scaling(self, v: Floats) -> float:
        """Return the largest t for which the conjugate is finite at t * v (the dual scaling)."""

    def conjugate(self, v: Floats) -> float:
        """Return the conjugate of the penalty at v, which is in its domain."""

    def gap(self, u: Floats, v: Floats) -> float:
        """Return the Fenchel-Young gap penalty(u) + conjugate(v) - u.v, from non-negative terms."""


class BlockPart(SmoothPart, Protocol):
    """The penalty restricted to a subset of blocks."""

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return the mask of non-zero blocks."""

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of the given blocks, in block order."""

    def follow_barrier(self, h: Floats, u: Floats, g: Floats, size: float) -> None:
        """Move u close to the minimum of 1/2 u'hu - q'u + penalty(u) by a barrier method.

        u and g = q - hu are updated in place; ``size`` is roughly the objective value.
        """


class BlockPenalty(ConvexPenalty, Protocol):
    """A block-separable penalty."""

    @property
    def is_sparse(self) -> bool:
        """Whether it sets weights to 0, so that a working set pays."""

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return the mask of non-zero blocks."""

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of the given blocks, in block order."""

    def part(self, blocks: NDArray[np.intp]) -> BlockPart:
        """Return the penalty restricted to the given blocks, columns in block order."""

    def violations(self, u: Floats, v: Floats) -> Floats:
        """Return the violation of the optimality condition of each block that is 0."""

    def descend(
        self,
        blocks: NDArray[np.intp],
        h: Floats,
        u: Floats,
        g: Floats,
        *,
        enough: float,
        most: int,
    ) -> tuple[int, float]:
        """Run block coordinate descent on 1/2 u'hu - q'u + penalty(u); update u and g = q - hu."""


@dataclass(frozen=True)
class Evaluation:
    """Objective, gradient and curvature at given weights.

    Parameters
    ----------
    u : ndarray, shape (d,)
        For the problem's columns.
    b : float
        The best intercept.
    scores : ndarray, shape (n,)
        With the intercept.
    correlation : ndarray, shape (d,)
        Z'dual, minus the gradient of the loss in the weights.
    curvature : ndarray, shape (n,)
        The second derivative of the loss of each row.
    loss, primal : float
        The loss without and with the penalty.
    dual : ndarray, shape (n,)
        Minus the derivative of the loss of each row; it sums to 0 with an intercept.
    """

    u: Floats
    b: float
    scores: Floats
    correlation: Floats
    curvature: Floats
    loss: float
    primal: float
    dual: Floats

    def certified(
        self, problem: Problem, lane: Lane, penalty: ConvexPenalty, tol: float
    ) -> CertifiedSolution:
        """Return the weights with their certificate, from the dual-scaled residual."""
        y, c, loss = problem.targets(lane), problem.costs(lane), problem.loss
        z, v = self.dual, self.correlation
        dual_scaling = penalty.dual_scaling(v)
        if np.isfinite(dual_scaling):
            scaling = min(FEASIBLE_RATIO * dual_scaling, _best_scaling(loss, y, c, z))
            z, v = scaling * z, scaling * v
        gap = float(np.maximum(loss.gap(y, self.scores, c, z), 0.0).sum()) + penalty.gap(self.u, v)
        dual = loss.dual_total(y, c, z) - penalty.conjugate(v)
        if not gap < self.primal:  # 0 is a bound too
            z, dual, gap = np.zeros_like(z), 0.0, self.primal
        return self.certified_solution(Certificate(self.primal, dual, gap, tol, convexity=0.0), z)

    def certified_solution(self, certificate: Certificate, dual: Floats) -> CertifiedSolution:
        """Return the weights with a given certificate and dual point."""
        return CertifiedSolution(
            self.u[:, None],
            np.array([self.b]),
            self.scores[:, None],
            [certificate],
            dual[:, None],
        )


def correlation_at(problem: Problem, lane: Lane, u: Floats) -> Floats:
    """Return the correlations Z'z, minus the gradient of the loss in the weights."""
    return _evaluate(problem, lane, u, 0.0).correlation


def evaluate(problem: Problem, lane: Lane, penalty: ConvexPenalty, u: Floats) -> Evaluation:
    """Evaluate objective, gradient and curvature at u, with two passes over the rows.

    Values that are not finite raise a ValueError.
    """
    return _evaluate(problem, lane, u, penalty.value(u))


def _evaluate(problem: Problem, lane: Lane, u: Floats, penalty: float) -> Evaluation:
    loss: SmoothLoss = problem.loss  # type: ignore[assignment]  # block penalties take these only
    y, c = problem.targets(lane), problem.costs(lane)
    scores = problem.matvec(u[:, None])[:, 0]
    b = loss.best_intercept(y, scores, c) if problem.fit_intercept else 0.0
    scores += b
    if problem.fit_intercept and loss.name == "squared_error":  # what rounding left
        rest = loss.best_intercept(y, scores, c)
        b, scores = b + rest, scores + rest
    gradient, curvature = loss.derivatives(y, scores, c)
    total = loss.total(y, scores, c)
    dual = balanced(loss, y, c, -gradient) if problem.fit_intercept else -gradient
    correlation = problem.rmatvec(dual[:, None])[:, 0]
    if not (np.isfinite(total + penalty) and np.isfinite(correlation).all()):
        raise ValueError(
            "The objective or its gradient overflowed: X, y or sample_weight and alpha are too "
            "far from 1 for float64. Use standardize=True, and y in other units."
        )
    return Evaluation(u, b, scores, correlation, curvature, total, total + penalty, dual)


def balanced(loss: Loss, y: Floats, c: Floats, z: Floats) -> Floats:
    """Return z clipped to its domain and rescaled to sum 0: the heavier sign is scaled down."""
    z = loss.clip_dual(y, c, z)
    up, down = float(z[z > 0].sum()), -float(z[z < 0].sum())
    least = min(up, down)
    return np.where(z > 0, z * (least / up if up > 0 else 1.0), z * (least / down if down else 1.0))


def _best_scaling(loss: Loss, y: Floats, c: Floats, z: Floats) -> float:
    """Return the multiple of z with the largest dual value if the penalty has conjugate 0."""
    if loss.name != "squared_error":
        return 1.0
    used = c > 0
    square = float((z[used] ** 2 / c[used]).sum())
    return max(1.0, float(z @ y) / square) if square > 0 else 1.0
