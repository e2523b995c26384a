"""Smooth objectives of (n, K) scores: the binary losses (K = 1) and the softmax.

    penalty/2 |u|^2 + sum_i c_i loss_i(s_i)

Without a penalty, C = inf, c is the sample weight.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify_better
from separable.certified.duality.unpenalized import certify_unpenalized
from separable.certified.problem import Lane, Problem
from separable.losses.row_losses import RowModel
from separable.typing import Floats

#: Shortest step of the line search.
MIN_STEP = 1e-10
#: Relative rounding error of the objective.
ROUNDING = 1e-15
#: A dual point may leave its domain by this fraction of its size.
MAX_CLIPPED = 1e-9


class Objective:
    """The objective of a lane with a smooth loss, over the classes that the lane has."""

    def __init__(self, problem: Problem, lane: Lane) -> None:
        self.problem, self.lane = problem, lane
        self.fit_intercept = problem.fit_intercept
        self.penalty = 1.0 if math.isfinite(lane.C) else 0.0
        rows = problem.row_losses(lane if self.penalty else replace(lane, C=problem.value))
        #: Classes of the problem, those of the lane, and the losses of these.
        self.n_classes = rows.width
        self.present, self.rows = rows.of_present()
        self.width = self.rows.width

    def __call__(self, u: Floats, s: Floats) -> float:
        """Return the objective."""
        return 0.5 * self.penalty * float(np.vdot(u, u)) + self.rows.total(s)

    def best_intercepts(self, s: Floats) -> Floats:
        """Return the optimal intercepts for scores s; 0 without intercepts."""
        return self.rows.best_intercepts(s) if self.fit_intercept else np.zeros(self.width)

    def dual_point(self, model: RowModel, ds: Floats) -> tuple[Floats, bool]:
        """Return the dual point of the linearised gradient after a change of scores.

        Also whether it was feasible: then its weights are those at the end of the step.
        """
        rows = self.rows
        dual = model.moved(model.dual, ds)
        excess = rows.excess(dual)
        dual = rows.clip(dual)
        return dual, excess <= MAX_CLIPPED * float(np.abs(rows.dual_variables(dual)).sum())

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
            width=self.n_classes,
        )

    def spread(self, columns: Floats, empty: float = 0.0) -> Floats:
        """Return columns of all classes, ``empty`` for those absent from the lane."""
        if self.width == self.n_classes:
            return columns
        every = np.full((len(columns), self.n_classes), empty)
        every[:, self.present] = columns
        return every

    def start(self, weights: Floats) -> Floats:
        """Return the columns of a warm start that count here, with mean 0 over the classes."""
        if self.width == 1:
            return weights
        current = weights[:, self.present]
        centred: Floats = current - current.mean(axis=1, keepdims=True)
        return centred

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
