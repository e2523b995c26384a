"""Regression metrics with sample weights; several targets are averaged.

Values are divided by the largest before summing, so that squares do not overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.model.metrics.metric_registry import UndefinedMetric

if TYPE_CHECKING:
    from separable.model.metrics.metric_case import NumberCase
    from separable.typing import Floats


__all__ = ["mae", "mape", "median_ae", "r2", "rmse", "row_values", "weighted_mean"]


def r2(case: NumberCase) -> float:
    """Return the coefficient of determination, 1 - (RMSE / standard deviation)^2."""
    y_true = case.y_true
    if (y_true.min(axis=0) == y_true.max(axis=0)).any():
        raise UndefinedMetric("all true values are the same")
    spread = _root_mean_square(y_true - weighted_mean(y_true, case.weight), case.weight)
    ratio = _root_mean_square(case.predicted - y_true, case.weight) / spread
    with np.errstate(over="ignore"):
        return float(np.mean(1 - ratio * ratio))


def rmse(case: NumberCase) -> float:
    """Return the root mean squared error."""
    return float(_root_mean_square(case.predicted - case.y_true, case.weight).mean())


def mae(case: NumberCase) -> float:
    """Return the mean absolute error."""
    return float(weighted_mean(np.abs(case.predicted - case.y_true), case.weight).mean())


def median_ae(case: NumberCase) -> float:
    """Return the median absolute error, averaging the two middle values if needed."""
    errors = np.abs(case.predicted - case.y_true)
    return float(np.mean([_median(column, case.weight) for column in errors.T]))


def mape(case: NumberCase) -> float:
    """Return the mean absolute relative error."""
    return float(weighted_mean(_relative_errors(case), case.weight).mean())


def row_values(name: str, case: NumberCase) -> Floats | None:
    """Return the per-row values of a metric that is a mean over rows, else None."""
    if name == "mae":
        errors = np.abs(case.predicted - case.y_true)
    elif name == "mape":
        errors = _relative_errors(case)
    else:
        return None
    means: Floats = errors.mean(axis=1)
    return means


def weighted_mean(values: Floats, weight: Floats) -> Floats:
    """Return the weighted mean of each column."""
    mean: Floats = (weight / weight.sum()) @ values
    return mean


def _relative_errors(case: NumberCase) -> Floats:
    if not case.y_true.all():
        raise UndefinedMetric("a true value is 0, and relative errors are undefined")
    with np.errstate(over="ignore"):
        return np.abs((case.predicted - case.y_true) / case.y_true)


def _root_mean_square(errors: Floats, weight: Floats) -> Floats:
    largest = np.abs(errors).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    root: Floats = largest * np.sqrt(weighted_mean((errors / scale) ** 2, weight))
    return root


def _median(values: Floats, weight: Floats) -> float:
    """Return the weighted median."""
    order = np.argsort(values, kind="stable")
    ranked, below = values[order], np.cumsum(weight[order])
    half = below[-1] / 2
    low = int(np.searchsorted(below, half, side="left"))
    high = int(np.searchsorted(below, half, side="right"))
    return float((ranked[low] + ranked[min(high, len(ranked) - 1)]) / 2)
