"""Rows of a text file with what stands beside them: labels, queries, weights, tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = ["SparseBatch"]


@dataclass(frozen=True, slots=True)
class SparseBatch:
    """Some rows of a file, in its order.

    Parameters
    ----------
    rows : Rows
        CSR, float64; columns are int32, or int64 where one does not fit.
    labels : ndarray of float64 or tuple of str
        One a row: texts where the file has text or several labels a row. NaN: unlabelled, which
        only Vowpal Wabbit text knows.
    qid : ndarray of int64, optional
        The query of each row, -1 for a row without one; None: the file has none so far.
    weights : ndarray of float64, optional
        Vowpal Wabbit text: the importance of each row.
    tags : tuple of str, optional
        Vowpal Wabbit text: the tag of each row, empty where there is none.
    base : ndarray of float64, optional
        Vowpal Wabbit text: the initial prediction of each row.
    """

    rows: Rows
    labels: NDArray[np.float64] | tuple[str, ...]
    qid: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    tags: tuple[str, ...] | None = None
    base: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return self.rows.n_rows
