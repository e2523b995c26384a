"""Factorization of columns into codes and levels.

Columns may come from NumPy, data frames or Arrow. Missing values are levels here: NaN, None and
pandas' NA stay distinct.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable
from separable.data.arrow_arrays import flat, integers, is_text, nulls, one_chunk, text_codes
from separable.data.table import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Factors", "factors_of", "factors_of_objects", "sorted_levels"]


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
