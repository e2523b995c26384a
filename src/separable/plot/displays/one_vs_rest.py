"""Labels and scores of a classifier for one-vs-rest curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metrics.metric_case import ClassCase, case_of
from separable.model.metrics.metric_registry import Answers
from separable.model.predict.probability import classes_of
from separable.plot.style.fitted import best_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.typing import Floats


__all__ = ["case_from_estimator", "case_from_scores", "checked", "ranked", "scored_classes"]


def case_from_estimator(
    estimator: Any, X: Any, y: Any, positive: Any = None, sample_weight: Any = None
) -> ClassCase:
    """Return the labels of rows beside all that a fitted classifier says of them."""
    from separable.fitting.predictions import ask

    fitted = best_of(estimator)
    if hasattr(fitted, "evaluate") and not hasattr(fitted, "fit"):  # a LinearModel or VotedModel
        from separable.model.metrics.metric_registry import predictions_of

        predictions = predictions_of(fitted, X)
    else:
        result = ask(fitted, X)
        predictions = Answers(
            result.predictions, result.decision, result.probabilities, result.classes
        )
    if predictions.classes is None:
        raise ValueError(
            f"{type(fitted).__name__} predicts numbers. This curve needs a classifier."
        )
    return checked(case_of(y, predictions, sample_weight, positive))


def case_from_scores(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    probabilities: bool = False,
) -> ClassCase:
    """Return labels beside scores or probabilities.

    Parameters
    ----------
    y : array-like, shape (n,)
    scores : array-like, shape (n,) or (n, K)
        Larger for the second of two classes, or one column a class.
    classes : sequence, optional
        The sorted labels of the columns. By default those of y.
    positive : object, optional
    sample_weight : array-like, shape (n,), optional
    probabilities : bool, default False
        Whether the scores are probabilities.
    """
    labels = np.unique(np.asarray(y)) if classes is None else np.asarray(classes)
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"scores must be numbers, one per row or one column per class: {error}. For predicted "
            "classes use ConfusionMatrixDisplay.from_predictions."
        ) from None
    wide = values.shape[1] if values.ndim == 2 else 2
    if values.ndim not in (1, 2) or len(labels) != wide:
        raise ValueError(
            f"scores of shape {values.shape} do not fit {len(labels)} classes: two classes need "
            "one score per row, (n,), or two columns, more classes one column each. Name classes "
            "that are not in y with classes=."
        )
    if probabilities and not ((values >= 0) & (values <= 1)).all():
        raise ValueError(
            f"Probabilities lie between 0 and 1. Got {values.min():g} to {values.max():g}."
        )
    columns = values.reshape(len(values), -1)
    if probabilities:
        chances = np.column_stack([1 - values, values]) if values.ndim == 1 else values
        predicted = labels[chances.argmax(axis=1)]
        predictions = Answers(predicted, None, chances, labels)
    elif wide == 2 and values.ndim == 2:
        step = values[:, 1] - values[:, 0]
        predictions = Answers(classes_of(step[:, None], labels), step, None, labels)
    else:
        predictions = Answers(classes_of(columns, labels), values, None, labels)
    return checked(case_of(y, predictions, sample_weight, positive))


def checked(case: Any) -> ClassCase:
    """Return a case that has curves: of classes, and of two of them or more."""
    assert isinstance(case, ClassCase)
    if len(case.present) < 2:
        raise ValueError(
            f"Every row is {case.labels[case.present[0]]!r}. A curve needs rows of that class and "
            "of another."
        )
    return case


def scored_classes(case: ClassCase) -> list[int]:
    """Return the classes that have a curve: the positive one, or all that rows are of."""
    if case.positive is not None:
        if not case.support[case.positive]:
            raise ValueError(f"No row is {case.labels[case.positive]!r}, the positive class.")
        return [case.positive]
    return [index for index in range(case.n_known) if case.support[index]]


def ranked(case: ClassCase, index: int) -> tuple[Floats, Floats, Floats]:
    """Return thresholds, falling, and the weight of rows at or above each: of the class, of others.

    Of equal scores there is one threshold.
    """
    scores = case.score_of(index)
    if scores is None:
        raise ValueError("The model gives neither scores nor probabilities, so there is no curve.")
    order = np.argsort(-scores, kind="stable")
    sorted_scores = scores[order]
    last = np.flatnonzero(np.append(sorted_scores[1:] != sorted_scores[:-1], True))
    is_class = (case.y_true == index)[order]
    weight = case.weight[order]
    ours = np.cumsum(np.where(is_class, weight, 0.0))[last]
    others = np.cumsum(np.where(is_class, 0.0, weight))[last]
    return sorted_scores[last], ours, others
