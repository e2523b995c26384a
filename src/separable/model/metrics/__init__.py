"""Metrics of predictions, and the evaluation of a model."""

from __future__ import annotations

import warnings
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

if not TYPE_CHECKING:
    _lazy = lazy_names(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        if name != "Answers":
            return _lazy(name)
        text = "separable.model.metrics.Answers is now called Predictions. Use that name."
        warnings.warn(text, FutureWarning, stacklevel=2)
        globals()[name] = _lazy("Predictions")  # so that it warns once
        return globals()[name]
