"""What an online run can prove, computed from data and final weights, not by the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel

__all__ = ["Margins", "measure_margins"]

#: Rows scored at a time: bounds the memory of the scores.
BLOCK_ROWS = 8192


@dataclass(frozen=True, slots=True)
class Margins:
    """How the final weights sort the training rows, in float64.

    Parameters
    ----------
    smallest : ndarray of shape (models,)
        min over rows of y (w.x + b), of each one-vs-rest model; under the argmax rule one entry,
        the smallest lead of the true class.
    wrong_rows : int
        Rows on the wrong side, or on the boundary, of some model.
    radius : float
        max over rows of |x|.
    """

    smallest: NDArray[np.float64]
    wrong_rows: int
    radius: float


def measure_margins(
    model: LinearModel,
    rows: Rows,
    label: NDArray[np.int32],
    chosen: NDArray[np.int64] | None,
    rule: str,
) -> Margins:
    """Score every chosen row in float64 and compare with its label."""
    smallest, wrong, radius = np.inf, 0, 0.0
    for start in range(0, rows.n_rows, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, rows.n_rows)
        block, block_label = rows.slice(start, stop), label[start:stop]
        if chosen is not None:
            first, last = np.searchsorted(chosen, [start, stop])
            keep = chosen[first:last] - start
            block, block_label = block.take(keep), block_label[keep]
        if block.n_rows == 0:
            continue
        margins = _margins(np.asarray(model.decision_function(block)), block_label, rule)
        smallest = np.minimum(smallest, margins.min(axis=0))
        wrong += int((~(margins > 0)).any(axis=1).sum())
        radius = max(radius, _largest_norm(block))
    return Margins(np.atleast_1d(smallest), wrong, radius)


def _margins(scores: NDArray[np.float64], label: NDArray[np.int32], rule: str) -> NDArray[np.float64]:
    if scores.ndim == 1:
        return np.where(label == 1, scores, -scores)[:, None]
    own = label[:, None] == np.arange(scores.shape[1])
    if rule == "ovr":
        return np.where(own, scores, -scores)
    rival = np.where(own, -np.inf, scores).max(axis=1)
    return (scores[own] - rival)[:, None]  # type: ignore[no-any-return]


def _largest_norm(rows: Rows) -> float:
    values = rows.values.astype(np.float64)
    scale = np.abs(values).max(initial=0.0)
    if scale == 0:
        return 0.0
    squares = (values / scale) ** 2  # no overflow at 1e200
    if rows.indptr is None:
        totals = squares.sum(axis=1)
    else:
        ends = np.concatenate([[0.0], np.cumsum(squares)])
        totals = np.diff(ends[rows.indptr - rows.indptr[0]])
    return float(scale * np.sqrt(totals.max()))
