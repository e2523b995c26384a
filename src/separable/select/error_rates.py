"""The error rate: the share of answers that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from separable.fitting.targets import check_labels, check_sample_weight

__all__ = ["error_rate"]


def error_rate(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Return the share of rows whose class was not predicted.

    It is 1 - accuracy, the mean of the 0-1 loss. The answer costs 1 where it is wrong, whichever
    class it is and however close it was.

    Parameters
    ----------
    y : array-like of shape (n,)
        The class of each row.
    predicted : array-like of shape (n,)
        What was answered.
    sample_weight : array-like of shape (n,), optional
        Each row counts as much as its weight.

    Returns
    -------
    float
        From 0, all right, to 1, all wrong.

    Examples
    --------
    >>> from separable.select import error_rate
    >>> error_rate(["spam", "ham", "ham", "spam"], ["spam", "ham", "spam", "spam"])
    0.25
    """
    truth = _labels(y, "y")
    answers = _labels(predicted, "predicted")
    if len(truth) != len(answers):
        raise ValueError(
            f"y has {len(truth)} rows, predicted has {len(answers)}. Each row needs one answer."
        )
    if not len(truth):
        raise ValueError("There are no rows, so there is no share of them. Give at least one.")
    if ("U" in truth.dtype.kind) != ("U" in answers.dtype.kind):
        raise ValueError(
            f"y holds {truth.tolist()[0]!r} ({truth.dtype}), predicted {answers.tolist()[0]!r} "
            f"({answers.dtype}): text and numbers never agree. Bring both to one type."
        )
    wrong = truth != answers
    if sample_weight is None:
        return float(np.mean(wrong))
    weight = check_sample_weight(sample_weight, truth)
    if not weight.any():
        raise ValueError("All rows have sample_weight 0, so none is counted. Give some a weight.")
    return float(np.average(wrong, weights=weight))


def _labels(given: Any, name: str) -> Any:
    """Return labels as an array; an error says which of the two it is about."""
    try:
        return check_labels(given, len(given), "error_rate")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} does not hold one class a row: {error}") from None
