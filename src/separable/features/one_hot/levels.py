"""Levels of a column and their output columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import is_missing
from separable.features.factors import Factors, sorted_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ColumnLevels", "GivenCategories", "level_keys"]

#: Name of the group of infrequent levels.
INFREQUENT = "infrequent"


class GivenCategories:
    """Levels of each column given by the user, if any.

    Parameters
    ----------
    categories : "auto" or list of array-like
    n_columns : int
    """

    def __init__(self, categories: Any, n_columns: int) -> None:
        self.is_given = not (isinstance(categories, str) and categories == "auto")
        if isinstance(categories, str) and self.is_given:
            raise ValueError(
                "The 'categories' parameter of OneHotEncoder must be 'auto' or a list with the "
                f"levels of each column. Got {categories!r} instead."
            )
        if self.is_given and len(categories) != n_columns:
            raise ValueError(
                f"Shape mismatch: if categories is an array, it has to be of shape (n_features,): "
                f"got {len(categories)} lists for {n_columns} columns."
            )
        self._categories = categories

    def __getitem__(self, column: int) -> NDArray[Any] | None:
        if not self.is_given:
            return None
        categories = self._categories[column]
        levels = np.asarray(categories)
        if levels.dtype.kind in "US" and not isinstance(categories, np.ndarray):
            levels = np.asarray(categories, dtype=object)
        keys = level_keys(levels)
        if len(set(keys)) < len(keys):
            raise ValueError(f"The categories of column {column} have a duplicate level.")
        if levels.dtype.kind in "iuf" and (np.diff(levels[~_nan(levels)]) < 0).any():
            raise ValueError(f"Unsorted categories are not supported for numbers: column {column}.")
        return levels


@dataclass(frozen=True)
class ColumnLevels:
    """Levels of one column.

    Parameters
    ----------
    levels : ndarray
        In output order.
    rare : ndarray of int
        Indices of the levels that share the last output column.
    dropped : int or None
        Index of the level without an output column.
    """

    levels: NDArray[Any]
    rare: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    dropped: int | None = None
    _source: tuple[NDArray[Any], NDArray[np.intp]] | None = field(default=None, repr=False)

    @classmethod
    def fit(
        cls,
        index: int,
        column: Factors,
        categories: NDArray[Any] | None,
        names: tuple[str, ...] | None,
    ) -> ColumnLevels:
        """Use the given levels, or the sorted levels of a column."""
        if categories is not None:
            return cls(categories)
        try:
            order = sorted_levels(column.levels)
            rank = np.empty(len(order), np.intp)
            rank[order] = np.arange(len(order))
            return cls(column.levels[order], _source=(column.levels, rank))
        except TypeError as error:
            name = index if names is None else repr(names[index])
            raise TypeError(f"Column {name}: {error}") from None

    def grouped(
        self, column: Factors, n_rows: int, least: float | None, most: int | None
    ) -> ColumnLevels:
        """Group levels that occur less than ``least`` times, or are beyond ``most``."""
        if least is None and most is None:
            return self
        indices, counts = self._indices_of(column.levels), column.counts()
        count = np.zeros(len(self.levels), np.int64)
        np.add.at(count, indices[indices >= 0], counts[indices >= 0])
        limit = 0.0 if least is None else least
        if isinstance(least, float):
            limit = least * n_rows
        rare = count < limit
        kept = len(count) - int(rare.sum())
        if most is not None and most < kept + 1:
            order = np.argsort(count, kind="stable")
            rare[order[: len(order) - (most - 1)]] = True
        return replace(self, rare=np.flatnonzero(rare))

    def dropping(self, drop: Any, column: int) -> ColumnLevels:
        """Drop the output column of one level, according to ``drop``."""
        if drop is None:
            return self
        frequent = np.setdiff1d(np.arange(len(self.levels)), self.rare)
        if isinstance(drop, str):
            n_out = len(frequent) + (len(self.rare) > 0)
            if drop == "if_binary" and n_out != 2:
                return self
            first = frequent[0] if len(frequent) else self.rare[0]
            return replace(self, dropped=int(first))
        wanted = np.asarray(drop, dtype=object)[column]
        index = self._index_by_key.get(_key(wanted))
        if index is None:
            raise ValueError(
                f"The following categories were supposed to be dropped, but were not found in the "
                f"training data: {wanted!r} of column {column}."
            )
        if index in self.rare:
            raise ValueError(
                f"Unable to drop category {wanted!r} of column {column} because it is infrequent."
            )
        return replace(self, dropped=index)

    @property
    def width(self) -> int:
        """Number of output columns."""
        n_out = len(self.levels) - len(self.rare) + (len(self.rare) > 0)
        return n_out - (self.dropped is not None)

    def out(self) -> list[Any]:
        """Return the level of each output column."""
        shared = {*self.rare.tolist(), self.dropped}
        kept = [each for at, each in enumerate(self.levels.tolist()) if at not in shared]
        return [*kept, INFREQUENT] if self._rare_has_number() else kept

    def values_back(self) -> NDArray[Any]:
        """Return the level of each output column, and last the level of a row of zeros."""
        lost = None
        if self.dropped is not None:
            lost = INFREQUENT if self.dropped in self.rare else self.levels.tolist()[self.dropped]
        values = np.empty(self.width + 1, dtype=object)
        values[:] = [*self.out(), lost]
        return values

    def indices(self, levels: NDArray[Any], unknown_is_rare: bool) -> NDArray[np.int32]:
        """Return the output column of "missing" and of each level, -1 for none."""
        by_level = np.full(len(self.levels) + 1, -1, np.int32)
        has_own = np.ones(len(self.levels), np.bool_)
        has_own[self.rare] = False
        if self.dropped is not None:
            has_own[self.dropped] = False
        kept = np.flatnonzero(has_own)
        by_level[kept] = np.arange(len(kept), dtype=np.int32)
        if self._rare_has_number():
            by_level[self.rare] = len(kept)
            if unknown_is_rare:
                by_level[-1] = len(kept)
        return np.append(np.int32(-1), by_level[self._indices_of(levels)])

    def unknown(self, column: Factors) -> list[Any]:
        """Return the values of a column that are not levels."""
        lost = np.flatnonzero(self._indices_of(column.levels) < 0)
        if not len(lost):
            return []
        return [column.levels[at] for at in lost[column.counts()[lost] > 0].tolist()]

    def _rare_has_number(self) -> bool:
        return len(self.rare) > 0 and self.dropped not in self.rare

    def _indices_of(self, levels: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of each level among these, -1 if unknown."""
        if self._source is not None and levels is self._source[0]:
            return self._source[1]
        indices = self._index_by_key
        return np.array([indices.get(key, -1) for key in level_keys(levels)], np.intp)

    @cached_property
    def _index_by_key(self) -> dict[Any, int]:
        return {key: index for index, key in enumerate(level_keys(self.levels))}


def level_keys(levels: NDArray[Any]) -> list[Any]:
    """Return the lookup key of each level."""
    values = levels.tolist()
    return values if set(map(type, values)) <= {str, int, bool} else [_key(v) for v in values]


def _key(value: Any) -> Any:
    """Return the lookup key of a level: NaN is not equal to itself."""
    return ("missing", type(value).__name__) if is_missing(value) else value


def _nan(levels: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(levels) if levels.dtype.kind == "f" else np.zeros(len(levels), np.bool_)
