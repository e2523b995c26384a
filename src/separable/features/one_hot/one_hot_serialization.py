"""Serialization of a fitted OneHotEncoder to tensors and JSON values.

The levels of a column are a numeric tensor; texts and objects are stored as texts with a type code
each.
"""

from __future__ import annotations

import re
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.strings import is_texts
from separable.features.one_hot.levels import ColumnLevels, level_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.features.base import Tensors

__all__ = ["levels_from_parts", "levels_to_parts", "options_from_values", "options_to_values"]

#: Types of objects, by type code.
TYPES = ("str", "None", "float", "int", "bool")
TIMES = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]")
UNKNOWN = ("error", "ignore", "infrequent_if_exist", "warn")
DROPS = (None, "first", "if_binary", "given")
#: Maximum digits of an integer that is read.
MAX_DIGITS = 300


# --- levels ---


def levels_to_parts(columns: Sequence[ColumnLevels]) -> tuple[dict[str, Any], list[str]]:
    """Return tensors of the levels of all columns, and the kind of each column."""
    kinds: list[str] = []
    tensors: dict[str, Any] = {}
    for column_index, column in enumerate(columns):
        kind, parts = _parts_of(column.levels, column_index)
        kinds.append(kind)
        tensors |= {f"{name}/{column_index}": part for name, part in parts.items()}
    rare = [column.rare for column in columns]
    dropped = [-1 if column.dropped is None else column.dropped for column in columns]
    tensors["rare"] = np.concatenate([np.zeros(0, np.int64), *rare]).astype(np.int64)
    tensors["rare_counts"] = np.array([len(each) for each in rare], dtype=np.int64)
    tensors["dropped"] = np.array(dropped, dtype=np.int64)
    return tensors, kinds


def _parts_of(levels: NDArray[Any], column_index: int) -> tuple[str, dict[str, Any]]:
    kind = levels.dtype.kind
    if kind in "biuf" and levels.dtype.itemsize <= 8:
        return "numbers", {"levels": levels}
    if kind in "mM" and TIMES.fullmatch(levels.dtype.name):
        return levels.dtype.name, {"levels": levels.view(np.int64)}
    if kind not in "OU":
        raise ValueError(_refusal(column_index, f"of dtype {levels.dtype}"))
    values = levels.tolist()
    types = [_type_of(value, column_index) for value in values]
    texts = tuple(
        str(value) if type_ else value for value, type_ in zip(values, types, strict=True)
    )
    if not any(types):
        return "texts", {"levels": texts}
    return "objects", {"levels": texts, "types": np.array(types, dtype=np.uint8)}


def _type_of(value: Any, column_index: int) -> int:
    kinds = (str, type(None), float, None, bool)
    for number, kind in enumerate(kinds):
        if kind is not None and isinstance(value, kind):
            return number
    if isinstance(value, Integral) and len(str(int(value))) <= MAX_DIGITS:
        return TYPES.index("int")
    raise ValueError(_refusal(column_index, f"such as {value!r:.80}"))


def _refusal(column_index: int, what: str) -> str:
    return (
        f"Column {column_index} of the OneHotEncoder has levels {what}, which a model file cannot "
        "store. Convert the column to text or numbers before fitting."
    )


def levels_from_parts(tensors: Tensors, kinds: Any) -> list[ColumnLevels]:
    """Return the levels of each column from untrusted parts."""
    listed = isinstance(kinds, list) and all(isinstance(kind, str) for kind in kinds)
    check(listed and len(kinds) > 0, "wrong 'kinds'")
    expected = {"rare", "rare_counts", "dropped", *(f"levels/{at}" for at in range(len(kinds)))}
    expected |= {f"types/{at}" for at, kind in enumerate(kinds) if kind == "objects"}
    check(set(tensors) - {"names"} == expected, "wrong tensors")
    rare = _rare(tensors, len(kinds))
    dropped = _indices(tensors, "dropped", len(kinds)).tolist()
    out = []
    for column_index, kind in enumerate(kinds):
        levels = _levels(tensors, kind, column_index)
        n = len(levels)
        check(len(set(level_keys(levels))) == n, "duplicate level")
        check(
            bool((rare[column_index] < n).all()) and -1 <= dropped[column_index] < n,
            "level out of range",
        )
        gone = None if dropped[column_index] < 0 else dropped[column_index]
        out.append(ColumnLevels(levels, rare[column_index].astype(np.intp), gone))
    return out


def _rare(tensors: Tensors, n_columns: int) -> list[NDArray[np.int64]]:
    counts = _indices(tensors, "rare_counts", n_columns)
    check(bool((counts >= 0).all()), "wrong 'rare_counts'")
    indices = _indices(tensors, "rare", sum(counts.tolist()))
    groups = np.split(indices, np.cumsum(counts)[:-1])
    for group in groups:
        check(bool((np.diff(group, prepend=-1) > 0).all()), "'rare' must ascend from 0")
    return groups


def _levels(tensors: Tensors, kind: str, column_index: int) -> NDArray[Any]:
    part = tensors[f"levels/{column_index}"]
    if kind in ("texts", "objects"):
        check(is_texts(part), "levels must be texts")
        types = _types(tensors, column_index, len(part)) if kind == "objects" else [0] * len(part)
        levels = np.empty(len(part), dtype=object)
        levels[:] = [_value(text, each) for text, each in zip(part, types, strict=True)]
        return levels
    one_row = isinstance(part, np.ndarray) and part.ndim == 1
    assert isinstance(part, np.ndarray) or not one_row
    if kind == "numbers":
        check(one_row and part.dtype.kind in "biuf", "levels must be numbers")  # type: ignore[union-attr]
        return part  # type: ignore[return-value]
    check(TIMES.fullmatch(kind) is not None, f"unknown kind {kind!r:.40}")
    check(one_row and part.dtype == np.int64, "times must be int64")  # type: ignore[union-attr]
    return part.view(kind)  # type: ignore[union-attr]


def _types(tensors: Tensors, column_index: int, n: int) -> list[int]:
    types = tensors[f"types/{column_index}"]
    fits = isinstance(types, np.ndarray) and types.dtype == np.uint8 and types.shape == (n,)
    check(fits, "wrong 'types'")
    assert isinstance(types, np.ndarray)
    listed: list[int] = types.tolist()
    return listed


def _value(text: str, type_: int) -> Any:
    if type_ == 0:
        return text
    check(type_ < len(TYPES) and text.isascii() and len(text) <= MAX_DIGITS + 1, "wrong 'types'")
    kind, value = TYPES[type_], None
    if kind == "float":
        value = float(text)
    elif kind == "int":
        value = int(text)
    elif kind == "bool":
        value = text == "True"
    check(str(value) == text, f"{text!r:.40} is no {kind}")
    return value


def _indices(tensors: Tensors, name: str, n: int) -> NDArray[np.int64]:
    array = tensors[name]
    fits = isinstance(array, np.ndarray) and array.dtype == np.int64 and array.shape == (n,)
    check(fits, f"wrong {name!r}")
    assert isinstance(array, np.ndarray)
    return array


# --- options ---


def options_to_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as JSON values; given levels are stored with the learned ones."""
    if parameters["feature_name_combiner"] != "concat":
        raise ValueError(
            "A OneHotEncoder whose 'feature_name_combiner' is a function cannot be saved: a file "
            "contains no code. Use 'concat'."
        )
    drop, categories = parameters["drop"], parameters["categories"]
    fraction, most = parameters["min_frequency"], parameters["max_categories"]
    return {
        "categories": "auto" if isinstance(categories, str) else "given",
        "drop": drop if drop is None or isinstance(drop, str) else "given",
        "sparse_output": bool(parameters["sparse_output"]),
        "dtype": np.dtype(parameters["dtype"]).name,
        "handle_unknown": parameters["handle_unknown"],
        "min_frequency": fraction
        if fraction is None or isinstance(fraction, float)
        else int(fraction),
        "max_categories": None if most is None else int(most),
    }


def options_from_values(values: Mapping[str, Any], columns: list[ColumnLevels]) -> dict[str, Any]:
    """Return the parameters of a saved encoder."""
    check(values.get("categories") in ("auto", "given"), "wrong 'categories'")
    drop = values.get("drop")
    check(drop in DROPS, "wrong 'drop'")
    gone = [column.dropped for column in columns]
    check(drop is not None or gone == [None] * len(gone), "'dropped' without 'drop'")
    check(drop != "given" or None not in gone, "'drop' without 'dropped'")
    check(isinstance(values.get("sparse_output"), bool), "wrong 'sparse_output'")
    check(values.get("handle_unknown") in UNKNOWN, "wrong 'handle_unknown'")
    fraction, most = values.get("min_frequency"), values.get("max_categories")
    whole = type(fraction) is int and fraction >= 1
    check(
        fraction is None or whole or (type(fraction) is float and 0 < fraction < 1),
        "wrong 'min_frequency'",
    )
    check(most is None or (type(most) is int and most >= 1), "wrong 'max_categories'")
    levels = [column.levels for column in columns]
    return {
        "categories": "auto" if values["categories"] == "auto" else levels,
        "drop": drop if drop != "given" else [_dropped(column) for column in columns],
        "sparse_output": values["sparse_output"],
        "dtype": _dtype(values.get("dtype")),
        "handle_unknown": values["handle_unknown"],
        "min_frequency": fraction,
        "max_categories": most,
    }


def _dropped(column: ColumnLevels) -> Any:
    assert column.dropped is not None
    return column.levels[column.dropped]


def _dtype(name: Any) -> Any:
    try:
        dtype = np.dtype(name) if isinstance(name, str) else np.dtype(object)
    except TypeError:
        dtype = np.dtype(object)
    check(dtype.kind in "biuf" and dtype.name == name, "wrong 'dtype'")
    return dtype.type


def check(ok: bool, what: str) -> None:
    """Raise for a damaged file."""
    if not ok:
        raise ValueError(f"The saved OneHotEncoder is damaged: {what}.")
