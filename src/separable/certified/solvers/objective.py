"""Smooth objectives of (n, K) scores: the binary losses (K = 1) and the softmax.

    penalty/2 |u|^2 + sum_i c_i loss_i(s_i)

Without a penalty, C = inf, c is the sample weight.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.gap import certify_better
from separable.certified.duality.unpenalized import certify_unpenalized
from separable.certified.problem import TOGETHER
from separable.losses.softmax import (
    best_intercepts,
    divergences,
    entropies,
    hessian_product,
    log_softmax,
    losses,
    totals,
)

if TYPE_CHECKING:
    from separable.certified.duality.certificate import CertifiedSolution
    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

__all__ = ["Objective", "RowModel", "objective_of"]

#: Shortest step of the line search.
MIN_STEP = 1e-10
#: Relative rounding error of the objective.
ROUNDING = 1e-15
#: A dual point may leave its domain by this fraction of its size.
MAX_CLIPPED = 1e-9


def objective_of(problem: Problem, lane: Lane) -> Objective:
    """Return the objective of a lane of a smooth loss."""
    return (_Softmax if lane.target == TOGETHER else _Binary)(problem, lane)


@dataclass(frozen=True)
class RowModel:
    """The second-order model of the losses at some scores.

    Parameters
    ----------
    gradient, curvature : ndarray, shape (n, K)
        First and second derivatives in each score.
    c : ndarray, shape (n,)
    q : ndarray, shape (n, K), or None
        Probabilities of the classes; None: K = 1.
    """

    gradient: Floats
    curvature: Floats
    c: Floats
    q: Floats | None = None

    def product(self, ds: Floats) -> Floats:
        """Return the Hessian product of each row."""
        return self.curvature * ds if self.q is None else hessian_product(self.c, self.q, ds)

    def coupling(self, k: int, other: int) -> Floats:
        """Return minus the mixed second derivative of two different scores, (n,)."""
        assert self.q is not None
        return self.c * self.q[:, k] * self.q[:, other]


class Objective(ABC):
    """An objective of weights and scores, its derivatives, dual points and certificates.

    Parameters
    ----------
    problem : Problem
    lane : Lane
    """

    def __init__(self, problem: Problem, lane: Lane) -> None:
        self.problem, self.lane = problem, lane
        self.fit_intercept = problem.fit_intercept
        self.penalty = 1.0 if math.isfinite(lane.C) else 0.0
        self.c = problem.costs(lane if self.penalty else replace(lane, C=problem.value))

    #: Columns of weights and scores.
    width: int

    def __call__(self, u: Floats, s: Floats) -> float:
        """Return the objective."""
        return 0.5 * self.penalty * float(np.vdot(u, u)) + self.loss(s)

    @abstractmethod
    def loss(self, s: Floats) -> float:
        """Return the sum of the losses."""

    @abstractmethod
    def best_intercepts(self, s: Floats) -> Floats:
        """Return the optimal intercepts for scores s."""

    @abstractmethod
    def expand(self, s: Floats) -> RowModel:
        """Return the second-order model of the losses at scores s."""

    @abstractmethod
    def own_dual(self, model: RowModel) -> Floats:
        """Return the dual point of the gradient of the losses."""

    def dual_point(self, model: RowModel, ds: Floats) -> tuple[Floats, bool]:
        """Return the dual point of the linearised gradient after a change of scores.

        Also whether it was feasible: then its weights are those at the end of the step.
        """
        dual = self.moved(self.own_dual(model), model, ds)
        excess = self.excess(dual)
        dual = self.clip(dual)
        return dual, excess <= MAX_CLIPPED * float(np.abs(self.residuals(dual)).sum())

    @abstractmethod
    def gap(self, dual: Floats, s: Floats) -> float:
        """Return the sum of the gaps of the rows."""

    @abstractmethod
    def dual(self, dual: Floats) -> float:
        """Return the dual value of the losses."""

    @abstractmethod
    def residuals(self, dual: Floats) -> Floats:
        """Return the gradient of each row in its scores that a dual point stands for."""

    @abstractmethod
    def moved(self, dual: Floats, model: RowModel, ds: Floats) -> Floats:
        """Return a dual point after a change of scores, linearised."""

    @abstractmethod
    def clip(self, dual: Floats) -> Floats:
        """Return a dual point clipped to its domain."""

    @abstractmethod
    def excess(self, dual: Floats) -> float:
        """Return how far a dual point is outside its domain."""

    def certify(self, dual: Floats, weights: Floats, tol: float) -> CertifiedSolution:
        """Certify weights for the problem's columns, or those of the dual point."""
        if self.penalty:
            p, every = self.spread(dual), self.spread(weights)
            return certify_better(self.problem, self.lane, p, tol, every)
        found = certify_unpenalized(self, dual, weights, tol)
        return replace(
            found,
            weights=self.spread(found.weights),
            intercept=self.spread(found.intercept[None, :], -np.inf)[0],
            scores=self.spread(found.scores, -np.inf),
            dual=self.spread(found.dual),
            width=len(self.spread(found.intercept[None, :])[0]),
        )

    def spread(self, columns: Floats, empty: float = 0.0) -> Floats:
        """Return columns of all classes, ``empty`` for those absent from the lane."""
        del empty
        return columns

    def start(self, weights: Floats) -> Floats:
        """Return the columns of a warm start that count here."""
        return weights

    def backtrack(
        self, u: Floats, du: Floats, s: Floats, ds: Floats, value: float, decrease: float
    ) -> tuple[float, float]:
        """Return the step length of a backtracking line search, and the new objective.

        ``value`` is the current objective, ``decrease`` the predicted first-order decrease.
        """
        length, new = 1.0, np.inf
        while length >= MIN_STEP and decrease >= 0:
            new = self(u + length * du, s + length * ds)
            if new <= value - 1e-4 * length * decrease + ROUNDING * value:
                return length, new
            length *= 0.5
        return 0.0, new


class _Binary(Objective):
    """A smooth loss of one score a row."""

    width = 1

    def __init__(self, problem: Problem, lane: Lane) -> None:
        super().__init__(problem, lane)
        self.y = problem.targets(lane)
        self._loss = problem.loss

    def loss(self, s: Floats) -> float:
        return self._loss.total(self.y, s[:, 0], self.c)

    def best_intercepts(self, s: Floats) -> Floats:
        if not self.fit_intercept:
            return np.zeros(1)
        return np.array([self._loss.best_intercept(self.y, s[:, 0], self.c)])

    def expand(self, s: Floats) -> RowModel:
        gradient, curvature = self._loss.derivatives(self.y, s[:, 0], self.c)
        return RowModel(gradient[:, None], curvature[:, None], self.c)

    def own_dual(self, model: RowModel) -> Floats:
        return -model.gradient

    def dual(self, dual: Floats) -> float:
        return self._loss.dual_total(self.y, self.c, dual[:, 0])

    def residuals(self, dual: Floats) -> Floats:
        return -dual

    def moved(self, dual: Floats, model: RowModel, ds: Floats) -> Floats:
        return dual - model.product(ds)

    def clip(self, dual: Floats) -> Floats:
        return self._loss.clip_dual(self.y, self.c, dual[:, 0])[:, None]

    def excess(self, dual: Floats) -> float:
        return float(np.abs(dual - self.clip(dual)).sum())

    def gap(self, dual: Floats, s: Floats) -> float:
        gaps = self._loss.gap(self.y, s[:, 0], self.c, dual[:, 0])
        return float(np.maximum(gaps, 0.0).sum())


class _Softmax(Objective):
    """The multinomial log loss of the classes in a lane; its dual points are probabilities."""

    def __init__(self, problem: Problem, lane: Lane) -> None:
        super().__init__(problem, lane)
        y = problem.target.astype(np.int32, copy=False)
        self._present = np.flatnonzero(totals(y, self.c, problem.n_classes) > 0)
        index = np.zeros(problem.n_classes, np.int32)
        index[self._present] = np.arange(len(self._present), dtype=np.int32)
        self.y, self.width = index[y], len(self._present)

    def loss(self, s: Floats) -> float:
        return float(self.c @ losses(self.y, s))

    def best_intercepts(self, s: Floats) -> Floats:
        return best_intercepts(self.y, s, self.c) if self.fit_intercept else np.zeros(self.width)

    def expand(self, s: Floats) -> RowModel:
        with np.errstate(under="ignore"):
            q = np.exp(log_softmax(s)[0])
        return RowModel(self.residuals(q), self.c[:, None] * q * (1.0 - q), self.c, q)

    def own_dual(self, model: RowModel) -> Floats:
        assert model.q is not None
        return model.q

    def dual(self, dual: Floats) -> float:
        return float(self.c @ entropies(dual))

    def residuals(self, dual: Floats) -> Floats:
        r = dual.copy()
        index = np.arange(len(r))
        r[index, self.y] = 0.0
        r[index, self.y] = -(r @ np.ones(r.shape[1]))  # without cancellation
        r *= self.c[:, None]
        return r

    def moved(self, dual: Floats, model: RowModel, ds: Floats) -> Floats:
        assert model.q is not None
        return dual + hessian_product(np.ones(len(ds)), model.q, ds)

    def clip(self, dual: Floats) -> Floats:
        p = np.maximum(dual, 0.0)
        p /= p.sum(axis=1, keepdims=True)
        return p

    def excess(self, dual: Floats) -> float:
        return -float(self.c @ np.minimum(dual, 0.0).sum(axis=1))

    def gap(self, dual: Floats, s: Floats) -> float:
        return float(self.c @ divergences(dual, s))

    def start(self, weights: Floats) -> Floats:
        current = weights[:, self._present]
        centred: Floats = current - current.mean(axis=1, keepdims=True)
        return centred

    def spread(self, columns: Floats, empty: float = 0.0) -> Floats:
        if self.width == self.problem.n_classes:
            return columns
        every = np.full((len(columns), self.problem.n_classes), empty)
        every[:, self._present] = columns
        return every
