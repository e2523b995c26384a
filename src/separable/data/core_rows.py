"""Rows as the compiled core takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._core import native
from separable.data.rows import check_indices

if TYPE_CHECKING:
    from separable.data.rows import Rows

__all__ = ["core_rows"]


def core_rows(rows: Rows) -> native.Rows:
    """Return the rows as the compiled core takes them, their indices checked."""
    try:
        return native.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
    except ValueError:
        check_indices(rows)  # says where
        raise
