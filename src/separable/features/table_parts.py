"""A fitted TableEncoder as tensors and JSON values, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from separable.features.category_column import CategoryColumn
from separable.features.number_column import NumberColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.features.encoder import Tensors, Values

__all__ = ["OPTIONS", "ColumnEncoder", "Parts", "options_from_values", "tensors_of"]

ColumnEncoder: TypeAlias = NumberColumn | CategoryColumn

#: The parameters of a TableEncoder that name columns.
OPTIONS = ("number", "category", "drop")


def tensors_of(
    encoders: Sequence[ColumnEncoder], dropped: Mapping[str, str], names_in: Sequence[str]
) -> dict[str, NDArray[Any] | tuple[str, ...]]:
    """Return the fitted columns of an encoder as tensors."""
    numbers = [e for e in encoders if isinstance(e, NumberColumn)]
    categories = [e for e in encoders if isinstance(e, CategoryColumn)]
    return {
        "names": tuple(e.name for e in encoders),
        "is_number": np.array([isinstance(e, NumberColumn) for e in encoders], dtype=np.uint8),
        "has_missing": np.array([e.missing for e in encoders], dtype=np.uint8),
        "means": np.array([e.mean for e in numbers], dtype=np.float64),
        "scales": np.array([e.scale for e in numbers], dtype=np.float64),
        "levels": tuple(level for e in categories for level in e.levels),
        "level_counts": np.array([len(e.levels) for e in categories], dtype=np.int64),
        "names_in": tuple(names_in),
        "dropped": tuple(dropped),
        "dropped_reasons": tuple(dropped.values()),
    }


class Parts:
    """The parts of a saved encoder, none of them trusted."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def encoders(self) -> list[ColumnEncoder]:
        """Return the fitted columns, in order."""
        names = self._texts("names")
        is_number = self._flags("is_number", len(names))
        has_missing = self._flags("has_missing", len(names))
        n_numbers = int(is_number.sum())
        means = self._floats("means", n_numbers)
        scales = self._floats("scales", n_numbers)
        levels = self._levels(len(names) - n_numbers)
        _check(len(names) > 0 and len(set(names)) == len(names), "column names must differ")
        _check(bool((scales >= 0).all()), "scales must be >= 0")
        numbers = iter(zip(means.tolist(), scales.tolist(), strict=True))
        categories = iter(levels)
        encoders: list[ColumnEncoder] = []
        for name, number, missing in zip(names, is_number, has_missing, strict=True):
            if number:
                mean, scale = next(numbers)
                _check(scale > 0 or bool(missing), f"column {name!r} gives no number out")
                encoders.append(NumberColumn(name, mean, scale, bool(missing)))
            else:
                encoders.append(CategoryColumn(name, next(categories), bool(missing)))
        return encoders

    def dropped(self) -> dict[str, str]:
        """Return the columns left out, with the reasons."""
        names, reasons = self._texts("dropped"), self._texts("dropped_reasons")
        _check(len(names) == len(reasons), "each dropped column needs a reason")
        return dict(zip(names, reasons, strict=True))

    def names_in(self) -> tuple[str, ...]:
        """Return the columns of the training table."""
        names = self._texts("names_in")
        used = {*self._texts("names"), *self._texts("dropped")}
        _check(set(names) == used and len(names) == len(used), "'names_in' must list the columns")
        return names

    def _levels(self, n_columns: int) -> list[tuple[str, ...]]:
        levels, counts = self._texts("levels"), self._array("level_counts", "i", n_columns)
        _check(bool((counts > 0).all()) and sum(counts.tolist()) == len(levels), "wrong levels")
        stops = np.cumsum(counts).tolist()
        groups = [
            levels[stop - count : stop] for stop, count in zip(stops, counts.tolist(), strict=True)
        ]
        for group in groups:
            _check(all(a < b for a, b in pairwise(group)), "unsorted levels")
        return groups

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._tensors.get(key)
        if not isinstance(value, tuple) or not all(isinstance(text, str) for text in value):
            raise ValueError(f"The saved TableEncoder is damaged: {key!r} must be texts.")
        return value

    def _flags(self, key: str, length: int) -> NDArray[Any]:
        flags = self._array(key, "u", length)
        _check(bool((flags <= 1).all()), f"{key!r} must hold 0 and 1")
        return flags

    def _floats(self, key: str, length: int) -> NDArray[Any]:
        floats = self._array(key, "f", length)
        _check(floats.dtype == np.float64 and bool(np.isfinite(floats).all()), f"{key!r} is wrong")
        return floats

    def _array(self, key: str, kind: str, length: int) -> NDArray[Any]:
        value = self._tensors.get(key)
        if (
            not isinstance(value, np.ndarray)
            or value.dtype.kind != kind
            or value.shape != (length,)
        ):
            raise ValueError(
                f"The saved TableEncoder is damaged: {key!r} must be an array of {length} numbers."
            )
        return value


def options_from_values(values: Values) -> dict[str, Any]:
    """Return the parameters of a saved encoder."""
    options = values.get("options")
    if not isinstance(options, dict) or set(options) != set(OPTIONS):
        raise ValueError("The saved TableEncoder is damaged: wrong options.")
    for names in options.values():
        listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
        _check(names is None or listed, "options must be lists of names")
    scale = values.get("scale", True)
    _check(isinstance(scale, bool), "'scale' must be true or false")
    return {**options, "scale": scale}


def _check(ok: bool, what: str) -> None:
    if not ok:
        raise ValueError(f"The saved TableEncoder is damaged: {what}.")
