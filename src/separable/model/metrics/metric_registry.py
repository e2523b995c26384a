"""Registry of metrics by name, for commands and searches.

This module is light to import; the formulas are in ``classification`` and ``regression``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from separable.model.kinds import Model
    from separable.model.metrics.metric_case import ClassCase, NumberCase
    from separable.model.predict.decision import Decision
    from separable.typing import Indices

__all__ = [
    "METRICS",
    "Metric",
    "Predictions",
    "UndefinedMetric",
    "metric_named",
    "predictions_from",
    "predictions_of",
]

Task: TypeAlias = Literal["classification", "regression"]
Needs: TypeAlias = Literal["labels", "scores", "probabilities", "numbers"]

HOMES: dict[Task, str] = {
    "classification": "separable.model.metrics.classification",
    "regression": "separable.model.metrics.regression",
}


class UndefinedMetric(ValueError):  # noqa: N818 # it is a fact about the rows, not a mistake
    """The metric is undefined for these rows or predictions, with the reason."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a model.

    Parameters
    ----------
    predicted : ndarray, shape (n,), or (n, k) for k numbers a row
    scores : ndarray of float64, optional
        Shape (n,), larger for ``classes[1]``, or (n, k), one per class.
    probabilities : ndarray of float64, shape (n, k), optional
        One per class.
    classes : ndarray, shape (k,), optional
        Sorted labels. None: the predictions are numbers.
    decision : Decision, optional
        Threshold of the predicted classes, with the costs of mistakes.
    """

    predicted: NDArray[Any]
    scores: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    classes: NDArray[Any] | None = None
    decision: Decision | None = None

    @property
    def task(self) -> Task:
        """Task of the predictions: classification or regression."""
        return "regression" if self.classes is None else "classification"

    def take(self, rows: Indices) -> Predictions:
        """Return the predictions for the given rows."""
        return Predictions(
            self.predicted[rows],
            None if self.scores is None else self.scores[rows],
            None if self.probabilities is None else self.probabilities[rows],
            self.classes,
            self.decision,
        )


def predictions_of(model: Model, X: Any) -> Predictions:
    """Return the predictions of a model for X; scores are computed once.

    Parameters
    ----------
    model : LinearModel or VotedModel
    X : array-like, sparse matrix, data frame or Rows, shape (n, d)
        With an encoder, anything that is not a numeric matrix is encoded first.

    Returns
    -------
    Predictions
    """
    return predictions_from(model, model.decision_function(X))


def predictions_from(model: Model, scores: NDArray[np.float64]) -> Predictions:
    """Return the predictions of a model from its scores, shape (n,) or (n, k)."""
    from separable.model.predict.probability import (
        classes_of,
        model_probabilities,
        predicted_numbers,
    )

    if model.classes is None:
        return Predictions(predicted_numbers(model, scores))
    square = scores.reshape(-1, model.n_scores)
    chances = model_probabilities(model, square)
    predicted = classes_of(square, model.classes, model.score_threshold)
    return Predictions(predicted, scores, chances, model.classes, model.decision)


@dataclass(frozen=True)
class Metric:
    """A metric of predictions.

    Call it: ``metric(y_true, predictions, weight=None, positive=None)``. It raises
    ``UndefinedMetric``, a ``ValueError``, if the metric is undefined for these rows.

    Parameters
    ----------
    name : str
        Name in parameters and options.
    task : {"classification", "regression"}
    greater_is_better : bool
        False for errors and losses.
    needs : {"labels", "scores", "probabilities", "numbers"}
        Kind of prediction it needs.
    text : str
        Name in tables.

    Examples
    --------
    >>> import numpy as np
    >>> from separable.model.metrics.metric_registry import METRICS, Predictions
    >>> predicted, classes = np.array(["ham", "spam", "ham"]), np.array(["ham", "spam"])
    >>> predictions = Predictions(predicted, classes=classes)
    >>> METRICS["recall"](["ham", "spam", "spam"], predictions)
    0.5
    """

    name: str
    task: Task
    greater_is_better: bool
    needs: Needs
    text: str

    def __call__(
        self,
        y_true: ArrayLike,
        predictions: Predictions,
        weight: ArrayLike | None = None,
        positive: Any = None,
    ) -> float:
        """Return the value of the metric.

        Parameters
        ----------
        y_true : array-like, shape (n,), or (n, k) for k numbers a row
            True classes or values.
        predictions : Predictions
        weight : array-like, shape (n,), optional
            Sample weights; rows of weight 0 are excluded.
        positive : object, optional
            Positive class for precision, recall, F1, ROC AUC and average precision. By default the
            second of two; for three or more the mean over the classes.
        """
        from separable.model.metrics.metric_case import case_of

        return self.of(case_of(y_true, predictions, weight, positive))

    def of(self, case: ClassCase | NumberCase) -> float:
        """Return the value of the metric for validated rows."""
        if case.task != self.task:
            kinds = {"classification": "classes", "regression": "numbers"}
            raise ValueError(
                f"{self.name} is a figure of {kinds[self.task]}, and the predictions are "
                f"{kinds[case.task]}. Use one of: {', '.join(_names(case.task))}."
            )
        value: float = getattr(import_module(HOMES[self.task]), self.name)(case)
        return value


def metric_named(name: str, task: Task | None = None) -> Metric:
    """Return a metric by name, for a task if given.

    Parameters
    ----------
    name : str
        Key of ``METRICS``.
    task : "classification" or "regression", optional
    """
    metric = METRICS.get(name)
    if metric is None or (task is not None and metric.task != task):
        what = "a metric" if task is None else f"a metric of {task}"
        raise ValueError(f"{name!r} is not {what}. There are: {', '.join(_names(task))}.")
    return metric


def _names(task: Task | None) -> list[str]:
    return [name for name, metric in METRICS.items() if task in (None, metric.task)]


def _metrics() -> dict[str, Metric]:
    labels: tuple[Task, bool, Needs] = ("classification", True, "labels")
    losses: tuple[Task, bool, Needs] = ("classification", False, "probabilities")
    scores: tuple[Task, bool, Needs] = ("classification", True, "scores")
    errors: tuple[Task, bool, Needs] = ("regression", False, "numbers")
    rows = [
        Metric("accuracy", *labels, "accuracy"),
        Metric("balanced_accuracy", *labels, "balanced accuracy"),
        Metric("precision", *labels, "precision"),
        Metric("recall", *labels, "recall"),
        Metric("f1", *labels, "F1"),
        Metric("f1_macro", *labels, "mean F1"),
        Metric("mcc", *labels, "Matthews correlation"),
        Metric("roc_auc", *scores, "ROC AUC"),
        Metric("average_precision", *scores, "average precision"),
        Metric("log_loss", *losses, "log loss"),
        Metric("brier", *losses, "Brier score"),
        Metric("r2", "regression", True, "numbers", "R2"),
        Metric("rmse", *errors, "root mean squared error"),
        Metric("mae", *errors, "mean absolute error"),
        Metric("median_ae", *errors, "median absolute error"),
        Metric("mape", *errors, "mean absolute percentage error"),
    ]
    return {metric.name: metric for metric in rows}


#: By name, in display order.
METRICS: dict[str, Metric] = _metrics()
