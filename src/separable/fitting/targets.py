"""Labels and weights of the rows, checked, as the compiled core takes them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.data.labels import label_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "RowWeights",
    "check_class_weight",
    "check_labels",
    "check_numbers",
    "check_targets",
    "find_classes",
    "sorted_classes",
    "weigh_rows",
]

#: The range of integer labels that are counted.
MAX_COUNTED = 1024
#: Presentations are counted in float64, exactly up to here.
MAX_WEIGHT = 2.0**53


def check_labels(y: Any, n_rows: int, owner: str) -> NDArray[Any]:
    """Return the labels as a one-dimensional array of ``n_rows`` known values."""
    _refuse_none(y, owner)
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU"):
        y = _plain_labels(y)
    _check_length(y, n_rows)
    if y.dtype == np.uint64 and (y <= np.uint64(2**63 - 1)).all():
        y = y.astype(np.int64)  # else labels of both types would meet as floats, some as the same
    return y  # type: ignore[no-any-return]


def check_numbers(y: Any, n_rows: int, owner: str) -> NDArray[np.float64]:
    """Return the numbers to predict as a one-dimensional array of ``n_rows`` finite float64."""
    _refuse_none(y, owner)
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubf"):
        y = _one_dimensional(y)
        try:
            y = np.asarray(y, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{owner} predicts numbers, but y holds something else: {error}. Use a classifier "
                "for classes."
            ) from None
    numbers: NDArray[np.float64] = np.ascontiguousarray(y, dtype=np.float64)
    _check_length(numbers, n_rows)
    if not np.isfinite(numbers).all():
        _refuse(~np.isfinite(numbers), numbers, "Input y contains NaN or infinity")
    return numbers


def check_targets(y: Any, n_rows: int, owner: str) -> NDArray[np.float64]:
    """Return finite numbers to predict, shape (n,), or (n, t) for several at once."""
    _refuse_none(y, owner)
    if not hasattr(y, "ndim"):
        y = np.asarray(y)
    if y.ndim != 2:
        return check_numbers(y, n_rows, owner)
    if y.shape[1] == 1:
        return check_numbers(np.asarray(y)[:, 0], n_rows, owner)
    targets = np.ascontiguousarray(y, dtype=np.float64)
    _check_length(targets, n_rows)
    if not np.isfinite(targets).all():
        row, column = np.argwhere(~np.isfinite(targets))[0]
        raise ValueError(
            f"Input y contains NaN or infinity: row {row}, column {column}. Drop the row or give "
            "it a value."
        )
    return targets


def _refuse_none(y: Any, owner: str) -> None:
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")


def _check_length(y: NDArray[Any], n_rows: int) -> None:
    if len(y) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {len(y)}."
        )


def _plain_labels(y: Any) -> NDArray[Any]:
    labels = _one_dimensional(_exact(y))
    if labels.dtype.kind == "f":
        _refuse(~np.isfinite(labels), labels, "Input y contains NaN or infinity")
    elif labels.dtype.kind == "O":
        # None, NaN and pandas' NA are the values that do not equal themselves, or are no value
        missing = np.array([v is None or (v != v) is not False for v in labels.tolist()])
        _refuse(missing, labels, "Input y contains a missing value (None or NaN)")
        kinds = {isinstance(v, str) for v in labels.tolist()}
        if len(kinds) == 2:
            raise ValueError(
                "Input y mixes text and other values, which have no common order. Convert it to "
                "one type first, for example with y.astype(str)."
            )
        if any(isinstance(v, Decimal) for v in labels.tolist()):
            raise ValueError(
                "Input y holds decimal.Decimal values, which are no labels. Convert them first, "
                "for example with y.astype(str), or y.astype(float)."
            )
    if labels.dtype.kind not in "OU" or not labels.size or not isinstance(labels.flat[0], str):
        import_module("sklearn.utils.multiclass").check_classification_targets(labels)
    return labels


def _one_dimensional(y: Any) -> NDArray[Any]:
    """Return an array with one axis; a column is flattened with scikit-learn's warning."""
    if type(y) is np.ndarray and y.ndim == 1:
        return y
    flat: NDArray[Any] = import_module("sklearn.utils.validation").column_or_1d(y, warn=True)
    return flat


def _exact(y: Any) -> Any:
    """Return labels as an array that has lost nothing; what is no list of them as it is."""
    plain = isinstance(y, np.ndarray) and y.dtype.kind != "O"
    if plain or isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        return y
    if hasattr(y, "tocsr") or isinstance(y, Mapping):
        return y
    return label_array(y)


def _refuse(bad: NDArray[np.bool_], y: NDArray[Any], what: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        value = y.tolist()[row]
        raise ValueError(f"{what}: row {row} holds {value!r}. Drop the row or give it a value.")


def sorted_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes of checked labels; small integers are counted, not sorted.

    Examples
    --------
    >>> sorted_classes(np.array([7, -1, 7], np.int8))
    array([-1,  7], dtype=int8)
    """
    if len(y) and y.dtype.kind == "i":
        least = int(y.min())
        if int(y.max()) - least < MAX_COUNTED:
            counts = np.bincount(np.subtract(y, least, dtype=np.int64))
            return (np.flatnonzero(counts) + least).astype(y.dtype)
    return np.unique(y)


def find_classes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the index of each label in the sorted ``classes``, and -1 if it is missing."""
    if len(y) and y.dtype.kind != classes.dtype.kind and "U" in y.dtype.kind + classes.dtype.kind:
        raise ValueError(
            f"The labels changed type: y now holds {y.tolist()[0]!r} ({y.dtype}), the classes so "
            f"far are {classes[:5].tolist()} ({classes.dtype})."
        )
    index = classes.searchsorted(y)
    label = index.astype(np.int32)
    label[classes.take(index, mode="clip") != y] = -1
    return label


class RowWeights(NamedTuple):
    """Rows of positive weight, and their weights.

    Parameters
    ----------
    rows : ndarray of int64, optional
        The rows of non-zero weight; None: all.
    weight : ndarray of float64, optional
        One weight a row; None: all 1.
    """

    rows: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None

    def presentations(self, n_rows: int) -> float:
        """Return how often rows are presented, of ``n_rows`` that all count."""
        return n_rows if self.weight is None else float(np.ceil(self.weight).sum())


def weigh_rows(
    sample_weight: Any, class_weight: Any, y: NDArray[Any], *, balance_weights: bool = False
) -> RowWeights:
    """Combine ``sample_weight`` and ``class_weight``; a weight of 0 leaves the row out.

    "balanced" makes classes equal in the number of their rows, or in their weight.
    """
    if sample_weight is None and class_weight is None:
        return RowWeights()
    weight = np.ones(len(y)) if sample_weight is None else check_sample_weight(sample_weight, y)
    if class_weight is not None:
        counted = weight if balance_weights else (weight > 0).astype(np.float64)
        weight = weight * _class_factors(class_weight, y, counted)
    if not (weight <= MAX_WEIGHT).all():
        row = int(np.argmax(weight))
        raise ValueError(
            f"The weight of row {row} is {weight[row]:g}; at most 2^53 is possible. "
            "Divide all weights by a constant."
        )
    rows = np.flatnonzero(weight > 0)
    every = len(rows) == len(y)
    if every and (weight == 1).all():
        return RowWeights()
    return RowWeights(None if every else rows, weight)


def check_sample_weight(
    sample_weight: Any, y: NDArray[Any], name: str = "sample_weight"
) -> NDArray[np.float64]:
    """Return one finite weight >= 0 a row."""
    weight = np.array(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(len(y), float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array.")
    if len(weight) != len(y):
        raise ValueError(f"{name} has {len(weight)} entries, X has {len(y)} rows.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"{name} must be finite and >= 0; row {bad[0]} has {weight[bad[0]]}. Use 0 to "
            "leave a row out."
        )
    return weight


def _class_factors(
    class_weight: Any, y: NDArray[Any], counted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weight of each row's class; a class that the dict leaves out has weight 1."""
    classes, label = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str):  # balanced: n / (K times the rows of the class)
        counts = np.bincount(label, counted, len(classes))
        divisor = np.count_nonzero(counts) * counts
        factors = np.divide(counts.sum(), divisor, out=np.ones_like(counts), where=divisor > 0)
    else:
        factors = np.array([class_weight.get(c, 1.0) for c in classes.tolist()], dtype=np.float64)
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError(f"class_weight must be finite and >= 0, got {class_weight!r}.")
    return np.asarray(factors[label])


def check_class_weight(class_weight: Any, classes: NDArray[Any]) -> None:
    """Refuse weights of classes that do not exist, where all classes are known."""
    if not isinstance(class_weight, Mapping):
        return
    known = set(classes.tolist())
    unknown = [c for c in class_weight if c not in known]
    if unknown:
        raise ValueError(
            f"class_weight names {unknown[0]!r}, which is not among the classes: "
            f"{classes.tolist()}."
        )
