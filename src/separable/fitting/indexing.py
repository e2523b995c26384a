"""Rows of anything that has rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import (  # type: ignore[attr-defined]  # not in the stubs
    _safe_indexing,
    indexable,
)
from sklearn.utils.validation import _num_samples  # type: ignore[attr-defined]

from separable.data.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["paired", "take"]


def paired(X: Any, y: Any) -> tuple[Any, Any, int]:
    """Return X and y so that rows can be taken from them, and their number."""
    pair: Any = indexable(X.to_matrix() if isinstance(X, Rows) else X, y)
    X, y = pair
    return X, y, int(_num_samples(X))


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows; without a copy where they follow each other in an array."""
    if type(X) is np.ndarray and len(rows) and (np.diff(rows) == 1).all():
        return X[rows[0] : rows[-1] + 1]
    return _safe_indexing(X, rows)
