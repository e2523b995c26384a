"""Metrics of predictions, and the evaluation of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.model.metrics.registry import METRICS, Answers, Metric, UndefinedMetric

_HOMES = {
    "METRICS": "separable.model.metrics.registry",
    "Answers": "separable.model.metrics.registry",
    "Metric": "separable.model.metrics.registry",
    "UndefinedMetric": "separable.model.metrics.registry",
}

__all__ = ["METRICS", "Answers", "Metric", "UndefinedMetric"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
