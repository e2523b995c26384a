"""Hold-out: a random split into training and test rows, and the error rate on the latter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.data.split import group_split, random_split, stratified_split
from separable.fitting.splits import paired, take
from separable.fitting.targets import check_labels, check_sample_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HoldOut", "error_rate", "hold_out"]


class HoldOut(NamedTuple):
    """Training rows and held-out rows."""

    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any


def hold_out(
    X: Any,
    y: Any,
    test_size: float = 0.3,
    *,
    stratify: bool = False,
    groups: Any = None,
    random_state: int = 0,
) -> HoldOut:
    """Split the rows at random into training and held-out rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    test_size : float, default 0.3
        Fraction of rows to hold out, 0 < test_size < 1.
    stratify : bool, default False
        Hold out the same fraction of each class. One row of each class stays in training.
    groups : array-like of shape (n,), optional
        Rows of one group, such as those of one patient, are held out together or not at all; the
        fraction is met as closely as a random order of the groups allows.
    random_state : int, default 0

    Returns
    -------
    X_train, X_test, y_train, y_test
        Every row is in one of the two parts, in the order it had.

    Examples
    --------
    >>> from separable.select import hold_out
    >>> X_train, X_test, y_train, y_test = hold_out([[1], [2], [3], [4], [5]], [1, 2, 3, 4, 5])
    >>> y_train, y_test
    ([1, 2, 4], [3, 5])
    """
    if hasattr(X, "fit"):
        raise TypeError(
            f"hold_out splits rows and takes no learner, but X is a {type(X).__name__}. Call "
            "hold_out(X, y), or cross_validate(learner, X, y) for a score."
        )
    if not isinstance(test_size, float | np.floating) or not 0 < test_size < 1:
        raise ValueError(f"test_size must be a float above 0 and below 1. Got {_short(test_size)}.")
    X, y, n = paired(X, y)
    if groups is not None:
        train, test = group_split(_numbered(groups, n, stratify=stratify), test_size, random_state)
    elif stratify:
        train, test = stratified_split(np.asarray(y), test_size, random_state)
    else:
        train, test = random_split(n, test_size, random_state)
    if not len(test):
        raise ValueError(
            f"No row is held out: X has {n} rows, and at least {'one' if stratify else 'two'} "
            f"{'of each class ' if stratify else ''}stay in training. Use a larger test_size, or "
            "leave_one_out."
        )
    return HoldOut(take(X, train), take(X, test), take(y, train), take(y, test))


def _numbered(groups: Any, n_rows: int, *, stratify: bool) -> NDArray[np.int64]:
    """Return the index of the group of each row."""
    if stratify:
        raise ValueError(
            "A split by groups cannot be stratified: give groups or stratify=True, not both."
        )
    given = np.asarray(groups)
    if given.ndim != 1:
        raise ValueError(
            f"groups must have one group per row, shape ({n_rows},). Got {given.shape}."
        )
    if len(given) != n_rows:
        raise ValueError(f"groups has {len(given)} entries, X has {n_rows} rows.")
    names, numbers = np.unique(given.astype(str), return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"All rows are of one group, {str(names[0])!r}, so no group can be held out. Leave "
            "groups out."
        )
    return numbers.astype(np.int64)


def _short(value: Any) -> str:
    """Return a short representation of a value: for an array its type and shape."""
    shape = getattr(value, "shape", ())
    return f"{type(value).__name__} of shape {shape}" if shape else f"{value!r:.60}"


def error_rate(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Return the fraction of rows whose class was not predicted.

    It is 1 - accuracy, the mean of the 0-1 loss.

    Parameters
    ----------
    y : array-like of shape (n,)
        The class of each row.
    predicted : array-like of shape (n,)
        Predicted class of each row.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        From 0, all correct, to 1, all wrong.

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
        raise ValueError("The error rate of no rows is undefined. Give at least one row.")
    if ("U" in y_true.dtype.kind) != ("U" in y_pred.dtype.kind):
        raise ValueError(
            f"y holds {y_true.tolist()[0]!r} ({y_true.dtype}), predicted {y_pred.tolist()[0]!r} "
            f"({y_pred.dtype}): text never equals numbers. Convert both to one type."
        )
    wrong = y_true != y_pred
    if sample_weight is None:
        return float(np.mean(wrong))
    weight = check_sample_weight(sample_weight, y_true)
    if not weight.any():
        raise ValueError("All rows have sample_weight 0. Give at least one a positive weight.")
    return float(np.average(wrong, weights=weight))


def _labels(given: Any, name: str) -> Any:
    """Return labels as an array; errors name the argument."""
    try:
        return check_labels(given, len(given), "error_rate")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} does not have one class per row: {error}") from None
