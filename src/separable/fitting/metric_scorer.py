"""The metrics of `separable.model.metrics.metric_registry` as scorers of cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.predictions import ask, spread
from separable.model.metrics.metric_registry import METRICS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.metrics.metric_registry import Metric, Predictions

__all__ = ["MetricScorer", "metric_scorer"]

#: Stands in for an infinite score.
LARGE = 1e300


@dataclass(frozen=True, eq=False)
class MetricScorer:
    """A scorer that needs only the predictions for held-out rows; larger is better.

    Parameters
    ----------
    metric : Metric
    classes : ndarray or None
        All classes, also those missing from the training rows of a fold.
    positive : object
        Positive class for precision, recall, f1, roc_auc and average_precision.
    """

    metric: Metric
    classes: NDArray[Any] | None = None
    positive: Any = None

    #: Whether predictions are enough, without the fitted estimator.
    needs_predictions_only = True

    @property
    def __name__(self) -> str:
        return self.metric.name

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return 1.0 if self.metric.greater_is_better else -1.0

    def check(self, estimator: Any) -> None:
        """Raise before anything is fitted if the estimator lacks the method the metric needs."""
        if self.metric.needs == "probabilities" and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} gives no probabilities, which {self.metric.name} "
                "needs."
            )

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of an estimator, or of its known predictions, on held-out rows."""
        held_out: Predictions = getattr(estimator, "held_out", None) or ask(estimator, X)
        held_out = spread(held_out, self.classes)
        scores = held_out.scores
        if scores is not None and self.classes is not None:  # -inf: a class that was not learned
            scores = np.nan_to_num(scores, nan=np.nan, neginf=-LARGE, posinf=LARGE)
        held_out = replace(held_out, scores=scores)
        value = self.metric(np.asarray(y), held_out, weight=sample_weight, positive=self.positive)
        return self.sign * float(value)


def metric_scorer(scoring: Any, y: Any, positive: Any = None) -> Any:
    """Return the scorer of a metric given by name; return anything else unchanged.

    Parameters
    ----------
    scoring : object
    y : array-like
        The whole target, which has all classes.
    positive : object
    """
    metric = METRICS.get(scoring) if isinstance(scoring, str) else None
    if metric is None:
        return scoring
    classes = np.unique(np.asarray(y)) if metric.task == "classification" else None
    return MetricScorer(metric, classes, positive)
