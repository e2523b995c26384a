"""Levels of categorical columns: factorization into codes and levels, and their output columns.

Columns may come from NumPy, data frames or Arrow. Missing values are levels here: NaN, None and
pandas' NA stay distinct.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable
from separable.data.arrow_arrays import flat, integers, is_text, nulls, one_chunk, text_codes
from separable.data.table import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ColumnLevels",
    "Factors",
    "GivenCategories",
    "factors_of",
    "factors_of_objects",
    "level_keys",
    "sorted_levels",
]


@dataclass(frozen=True, slots=True)
class Factors:
    """A column as codes and levels.

    Parameters
    ----------
    codes : ndarray of int32
        Index of each row's value in ``levels``.
    levels : ndarray
        Distinct values in any order; not all need occur.
    """

    codes: NDArray[np.int32]
    levels: NDArray[Any]

    def counts(self) -> NDArray[np.intp]:
        """Return the count of each level."""
        return np.bincount(self.codes, minlength=len(self.levels))

    def without_unused(self) -> Factors:
        """Return the column without unused levels."""
        used = np.flatnonzero(self.counts())
        if len(used) == len(self.levels):
            return self
        index = np.zeros(len(self.levels), np.int32)
        index[used] = np.arange(len(used), dtype=np.int32)
        return Factors(index[self.codes], self.levels[used])


def factors_of(column: Any) -> Factors:
    """Factorize a column.

    Parameters
    ----------
    column : ndarray with one dimension, Arrow array, or column of a frame

    Returns
    -------
    Factors
    """
    if isinstance(column, np.ndarray):
        return _from_numpy(column)
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if categories is not None and hasattr(column.cat, "codes"):
        return _from_pandas_categories(column.cat)
    if isinstance(getattr(column, "dtype", None), np.dtype):  # pandas backed by NumPy
        return _from_numpy(column.to_numpy())
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return _from_arrow(column)
    return _from_numpy(np.asarray(column))


def factors_of_objects(table: NDArray[np.object_]) -> list[Factors]:
    """Factorize each column of an object array in one pass."""
    codes = np.empty(table.shape[::-1], np.int32)
    firsts = portable.factorize_objects(table, codes)
    return [
        _with_one_nan(Factors(codes[column], table[rows, column]))
        for column, rows in enumerate(firsts)
    ]


def _with_one_nan(factors: Factors) -> Factors:
    """Return the column with a single NaN level: other NumPy floats have distinct NaNs."""
    levels = factors.levels.tolist()
    if not any(issubclass(kind, np.floating) for kind in set(map(type, levels)) - {str, float}):
        return factors
    nans = [index for index, level in enumerate(levels) if _is_nan(level)]
    index = np.arange(len(levels), dtype=np.int32)
    index[nans] = nans[:1] or 0
    return Factors(index[factors.codes], factors.levels).without_unused()


def _is_nan(value: Any) -> bool:
    return bool(isinstance(value, (float, np.floating)) and value != value)


def sorted_levels(levels: NDArray[Any]) -> NDArray[np.intp]:
    """Return the sort order of levels, None and NaN last; raise if they are not comparable."""
    if levels.dtype.kind != "O":
        return np.argsort(levels, kind="stable")  # NaN and NaT come last
    values = levels.tolist()
    if set(map(type, values)) <= {str}:
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.intp)
    lost = [index for index, value in enumerate(values) if is_missing(value)]
    lost.sort(key=lambda index: values[index] is not None)
    present = np.setdiff1d(np.arange(len(values)), lost)
    try:
        ascending = sorted(present.tolist(), key=values.__getitem__)
    except TypeError:
        kinds = sorted({type(values[index]).__qualname__ for index in present.tolist()})
        raise TypeError(
            "Encoders require their input argument must be uniformly strings or numbers. Got "
            f"{kinds}, which cannot be sorted together. Turn the column into text, for example "
            "with astype(str)."
        ) from None
    return np.array([*ascending, *lost], dtype=np.intp)


# --- NumPy ---


def _from_numpy(values: NDArray[Any]) -> Factors:
    kind = values.dtype.kind
    if kind == "O":
        return factors_of_objects(values.reshape(-1, 1))[0]
    codes = np.empty(len(values), np.int32)
    if kind == "f":
        firsts = portable.factorize_floats(np.ascontiguousarray(values, np.float64), codes)
    elif kind in "iubmM":
        whole = values.view(np.int64) if kind in "mM" else values
        firsts = portable.factorize_integers(np.ascontiguousarray(whole).astype(np.int64), codes)
    elif kind in "US":
        firsts = _factorize_fixed(np.ascontiguousarray(values), codes)
    else:
        raise ValueError(f"Complex data not supported: the column has dtype {values.dtype}.")
    return Factors(codes, values[firsts])


def _factorize_fixed(values: NDArray[Any], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Factorize texts of fixed width."""
    size = values.dtype.itemsize
    offsets = np.arange(len(values) + 1, dtype=np.int64) * size
    data = values.reshape(-1).view(np.uint8) if size else np.zeros(0, np.uint8)
    return portable.factorize_texts(offsets, data, None, 0, codes)


def _from_pandas_categories(accessor: Any) -> Factors:
    codes = np.asarray(accessor.codes)
    levels = accessor.categories.to_numpy()
    if len(codes) and codes.min() < 0:
        codes = np.where(codes < 0, len(levels), codes)
        levels = np.append(levels.astype(object), np.nan)
    if levels.dtype.kind not in "Oiuf":
        levels = levels.astype(object)
    return Factors(codes.astype(np.int32), levels).without_unused()


# --- Arrow ---


def _from_arrow(values: Any) -> Factors:
    import pyarrow as pa
    from pyarrow import types

    lost = np.nan if hasattr(values, "iloc") else None  # as pandas represents it
    array = one_chunk(values)
    kind = array.type
    if is_text(kind):
        return _from_arrow_text(array, lost)
    if types.is_dictionary(kind):
        return _from_arrow_dictionary(array, lost)
    if types.is_timestamp(kind) or types.is_date(kind):
        array = array.cast(pa.timestamp("us"), safe=False)
        return _from_arrow_numbers(array, np.dtype("datetime64[us]"), lost)
    if types.is_boolean(kind):
        return _from_arrow_numbers(array.cast(pa.uint8()), np.dtype(np.bool_), lost)
    if types.is_integer(kind) or types.is_floating(kind):
        signs = "u" if types.is_unsigned_integer(kind) else "i"
        letter = "f" if types.is_floating(kind) else signs
        return _from_arrow_numbers(array, np.dtype(f"{letter}{kind.bit_width // 8}"), lost)
    objects = np.empty(len(array), object)
    objects[:] = [lost if each is None else each for each in array.to_pylist()]
    return _from_numpy(objects)


def _from_arrow_numbers(array: Any, dtype: np.dtype[Any], lost: Any) -> Factors:
    factors = _from_numpy(flat(array, dtype))
    if not array.null_count:
        return factors
    codes = factors.codes
    codes[nulls(array)] = len(factors.levels)
    levels = np.empty(len(factors.levels) + 1, object)
    levels[:] = [*factors.levels.tolist(), lost]
    return Factors(codes, levels).without_unused()


def _from_arrow_text(array: Any, lost: Any) -> Factors:
    import pyarrow as pa

    if not pa.types.is_string(array.type):
        array = array.cast(pa.large_string())
    codes, texts = text_codes(array)
    levels: list[Any] = texts
    if array.null_count:
        codes[codes < 0] = len(texts)
        levels = [*texts, lost]
    out = np.empty(len(levels), object)
    out[:] = levels
    return Factors(codes, out)


def _from_arrow_dictionary(array: Any, lost: Any) -> Factors:
    import pyarrow as pa

    codes = integers(array.indices.cast(pa.int32()))
    values = [lost if each is None else each for each in array.dictionary.to_pylist()]
    if array.indices.null_count:
        codes[codes < 0] = len(values)
        values.append(lost)
    levels = np.empty(len(values), object)
    levels[:] = values
    merged = _from_numpy(levels)  # a level may be duplicated
    return Factors(merged.codes[codes], merged.levels).without_unused()


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
            raise ValueError(
                f"In column {column}, the predefined categories contain duplicate elements."
            )
        if NAN in keys[:-1]:
            raise ValueError(
                f"Nan should be the last element in user provided categories, in column {column}."
            )
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
    group_name : str
        Name of the group of infrequent levels.
    """

    levels: NDArray[Any]
    rare: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    dropped: int | None = None
    group_name: str = INFREQUENT
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
            as_objects = column.levels.dtype.kind == "O"
            return cls(categories.astype(object) if as_objects else categories)
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
                f"Unable to drop category {wanted!r} from feature {column} because it is "
                "infrequent."
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
        return [*kept, self.group_name] if self._rare_has_number() else kept

    def values_back(self) -> NDArray[Any]:
        """Return the level of each output column, and last the level of a row of zeros."""
        lost = None
        if self.dropped is not None:
            lost = (
                self.group_name if self.dropped in self.rare else self.levels.tolist()[self.dropped]
            )
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


#: Lookup key of NaN, which is not equal to itself.
NAN = ("missing", "float")


def level_keys(levels: NDArray[Any]) -> list[Any]:
    """Return the lookup key of each level."""
    values = levels.tolist()
    return values if set(map(type, values)) <= {str, int, bool} else [_key(v) for v in values]


def _key(value: Any) -> Any:
    """Return the lookup key of a level: NaN is not equal to itself."""
    return ("missing", type(value).__name__) if is_missing(value) else value


def _nan(levels: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(levels) if levels.dtype.kind == "f" else np.zeros(len(levels), np.bool_)
