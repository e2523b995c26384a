"""Missing values and the markers that denote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MISSING", "checked_markers", "is_missing"]

#: Texts that denote a missing value, after trimming.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", "-")


def is_missing(value: Any) -> bool:
    """Return whether an object is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return bool(isinstance(value, (float, np.floating)) and value != value)


def checked_markers(missing: Iterable[str] | None) -> tuple[str, ...]:
    """Return the missing-value markers, trimmed: `MISSING` if None."""
    if missing is None:
        return MISSING
    if isinstance(missing, str) or not all(isinstance(marker, str) for marker in missing):
        raise ValueError(
            "The 'missing' parameter must be a list of texts, such as ['', 'NA']. Got "
            f"{missing!r} instead."
        )
    return tuple(dict.fromkeys(marker.strip() for marker in missing))
