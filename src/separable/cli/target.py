"""The target column as class labels, or the reason why it cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Numbers, as_columns, number_text
from separable.data.table import TableError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["Target", "read_target"]

#: More classes than this, and more than the share of rows below, are not classes.
MANY_CLASSES = 20
NUMBER_SHARE = 0.05
TEXT_SHARE = 0.5


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


def read_target(table: pa.Table, name: str, where: str) -> Target:
    """Return the labels of a table: whole numbers as int64, everything else as text.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        The target column.
    where : str
        The file, to begin error messages.

    Returns
    -------
    Target
    """
    column = as_columns(table)[name]
    if isinstance(column, Numbers):
        there = ~np.isnan(column.values)
        labels = _number_labels(column.values[there])
    else:
        there = column.codes >= 0
        labels = np.array(column.levels, dtype=np.str_)[column.codes[there]]
    target = Target(labels, np.flatnonzero(there), int(np.count_nonzero(~there)))
    _refuse(target, f"{where}: the target column {name!r}", isinstance(column, Numbers))
    return target


def _number_labels(values: NDArray[np.float64]) -> NDArray[Any]:
    if bool((np.abs(values) < 2**53).all()) and bool((values == np.rint(values)).all()):
        return values.astype(np.int64)
    return np.array([number_text(value) for value in values.tolist()], dtype=np.str_)


def _refuse(target: Target, what: str, is_number: bool) -> None:
    counts = target.counts()
    if not counts:
        raise TableError(f"{what} is empty in every row.")
    if len(counts) == 1:
        raise TableError(
            f"{what} holds a single class, {next(iter(counts))!r}, in all {len(target.labels)} "
            "rows. A classifier needs rows of two classes or more."
        )
    share = NUMBER_SHARE if is_number else TEXT_SHARE
    if len(counts) > max(MANY_CLASSES, share * len(target.labels)):
        looks = "a quantity" if is_number else "an identifier or free text"
        raise TableError(
            f"{what} looks like {looks}: {len(counts)} different values in {len(target.labels)} "
            "rows. This learner is a classifier: name a column of classes, or group the values "
            "into a few."
        )
