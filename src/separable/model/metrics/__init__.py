"""Metrics of predictions, and the evaluation of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.model.metrics.metric_registry import (
        METRICS,
        Metric,
        Predictions,
        UndefinedMetric,
    )

_HOMES = {
    "METRICS": "separable.model.metrics.metric_registry",
    "Predictions": "separable.model.metrics.metric_registry",
    "Metric": "separable.model.metrics.metric_registry",
    "UndefinedMetric": "separable.model.metrics.metric_registry",
}

__all__ = ["METRICS", "Metric", "Predictions", "UndefinedMetric"]

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
