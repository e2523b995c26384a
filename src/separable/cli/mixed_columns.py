"""Columns that a few values keep from being numbers: most often a slip, so it is told."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.table import is_number
from separable.model.words import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pyarrow as pa

__all__ = ["mixed_columns"]

#: From this share on, the numbers among the values of a column are not there by chance.
NUMBER_SHARE = 0.9


def mixed_columns(table: pa.Table, asked: Collection[str]) -> Iterator[str]:
    """Tell of each column of text that is numbers but for a few values, or but for commas.

    Parameters
    ----------
    table : pyarrow.Table
    asked : collection of str
        The columns whose type the user chose: nothing is told of them.
    """
    columns = as_columns(table)
    for name in columns.names:
        column = columns[name] if name not in asked else None
        told = _told(name, column) if isinstance(column, Categories) else None
        if told:
            yield told


def _told(name: str, column: Categories) -> str | None:
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
    alike = np.array([is_number(level.replace(",", "")) for level in column.levels], dtype=bool)
    total = int(counts.sum())
    if not total or counts[alike].sum() < NUMBER_SHARE * total:
        return None
    odd = np.flatnonzero([not is_number(level) for level in column.levels])
    rows = np.flatnonzero(np.isin(column.codes, odd))
    if not len(rows):
        return None
    first = column.levels[column.codes[rows[0]]]
    are = "is not a plain number" if len(rows) == 1 else "are not plain numbers"
    return (
        f"{shown(name)}: taken as text because {len(rows)} of its {total} values {are} (first "
        f"{shown(first)!r} in data row {rows[0] + 1}). Write numbers as 1234.5 and leave missing "
        f"ones empty; or keep it as a category with --category {shlex.quote(name)}."
    )
