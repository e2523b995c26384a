"""Labels as NumPy arrays without loss, and the rule that decides whether a target has classes.

The rule is shared by `check` and the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["MANY_CLASSES", "label_array", "most_classes", "text_array", "whole_array"]


def label_array(values: Any) -> NDArray[Any]:
    """Return labels as an array of bool, int64, uint64, float64, str or, if mixed, object.

    Parameters
    ----------
    values : array-like
        NumPy arrays of any dtype but object are returned unchanged.

    Raises
    ------
    TableError
        If NumPy would merge two labels: integers beyond 64 bits or the exact range of float64,
        texts that end in NUL.

    Examples
    --------
    >>> label_array([2**53, 2**53 + 1])
    array([9007199254740992, 9007199254740993])
    """
    array = _objects(values)
    if array.dtype.kind != "O":
        return array
    flat = array.reshape(-1).tolist()
    kinds = set(map(type, flat))
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return text_array(flat).reshape(array.shape)
    if kinds and kinds <= {bool, np.bool_}:
        return array.astype(np.bool_)
    numbers = all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds)
    if not kinds or not numbers:
        return array
    if any(issubclass(kind, (float, np.floating)) for kind in kinds):
        return _floats(flat).reshape(array.shape)
    return whole_array([int(value) for value in flat]).reshape(array.shape)


def text_array(texts: Sequence[str]) -> NDArray[np.str_]:
    """Return texts as an array of str; reject texts that NumPy would change."""
    bad = next((text for text in texts if text.endswith("\0")), None)
    if bad is not None:
        raise TableError(
            f"The label {bad!r} ends in a NUL character, which NumPy drops. Rename it."
        )
    return np.array(texts, dtype=np.str_)


def whole_array(numbers: Sequence[int]) -> NDArray[Any]:
    """Return integers as int64, or as uint64 if needed."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.array(numbers, dtype=np.int64)
    if low >= 0 and high < 2**64:
        return np.array(numbers, dtype=np.uint64)
    raise TableError(
        f"The labels are integers from {low} to {high}, which do not fit in 64 bits. Convert them "
        "to text, for example with str."
    )


def _floats(numbers: list[Any]) -> NDArray[np.float64]:
    out = np.array(numbers, dtype=np.float64)
    large = np.flatnonzero(np.abs(out) >= 2**53).tolist()
    bad = next(
        (
            row
            for row in large
            if isinstance(numbers[row], (int, np.integer)) and int(out[row]) != int(numbers[row])
        ),
        None,
    )
    if bad is not None:
        raise TableError(
            f"The labels are decimal numbers and {numbers[bad]} (row {bad}), which float64 cannot "
            "represent. Make all of them integers, or text."
        )
    return out


def _objects(values: Any) -> NDArray[Any]:
    """Return an array without loss: of objects if NumPy might change a value."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(getattr(values, "dtype", None), np.dtype) and hasattr(values, "to_numpy"):
        array: NDArray[Any] = values.to_numpy()
        return array
    if getattr(values, "ndim", 1) == 1:
        for name in ("to_pylist", "tolist", "to_list"):
            if hasattr(values, name):
                values = getattr(values, name)()
                break
    return np.array(values, dtype=object)


#: A target with more distinct values than this, and than a fraction of the rows, has no classes.
MANY_CLASSES, NUMBER_FRACTION, TEXT_FRACTION = 20, 0.05, 0.5

#: A numeric target with more distinct values is a quantity, unless classes are requested.
MANY_NUMBERS = 100


#: The same for numbers that are not whole.
FEW_MEASURED = 4


def most_classes(rows: int, *, numbers: bool, sure: bool, whole: bool = True) -> float:
    """Return the maximum number of distinct target values that count as classes.

    Parameters
    ----------
    rows : int
        Rows with a target.
    numbers : bool
        Whether all values are numeric.
    sure : bool
        Whether classes are requested.
    whole : bool, default True
        Whether all numbers are whole.

    Examples
    --------
    >>> most_classes(1000, numbers=True, sure=False)
    50.0
    """
    if numbers and not sure and not whole:
        return FEW_MEASURED
    most = max(MANY_CLASSES, (NUMBER_FRACTION if numbers else TEXT_FRACTION) * rows)
    return min(most, MANY_NUMBERS) if numbers and not sure else most
