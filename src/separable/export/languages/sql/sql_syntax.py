"""Identifiers, literals and sums of SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.export.plan.plan import ExportError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["identifier", "literal", "number", "summed"]


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


def summed(terms: Sequence[str], sign: str = "+") -> str:
    """Return a balanced sum: databases limit the depth of expressions.

    Examples
    --------
    >>> summed(["a", "b", "c"])
    '(a + (b + c))'
    """
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({summed(terms[:half], sign)} {sign} {summed(terms[half:], sign)})"
