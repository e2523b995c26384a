"""Check that the support stays the same when a row is left out, for l1 penalties.

A leave-one-out step is valid while the support and the signs do not change. A weight stays 0 while
the gradient of the loss is at most l1 in size; the gradient is updated to first order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separable.certified.loo.changes import Deviations
from separable.certified.loo.loo_rows import LeftOutRows, row_dots
from separable.certified.loo.smooth_loo import SmoothFit
from separable.certified.problem import Columns, Problem
from separable.data.rows import Rows
from separable.linalg.design_matrix import take_columns
from separable.typing import Floats, Indices

#: Violations up to this fraction of l1 are rounding.
ROUNDING = 1e-9


def columns_alone(problem: Problem, chosen: Indices) -> Problem:
    """Return the problem of some columns; one of zeros stands in where there is none."""
    rows, columns = problem.rows, problem.columns
    if len(chosen) == 0:
        none = Rows(np.zeros((rows.n_rows, 1)), 1)
        return replace(problem, rows=none, columns=Columns(), extent=None)
    shift = None if columns.shift is None else columns.shift[chosen]
    scale = None if columns.scale is None else columns.scale[chosen]
    columns = replace(columns, shift=shift, scale=scale)
    return replace(problem, rows=take_columns(rows, chosen), columns=columns, extent=None)


class PenalizedColumns:
    """Says of steps how far they are from keeping weights at 0, or on their side of it.

    Parameters
    ----------
    problem : Problem
        Of all columns.
    fit : SmoothFit
        Of those with a weight.
    free : ndarray of int
        Which these are.
    """

    def __init__(self, problem: Problem, fit: SmoothFit, free: Indices, l1: float) -> None:
        self._fit, self._l1 = fit, l1
        self._positive = problem.penalty.positive
        self._weights = fit.weights[:, 0]
        self._sign = np.sign(self._weights)
        others = np.setdiff1d(np.arange(problem.rows.n_features), free)
        if problem.columns.scale is not None:
            others = others[problem.columns.scale[others] > 0]  # constant columns have no weight
        model = fit.losses.expand(fit.s)
        self._gradient, self._k = model.gradient[:, 0], model.curvature[:, 0]
        self._others: LeftOutRows | None = None
        if len(others):
            self._look_at(
                LeftOutRows(
                    columns_alone(replace(problem, fit_intercept=False), others), by_rows=False
                )
            )

    def _look_at(self, rows: LeftOutRows) -> None:
        """Prepare the gradients of zero weights."""
        fit = self._fit
        self._others = rows
        d = rows.size
        self._cross = np.zeros((d, fit.rows.size))
        self._squares, self._at = np.zeros(d), np.zeros(d)
        by_class = np.zeros((1 if fit.changes.factor is None else fit.changes.factor.shape[1], d))
        for part in rows.each_part():
            x = rows.take(part)
            bent = self._k[part, None] * x
            self._cross += bent.T @ fit.rows.take(part)
            self._squares += row_dots(bent.T, x.T)
            self._at += self._gradient[part] @ x
        if fit.changes.factor is not None:
            by_class = fit.changes.sums_by_class(rows, self._gradient)
        self._by_class = by_class
        self._allowed = ROUNDING * self._l1 + np.maximum(self._beyond(self._at, self._l1), 0.0)
        self._deviations = Deviations(rows, fit.changes) if fit.changes.is_standardized else None

    def _beyond(self, gradient: Floats, l1: Floats | float) -> Floats:
        """Return the violation of the optimality condition of zero weights."""
        beyond: Floats = (-gradient if self._positive else np.abs(gradient)) - l1
        return beyond

    def __call__(self, part: Indices, x: Floats, delta: Floats) -> Floats:
        """Return the approximate error of the score of each row; 0: the support stays the same."""
        m = len(self._sign)
        passed = np.maximum(-self._sign * (self._weights + delta[:, :m]), 0.0)
        off = np.abs(x[:, :m] * passed).max(axis=1)
        off = np.where(passed.any(axis=1), np.maximum(off, np.finfo(float).tiny), 0.0)
        if self._others is None:
            return off
        return np.maximum(off, self._leaving(part, x, delta))

    def _leaving(self, part: Indices, x: Floats, delta: Floats) -> Floats:
        """Return the same for weights that leave 0."""
        changes, others = self._fit.changes, self._others
        assert others is not None
        z = others.take(part)
        own = changes.own(part) * self._gradient[part] + self._k[part] * row_dots(x, delta)
        gradient = self._at + delta @ self._cross.T - own[:, None] * z
        if changes.factor is not None:
            gradient += (changes.factor[part] - 1.0) @ self._by_class
        l1 = self._l1 * changes.shares(part)[:, None]
        if self._deviations is not None:
            l1 = l1 * np.sqrt(self._deviations.without(part))
        beyond = np.maximum(self._beyond(gradient, l1) - self._allowed, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(beyond > 0, beyond / self._squares, 0.0)
        off = np.abs(z * size).max(axis=1)
        return np.where(beyond.any(axis=1), np.maximum(off, np.finfo(float).tiny), 0.0)
