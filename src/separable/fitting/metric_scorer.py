"""The metrics of `separable.model.metrics.metric_registry` as scorers of cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.predictions import Answers as Asked
from separable.fitting.predictions import ask, spread
from separable.model.metrics.metric_registry import METRICS, Answers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.metrics.metric_registry import Metric

__all__ = ["MetricScorer", "metric_scorer"]

#: A score that no other reaches.
LARGE = 1e300


@dataclass(frozen=True, eq=False)
class MetricScorer:
    """A scorer that needs nothing but the answers for held-out rows; larger is better.

    Parameters
    ----------
    metric : Metric
    classes : ndarray or None
        All classes there are, also those that a fold has not learned.
    positive : object
        The class that precision, recall and the like are about.
    """

    metric: Metric
    classes: NDArray[Any] | None = None
    positive: Any = None

    #: It asks no fitted estimator for more than its answers.
    asks_answers_only = True

    @property
    def __name__(self) -> str:
        return self.metric.name

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return 1.0 if self.metric.greater_is_better else -1.0

    def check(self, estimator: Any) -> None:
        """Refuse, before anything is fitted, an estimator that cannot give what is measured."""
        if self.metric.needs == "probabilities" and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} gives no probabilities, which {self.metric.name} "
                "needs."
            )

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of an estimator, or of its answers, on some rows."""
        asked: Asked = getattr(estimator, "answers", None) or ask(estimator, X)
        asked = spread(asked, self.classes)
        scores = asked.decision
        if scores is not None and self.classes is not None:  # -inf: a class that was not learned
            scores = np.nan_to_num(scores, nan=np.nan, neginf=-LARGE, posinf=LARGE)
        answers = Answers(asked.predictions, scores, asked.probabilities, asked.classes)
        value = self.metric(np.asarray(y), answers, weight=sample_weight, positive=self.positive)
        return self.sign * float(value)


def metric_scorer(scoring: Any, y: Any, positive: Any = None) -> Any:
    """Return the scorer of a metric by its name; whatever else is given stays as it is.

    Parameters
    ----------
    scoring : object
    y : array-like
        The whole target: its classes are those there are.
    positive : object
    """
    metric = METRICS.get(scoring) if isinstance(scoring, str) else None
    if metric is None:
        return scoring
    classes = np.unique(np.asarray(y)) if metric.task == "classification" else None
    return MetricScorer(metric, classes, positive)
