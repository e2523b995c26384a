"""Identifiers, literals and tests of texts in SQL."""

from __future__ import annotations

from typing import Any

from separable.export.plan.plan import ExportError

__all__ = ["identifier", "is_number", "literal", "number"]


def identifier(name: str) -> str:
    """Return a quoted identifier.

    Examples
    --------
    >>> print(identifier('a "b" c'))
    "a ""b"" c"
    """
    if "\0" in name:
        raise ExportError(
            f"The name {name!r:.80} holds a NUL character, which no name in SQL can. Rename the "
            "column, and train again."
        )
    if not name:
        raise ExportError("A column has an empty name, which SQL does not allow. Rename it.")
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a literal; a NUL character, which SQL literals cannot hold, becomes CHAR(0).

    Examples
    --------
    >>> literal("it's"), literal(True), literal(None)
    ("'it''s'", 'TRUE', 'NULL')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    if not isinstance(value, str):
        raise ExportError(f"The value {value!r:.80} has no type of SQL. Pass a text.")
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else f"({' || CHAR(0) || '.join(parts)})"


def number(value: float) -> str:
    """Return a number with all digits, in parentheses if negative."""
    return f"({value!r})" if value < 0 or str(value)[0] == "-" else repr(value)


def is_number(column: str) -> str:
    """Return a test for decimal numbers: SQLite's CAST accepts any text by its beginning."""
    text = f"CAST({column} AS VARCHAR)"
    return (
        f"(TRIM({text}, '0123456789+-.eE') = '' AND TRIM({text}, '+-.eE') <> '' "
        f"AND REPLACE(LOWER({text}), 'e-', '') NOT LIKE '_%-%' AND {text} NOT LIKE '%.%.%' "
        f"AND {text} NOT LIKE '%e' AND {text} NOT LIKE '%e%.%')"
    )


def is_true(column: str) -> str:
    """Return the condition that the text of a column is a true boolean."""
    return f"LOWER(TRIM({column})) IN ('true', 'yes', 't', 'y', '1', '1.0')"


def is_false(column: str) -> str:
    """Return the condition that the text of a column is a false boolean."""
    return f"LOWER(TRIM({column})) IN ('false', 'no', 'f', 'n', '0', '0.0')"
