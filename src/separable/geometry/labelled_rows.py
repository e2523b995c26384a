"""Labelled rows, read and checked as for the learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.core_rows import core_rows
from separable.data.rows import as_rows, column_names
from separable.fitting.targets import check_labels
from separable.geometry.cone.signed_rows import SignedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = ["LabelledRows", "check_names", "read_labelled"]

OWNER = "separability"


@dataclass(frozen=True)
class LabelledRows:
    """Rows and their labels.

    Parameters
    ----------
    rows : Rows
        Finite values; sparse rows without duplicate columns.
    label : ndarray of int, shape (n,)
        Index of each label in ``classes``.
    classes : ndarray, shape (K,)
        Sorted.
    names : tuple of str, or None
        Column names.
    """

    rows: Rows
    label: NDArray[np.intp]
    classes: NDArray[Any]
    names: tuple[str, ...] | None

    def signed(self, fit_intercept: bool) -> SignedRows:
        """Return the vectors of two classes."""
        sign = np.where(self.label == 1, 1.0, -1.0)
        return SignedRows(self.rows, sign, fit_intercept)


def read_labelled(X: Any, y: Any, feature_names: Sequence[str] | None = None) -> LabelledRows:
    """Read and check rows and labels."""
    rows = as_rows(X)
    if rows.is_sparse and core_rows(rows).has_repeats():
        rows = rows.sum_duplicates()
    labels = check_labels(y, rows.n_rows, OWNER)
    classes, label = np.unique(labels, return_inverse=True)
    names = column_names(X) if feature_names is None else check_names(feature_names, rows)
    return LabelledRows(rows, label.reshape(-1), classes, names)


def check_names(feature_names: Sequence[str], rows: Rows) -> tuple[str, ...]:
    """Return the column names, one per column."""
    names = tuple(str(name) for name in feature_names)
    if len(names) != rows.n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but X has {rows.n_features} columns. Give one "
            "name for each column, or None."
        )
    return names
