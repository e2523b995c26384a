"""Judging weights under a penalty that is a sum over blocks, in float64 and from the rows."""

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
    """What a certificate asks of a penalty."""

    def value(self, u: Floats) -> float:
        """Return the penalty."""

    def dual_scaling(self, v: Floats) -> float:
        """Return how many times v has a conjugate that is finite."""

    def conjugate(self, v: Floats) -> float:
        """Return the conjugate of the penalty at v, which is in reach."""

    def gap(self, u: Floats, v: Floats) -> float:
        """Return penalty(u) + conjugate(v) - u.v, from terms that are not negative."""


class BlockPart(SmoothPart, Protocol):
    """The penalty of some blocks."""

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return which blocks are not 0."""

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of some blocks, one block after the other."""

    def follow_barrier(self, h: Floats, u: Floats, g: Floats, size: float) -> None:
        """Bring u close to the minimum of 1/2 u'hu and the penalty, if an interior point can.

        u and its pull g are changed; ``size`` is the value of the objective, about.
        """


class BlockPenalty(ConvexPenalty, Protocol):
    """A penalty that is a sum over blocks of weights."""

    @property
    def is_sparse(self) -> bool:
        """Whether it sets weights to 0, so that few columns do the work."""

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return which blocks are not 0."""

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of some blocks, one block after the other."""

    def part(self, blocks: NDArray[np.intp]) -> BlockPart:
        """Return the penalty of some blocks, of their columns one after the other."""

    def violations(self, u: Floats, v: Floats) -> Floats:
        """Return of each block that is 0 how far its pull is beyond what holds it there."""

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
        """Pass over some blocks of 1/2 u'hu, given u and its pull g; change both."""


@dataclass(frozen=True)
class Evaluation:
    """What rows say of weights.

    Parameters
    ----------
    u : ndarray, shape (d,)
        Of the problem's columns.
    b : float
        The best intercept.
    scores : ndarray, shape (n,)
        With the intercept.
    correlation : ndarray, shape (d,)
        Minus the slope of the loss along each weight.
    curvature : ndarray, shape (n,)
        The second derivative of the loss of each row.
    loss, primal : float
        The loss, and with the penalty.
    dual : ndarray, shape (n,)
        Minus the slope of the loss of each row; of sum 0 with an intercept, to the last digit.
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
        """Return the weights with their certificate: the slopes, made feasible, are the dual."""
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
        """Return the weights with what is said of them."""
        return CertifiedSolution(
            self.u[:, None],
            np.array([self.b]),
            self.scores[:, None],
            [certificate],
            dual[:, None],
        )


def correlation_at(problem: Problem, lane: Lane, u: Floats) -> Floats:
    """Return minus the slope of the loss along each weight."""
    return _evaluate(problem, lane, u, 0.0).correlation


def evaluate(problem: Problem, lane: Lane, penalty: ConvexPenalty, u: Floats) -> Evaluation:
    """Read the rows once for the scores of weights and once for their pull.

    What is not finite is refused: no solver would end with it.
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
    """Return z in the range of its loss with a sum of 0: the heavier sign is scaled down."""
    z = loss.clip_dual(y, c, z)
    up, down = float(z[z > 0].sum()), -float(z[z < 0].sum())
    least = min(up, down)
    return np.where(z > 0, z * (least / up if up > 0 else 1.0), z * (least / down if down else 1.0))


def _best_scaling(loss: Loss, y: Floats, c: Floats, z: Floats) -> float:
    """Return the multiple of z with the best dual value, where the conjugate is 0."""
    if loss.name != "squared_error":
        return 1.0
    used = c > 0
    square = float((z[used] ** 2 / c[used]).sum())
    return max(1.0, float(z @ y) / square) if square > 0 else 1.0
