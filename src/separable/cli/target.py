"""The target column as class labels, or the reason why it cannot be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.table import TableError, is_number

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.table import ColumnType

__all__ = ["Target", "read_target"]

#: More classes than this, and more than the share of rows below, are not classes.
MANY_CLASSES = 20
NUMBER_SHARE = 0.05
TEXT_SHARE = 0.5

#: A whole number as int64 writes it, if it is not too large.
PLAIN = re.compile(r"0|-?[1-9][0-9]{0,18}")


@dataclass(frozen=True)
class Target:
    """The labels of the rows that have one.

    Parameters
    ----------
    labels : ndarray of int64 or str
    rows : ndarray of int64
        Their places in the table.
    missing : int
        How many rows had none.
    """

    labels: NDArray[Any]
    rows: NDArray[np.int64]
    missing: int

    def counts(self) -> dict[Any, int]:
        """Return the number of rows of each class, in order."""
        classes, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def read_target(table: pa.Table, name: str, where: str, kind: ColumnType | None = None) -> Target:
    """Return the labels of a table: plain whole numbers as int64, everything else as written.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        The target column, read as text.
    where : str
        The file, to begin error messages.
    kind : {"number", "category"}, optional
        Whole numbers or nothing; or text whatever it looks like.

    Returns
    -------
    Target
    """
    column = as_columns(table)[name]
    assert isinstance(column, Categories)
    levels, codes = column.levels, column.codes
    there = codes >= 0
    what = f"{where}: the target column {name!r}"
    odd = next((place for place, level in enumerate(levels) if not _is_plain(level)), None)
    if kind == "number" and odd is not None:
        row = int(np.flatnonzero(codes == odd)[0])
        raise TableError(
            f"{what} holds {levels[odd]!r} in data row {row + 1}, which is not a plain whole "
            f"number. Correct it, or leave out --number {name}: the classes are then texts."
        )
    labels = np.array(levels, dtype=np.str_)
    if kind != "category" and odd is None:
        labels = labels.astype(np.int64)
    target = Target(labels[codes[there]], np.flatnonzero(there), int(np.count_nonzero(~there)))
    _refuse(target, what, all(is_number(level) for level in levels))
    return target


def _is_plain(text: str) -> bool:
    """Whether int64 gives a text back as it was written."""
    return PLAIN.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def _refuse(target: Target, what: str, numbers: bool) -> None:
    counts = target.counts()
    if not counts:
        raise TableError(f"{what} is empty in every row.")
    if len(counts) == 1:
        rows = f"all {len(target.labels)} rows" if len(target.labels) > 1 else "its only row"
        raise TableError(
            f"{what} holds a single class, {next(iter(counts))!r}, in {rows}. A classifier needs "
            "rows of two classes or more."
        )
    share = NUMBER_SHARE if numbers else TEXT_SHARE
    if len(counts) > max(MANY_CLASSES, share * len(target.labels)):
        looks = "a quantity" if numbers else "an identifier or free text"
        raise TableError(
            f"{what} looks like {looks}: {len(counts)} different values in {len(target.labels)} "
            "rows. This learner is a classifier: name a column of classes, or group the values "
            "into a few."
        )
