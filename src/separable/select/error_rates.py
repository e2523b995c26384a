"""Error rate: the fraction of predictions that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from separable.fitting.targets import check_labels, check_sample_weight

__all__ = ["error_rate"]


def error_rate(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Return the fraction of rows whose class was not predicted.

    It is 1 - accuracy, the mean of the 0-1 loss. A wrong prediction costs 1, whichever class it
    names and however close it was.

    Parameters
    ----------
    y : array-like of shape (n,)
        The class of each row.
    predicted : array-like of shape (n,)
        Predicted class of each row.
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
    y_true = _labels(y, "y")
    y_pred = _labels(predicted, "predicted")
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"y has {len(y_true)} rows, predicted has {len(y_pred)}. Each row needs one prediction."
        )
    if not len(y_true):
        raise ValueError("There are no rows, so there is no error rate. Give at least one.")
    if ("U" in y_true.dtype.kind) != ("U" in y_pred.dtype.kind):
        raise ValueError(
            f"y holds {y_true.tolist()[0]!r} ({y_true.dtype}), predicted {y_pred.tolist()[0]!r} "
            f"({y_pred.dtype}): text and numbers never agree. Bring both to one type."
        )
    wrong = y_true != y_pred
    if sample_weight is None:
        return float(np.mean(wrong))
    weight = check_sample_weight(sample_weight, y_true)
    if not weight.any():
        raise ValueError("All rows have sample_weight 0, so none is counted. Give some a weight.")
    return float(np.average(wrong, weights=weight))


def _labels(given: Any, name: str) -> Any:
    """Return labels as an array; an error says which of the two it is about."""
    try:
        return check_labels(given, len(given), "error_rate")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} does not hold one class a row: {error}") from None
