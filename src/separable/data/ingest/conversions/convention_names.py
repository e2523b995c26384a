"""Names of conversions, for the command line and `TableEncoder(conversions=...)`.

It imports nothing, so that ``separable --help`` stays quick.
"""

from __future__ import annotations

from typing import Any

__all__ = ["HOW"]

#: The fields of a conversion by its name; None: the column is not converted.
HOW: dict[str, dict[str, Any] | None] = {
    "day-first": {"kind": "date", "order": "dmy"},
    "month-first": {"kind": "date", "order": "mdy"},
    "decimal-comma": {"kind": "number", "decimal": ","},
    "decimal-point": {"kind": "number", "decimal": "."},
    "text": None,
}
