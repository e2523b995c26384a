"""Targets, predictions and weights, validated once for all metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import numpy as np

from separable.model.words import label_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from separable.model.metrics.metric_registry import Predictions

__all__ = ["ClassCase", "NumberCase", "case_of", "positive_index"]

MAX_SHOWN = 8


@dataclass(frozen=True, eq=False)
class NumberCase:
    """True and predicted numbers.

    Parameters
    ----------
    y_true, predicted : ndarray of float64, shape (n, k)
    weight : ndarray of float64, shape (n,)
    """

    task: ClassVar[Literal["regression"]] = "regression"
    y_true: NDArray[np.float64]
    predicted: NDArray[np.float64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassCase:
    """True and predicted labels, as indices into the labels.

    Parameters
    ----------
    labels : list
        Classes of the model, then unknown labels of ``y_true``.
    n_known : int
        Number of classes of the model.
    y_true, predicted : ndarray of int64, shape (n,)
    weight : ndarray of float64, shape (n,)
    positive : int or None
        Positive class of precision, recall and related metrics. None: they are averaged over
        classes.
    scores, probabilities : ndarray of float64, optional
        As in ``Predictions``.
    """

    task: ClassVar[Literal["classification"]] = "classification"
    labels: list[Any]
    n_known: int
    y_true: NDArray[np.int64]
    predicted: NDArray[np.int64]
    weight: NDArray[np.float64]
    positive: int | None
    scores: NDArray[np.float64] | None
    probabilities: NDArray[np.float64] | None

    @cached_property
    def support(self) -> NDArray[np.float64]:
        """Weight of the rows of each label."""
        return self._sums(self.y_true)

    @cached_property
    def answered(self) -> NDArray[np.float64]:
        """Weight of the rows predicted as each label."""
        return self._sums(self.predicted)

    @cached_property
    def right(self) -> NDArray[np.float64]:
        """Weight of the correctly predicted rows of each label."""
        right = np.where(self.y_true == self.predicted, self.weight, 0.0)
        sums: NDArray[Any] = np.bincount(self.y_true, weights=right, minlength=len(self.labels))
        return sums

    @property
    def present(self) -> NDArray[np.intp]:
        """Indices of the labels that occur in ``y_true``."""
        return np.flatnonzero(self.support > 0)

    def score_of(self, index: int) -> NDArray[np.float64] | None:
        """Return the score of a class in any unit, or None.

        With three or more classes, probabilities are preferred: scores may be shifted per row, as
        in discriminant analysis.
        """
        values = self.scores
        if values is None or (values.ndim == 2 and self.probabilities is not None):
            values = self.probabilities
        if values is None:
            return None
        if values.ndim == 2:
            column: NDArray[np.float64] = values[:, index]
            return column
        return values if index == self.n_known - 1 else -values

    def _sums(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        sums: NDArray[Any] = np.bincount(codes, self.weight, minlength=len(self.labels))
        return sums


def case_of(
    y_true: ArrayLike,
    predictions: Predictions,
    weight: ArrayLike | None = None,
    positive: Any = None,
) -> ClassCase | NumberCase:
    """Return targets and predictions together, without rows of weight 0.

    Parameters
    ----------
    y_true : array-like, shape (n,) or (n, k)
    predictions : Predictions
    weight : array-like, shape (n,), optional
    positive : object, optional
        A class of the predictions.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, not finite or of the wrong type, there are no rows,
        or no label is one of the classes.
    """
    n = len(predictions.predicted)
    target = np.asarray(y_true)
    if target.ndim == 0 or len(target) != n:
        rows = len(target) if target.ndim else "no"
        _refuse(f"the target has {rows} rows and the predictions {n}")
    weights = _weights(weight, n)
    keep = None if weights.all() else weights > 0
    if n == 0 or (keep is not None and not keep.any()):
        _refuse("there is no row to measure" + (" of a weight above 0" if n else ""))
    if predictions.classes is None:
        if positive is not None:
            _refuse(f"positive={positive!r} names a class, and the predictions are numbers")
        return _number_case(target, predictions, weights, keep)
    return _class_case(target, predictions, weights, keep, positive)


def positive_index(classes: NDArray[Any], positive: Any) -> int | None:
    """Return the index of the positive class, by default the second of two; None for more."""
    if positive is None:
        return 1 if len(classes) == 2 else None
    labels: list[Any] = classes.tolist()
    if label_value(positive) not in labels:
        known = ", ".join(repr(each) for each in labels[:MAX_SHOWN])
        more = ", ..." if len(labels) > MAX_SHOWN else ""
        raise ValueError(
            f"positive={label_value(positive)!r} is not a class of the model. There are: "
            f"{known}{more}."
        )
    return labels.index(label_value(positive))


def _number_case(
    target: NDArray[Any],
    predictions: Predictions,
    weights: NDArray[np.float64],
    keep: NDArray[np.bool_] | None,
) -> NumberCase:
    predicted = _finite(np.asarray(predictions.predicted), "predicted")
    y_true = _finite(target, "the target")
    if y_true.shape != predicted.shape:
        _refuse(f"the target has shape {y_true.shape} and the predictions {predicted.shape}")
    n = len(y_true)
    return NumberCase(
        *(_kept(each, keep) for each in (y_true.reshape(n, -1), predicted.reshape(n, -1), weights))
    )


def _class_case(
    target: NDArray[Any],
    predictions: Predictions,
    weights: NDArray[np.float64],
    keep: NDArray[np.bool_] | None,
    positive: Any,
) -> ClassCase:
    assert predictions.classes is not None
    classes = np.asarray(predictions.classes)
    index = positive_index(classes, positive)
    if target.ndim != 1:
        _refuse(f"the target must be one label per row, shape (n,). Got shape {target.shape}")
    y_true, unknown = _codes(_kept(_labels(target), keep), classes)
    predicted, strange = _codes(_kept(_labels(np.asarray(predictions.predicted)), keep), classes)
    if strange:
        _refuse(f"the prediction {strange[0]!r} is not one of the classes")
    if (y_true >= len(classes)).all():
        known = ", ".join(repr(each) for each in classes[:MAX_SHOWN].tolist())
        raise ValueError(
            "No true label is a class of the model. The labels are "
            f"{', '.join(repr(each) for each in unknown[:MAX_SHOWN])}; the classes {known}. Is it "
            "the right column, and of the right type?"
        )
    return ClassCase(
        labels=[*classes.tolist(), *unknown],
        n_known=len(classes),
        y_true=y_true,
        predicted=predicted,
        weight=_kept(weights, keep),
        positive=index,
        scores=_values(predictions.scores, "scores", keep, len(y_true)),
        probabilities=_values(predictions.probabilities, "probabilities", keep, len(y_true)),
    )


def _labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels; raise if one is missing."""
    if labels.dtype.kind == "O":
        for row, label in enumerate(labels.tolist()):
            if label is None or label != label:  # NaN
                _refuse_missing(row)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        _refuse_missing(int(np.flatnonzero(np.isnan(labels))[0]))
    return labels


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return indices into the classes followed by the unknown labels, and the latter."""
    if labels.dtype.kind == "O":
        return _object_codes(labels.tolist(), classes.tolist())
    if (labels.dtype.kind in "UT") == (classes.dtype.kind in "UT"):
        indices = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        known = classes[indices] == labels
    else:
        indices = np.zeros(len(labels), dtype=np.intp)
        known = np.zeros(len(labels), dtype=np.bool_)
    codes = indices.astype(np.int64)
    if known.all():
        return codes, []
    others, which = np.unique(labels[~known], return_inverse=True)
    codes[~known] = len(classes) + which
    return codes, others.tolist()


def _object_codes(labels: list[Any], classes: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the same for labels of mixed types."""
    indices = {label: index for index, label in enumerate(classes)}
    others = sorted(set(labels) - indices.keys(), key=str)
    indices |= {label: len(classes) + index for index, label in enumerate(others)}
    return np.array([indices[label] for label in labels], dtype=np.int64), others


def _weights(weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if weight is None:
        return np.ones(n)
    weights = _finite(np.asarray(weight), "weight")
    if weights.shape != (n,):
        _refuse(f"weight must have shape {(n,)}. Got {weights.shape}")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        _refuse(f"weight of row {row} is {weights[row]:g}: it must be >= 0")
    return weights


def _finite(values: NDArray[Any], what: str) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        _refuse(f"{what} must be numbers. Got an array of dtype {values.dtype}")
    numbers = values.astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        _refuse(f"{what} of row {row} is {numbers[row]}: leave the row out or correct it")
    return numbers


def _values(
    values: NDArray[np.float64] | None, what: str, keep: NDArray[np.bool_] | None, n: int
) -> NDArray[np.float64] | None:
    if values is None:
        return None
    kept = _kept(_finite(np.asarray(values), what), keep)
    if len(kept) != n:
        _refuse(f"{what} has {len(kept)} rows and the predictions {n}")
    return kept[:, 0] if kept.ndim == 2 and kept.shape[1] == 1 and what == "scores" else kept


def _kept(values: NDArray[Any], keep: NDArray[np.bool_] | None) -> NDArray[Any]:
    kept: NDArray[Any] = values if keep is None else values[keep]
    return kept


def _refuse_missing(row: int) -> NoReturn:
    _refuse(f"the label of row {row} is missing: leave the row out")


def _refuse(problem: str) -> NoReturn:
    raise ValueError(f"{problem[0].upper()}{problem[1:]}.")
