"""Formatting of names, labels and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "byte_text",
    "cell_text",
    "column_lines",
    "counted",
    "feature_name",
    "label_value",
    "lined_up",
    "number",
    "rounded",
    "shortened",
    "shown",
    "signed",
    "table",
]

MAX_WIDTH = 48


def byte_text(n_bytes: float) -> str:
    """Return a number of bytes in the unit that suits it.

    Examples
    --------
    >>> byte_text(3368), byte_text(480_000), byte_text(2.04e10), byte_text(12)
    ('3.37 kB', '480 kB', '20.4 GB', '12 bytes')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= 0.9995 * size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"


def counted(count: Any, noun: str) -> str:
    """Return a count with a noun: 1 row, 2 rows."""
    return f"{count} {noun}{'s' * (count != 1)}"


def column_lines(columns: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return one line per column of a table: name, type and notes."""
    width = max((len(name) for name, _, _ in columns), default=0)
    return [f"  {name.ljust(width)}  {kind:<8}  {notes}".rstrip() for name, kind, notes in columns]


def feature_name(names: Sequence[str] | None, feature: int) -> str:
    """Return the name of a feature, ``x7`` if it has none."""
    return f"x{feature}" if names is None else names[feature]


def label_value(label: Any) -> Any:
    """Return a class label as a plain Python value."""
    import numpy as np

    return label.item() if isinstance(label, np.generic) else label


def shown(text: object, widest: int = MAX_WIDTH) -> str:
    """Return text for one line of a terminal: without control characters, shortened."""
    safe = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode()
        for char in str(text)[: 4 * widest]
    )
    return safe if len(safe) <= widest else safe[: widest - 3] + "..."


def shortened(names: Sequence[str], widest: int = 32) -> list[str]:
    """Return names shortened in the middle, as long as needed so that no two look alike.

    Examples
    --------
    >>> shortened(["a long name of a column, 2023", "a long name of a column, 2024", "b"], 14)
    ['a long ...2023', 'a long ...2024', 'b']
    """
    safe = [shown(name, 10 * len(name) + 10) for name in names]
    different = len(set(names))
    while True:
        short = [_without_middle(name, widest) for name in safe]
        if len(set(short)) == different or all(len(name) <= widest for name in safe):
            return short
        widest *= 2


def _without_middle(name: str, widest: int) -> str:
    if len(name) <= widest:
        return name
    end = (widest - 3) // 3 + 1
    return f"{name[: widest - 3 - end]}...{name[-end:]}"


def cell_text(value: object) -> str:
    """Return a table value as text, numbers with all digits."""
    from separable.data.columns import number_text

    if value is None:
        return "(missing)"
    return shown(number_text(value) if isinstance(value, float) else value)


def number(value: float) -> str:
    """Return a number with at most six digits."""
    return f"{value:.6g}"


def rounded(value: float, digits: int) -> str:
    """Return a number with some digits, without a power of ten below a million.

    Examples
    --------
    >>> rounded(137664.2, 4), rounded(372.9, 2), rounded(0.0127, 2)
    ('137700', '370', '0.013')
    """
    return number(float(f"{value:.{digits}g}"))


def signed(value: float) -> str:
    """Return a number with at most six digits, with a sign unless it is 0."""
    return f"{value:+.6g}" if value else "0"


def lined_up(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return cells as aligned columns: the first ``left`` left-aligned, others right-aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def table(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return aligned cells, indented."""
    return "  " + lined_up(lines, left).replace("\n", "\n  ")
