"""JSON values: what parameters, evidence and metadata of a model file may contain.

``plain`` converts NumPy scalars and arrays, tuples and mappings to JSON types, or names the
location of an invalid value. ``pack`` and ``unpack`` store NaN and infinities, which JSON lacks, as
``{"__float__": "nan"}``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

__all__ = ["JSON", "is_text", "pack", "plain", "unpack"]

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

MAX_DEPTH = 64
MAX_BITS = 1024  # no integer in a model needs more, and longer decimal text is slow to parse
FLOAT_TAG = "__float__"
SMALL_INT = 1 << 62
PLAIN_TYPES = frozenset([float, bool, type(None)])


def plain(value: Any, where: str, depth: int = 0) -> JSON:
    """Return ``value`` as JSON types; raise with the location of an invalid value.

    Parameters
    ----------
    value : object
        None, bool, int, float, str, a NumPy scalar or array, or a list, tuple or mapping of these.
    where : str
        Name of the value in error messages, for example ``parameters['C']``.
    depth : int, default 0
        Nesting depth of this value.

    Returns
    -------
    JSON
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"{where} is nested more than {MAX_DEPTH} levels deep. Flatten it.")
    if _is_plain(value):  # most values of a fit
        return value  # type: ignore[no-any-return]
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, float)):
        return value if value is None or isinstance(value, bool) else float(value)
    if isinstance(value, int):
        return _plain_int(int(value), where)
    if isinstance(value, str):
        return _plain_text(str(value), where)
    if isinstance(value, (list, tuple)):
        return [
            item
            if type(item) in PLAIN_TYPES or _is_plain(item)
            else plain(item, f"{where}[{i}]", depth + 1)
            for i, item in enumerate(value)
        ]
    if isinstance(value, (dict, Mapping)):  # dict first: the check of an abstract class is slow
        return {
            _plain_key(key, where): (
                item
                if type(item) in PLAIN_TYPES or _is_plain(item)
                else plain(item, f"{where}[{key!r}]", depth + 1)
            )
            for key, item in value.items()
        }
    raise ValueError(
        f"{where} is a {type(value).__name__}, which a model file cannot hold. Use None, bool, "
        "int, float, str, or lists and dicts of these."
    )


def _is_plain(value: Any) -> bool:
    """Return whether a value is of a JSON type, without a check of its contents."""
    kind = type(value)
    if kind is int:
        return bool(-SMALL_INT < value < SMALL_INT)
    return kind in PLAIN_TYPES or (kind is str and value.isascii())


def is_text(value: str) -> bool:
    """Return whether a string is valid UTF-8 (without lone surrogates)."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def pack(value: JSON) -> JSON:
    """Replace NaN and infinities by tagged text, recursively."""
    if isinstance(value, float) and not math.isfinite(value):
        return {FLOAT_TAG: str(value)}
    if isinstance(value, list):
        return [pack(item) for item in value]
    if isinstance(value, dict):
        return {key: pack(item) for key, item in value.items()}
    return value


def unpack(value: JSON, depth: int = 0) -> JSON:
    """Undo ``pack``; raise if nested deeper than ``plain`` allows."""
    if depth > MAX_DEPTH:
        raise ValueError(f"a value is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, list):
        return [unpack(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if FLOAT_TAG not in value:
        return {key: unpack(item, depth + 1) for key, item in value.items()}
    text = value[FLOAT_TAG]
    if len(value) != 1 or text not in ("nan", "inf", "-inf"):
        raise ValueError(
            f"a value tagged {FLOAT_TAG!r} must be nan, inf or -inf. Got {value!r:.80}."
        )
    return float(str(text))


def _plain_int(value: int, where: str) -> int:
    if value.bit_length() > MAX_BITS:
        raise ValueError(
            f"{where} is a whole number of more than {MAX_BITS} bits. Use a smaller one."
        )
    return value


def _plain_text(value: str, where: str) -> str:
    if not is_text(value):
        raise ValueError(
            f"{where} is {value!r:.80}, which has half of a surrogate pair and is not valid "
            "Unicode text. Decode the text again, for example with errors='replace'."
        )
    return value


def _plain_key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{where} has the key {key!r:.80}, but keys must be str.")
    if key == FLOAT_TAG:
        raise ValueError(
            f"{where} has the key {key!r}, which model files keep for NaN and infinity."
        )
    return key if key.isascii() else _plain_text(str(key), f"a key of {where}")
