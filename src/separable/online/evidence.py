"""What an online run can prove, computed from data and final weights, not by the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel
    from separable.online.runs import Lesson, Run

__all__ = ["Margins", "describe_margins", "describe_run", "measure_margins"]

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


def measure_margins(model: LinearModel, lesson: Lesson, rule: str) -> Margins:
    """Score every row that counts in float64 and compare with its label."""
    smallest, wrong, radius = np.array([np.inf]), 0, 0.0
    for start in range(0, lesson.rows.n_rows, BLOCK_ROWS):
        rows, label = _block(lesson, start, min(start + BLOCK_ROWS, lesson.rows.n_rows))
        if rows.n_rows == 0:
            continue
        margins = _margins(model.decision_function(rows), label, rule)
        smallest = np.minimum(smallest, margins.min(axis=0))
        wrong += int((~(margins > 0)).any(axis=1).sum())
        radius = max(radius, _largest_norm(rows))
    return Margins(smallest, wrong, radius)


def _block(lesson: Lesson, start: int, stop: int) -> tuple[Rows, NDArray[np.int32]]:
    rows, label = lesson.rows.slice(start, stop), lesson.label[start:stop]
    chosen = lesson.counted.rows
    if chosen is None:
        return rows, label
    first, last = np.searchsorted(chosen, [start, stop])
    keep = chosen[first:last] - start
    return rows.take(keep), label[keep]


def _margins(
    scores: NDArray[np.float64], label: NDArray[np.int32], rule: str
) -> NDArray[np.float64]:
    if scores.ndim == 1:
        return np.where(label == 1, scores, -scores)[:, None]
    own = label[:, None] == np.arange(scores.shape[1])
    if rule == "ovr":
        return np.where(own, scores, -scores)
    lead = scores[own] - np.where(own, -np.inf, scores).max(axis=1)
    return np.asarray(lead[:, None])


def _largest_norm(rows: Rows) -> float:
    values = rows.values.astype(np.float64)
    scale = np.abs(values).max(initial=0.0)
    if scale == 0:
        return 0.0
    squares = (values / scale) ** 2  # no overflow at 1e200
    if rows.indptr is None:
        totals = squares.sum(axis=1)
    else:
        row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        totals = np.bincount(row, squares)
    return float(scale * np.sqrt(totals.max()))


def describe_run(run: Run, rows_seen: int) -> dict[str, Any]:
    """Return what the run did."""
    return {
        "epochs": len(run.mistakes),
        "converged": run.converged,
        "converged_models": (run.mistakes[-1] == 0).tolist(),
        "mistakes": run.mistakes.sum(axis=1).tolist(),
        "updates": int(run.mistakes.sum()),
        "updates_per_model": run.mistakes.sum(axis=0).tolist(),
        "rows_seen": rows_seen,
    }


def describe_margins(
    model: LinearModel, margins: Margins, run: Run, *, bounded: bool, fit_intercept: bool
) -> dict[str, Any]:
    """Return margin, radius and mistake bound of weights that separate the training rows.

    Parameters
    ----------
    model, margins, run
        The final weights, what they do to the training rows, how they were found.
    bounded : bool
        Whether the mistake bound applies: one-vs-rest, zero start, unit weights.
    fit_intercept : bool
        Whether the bound is in the space (1, x).
    """
    converged = run.converged and margins.wrong_rows == 0
    told: dict[str, Any] = {"converged": converged, "training_mistakes": margins.wrong_rows}
    if run.pocket_mistakes:
        told["pocket_mistakes"] = run.pocket_mistakes
    told |= {"margin": None, "radius": None, "gamma": None, "bound": None}
    if not converged or len(margins.smallest) != len(model.weights):
        return told
    norm = np.linalg.norm(model.weights, axis=1)
    with np.errstate(divide="ignore"):
        told["margin"] = _plain(margins.smallest / norm)
    if bounded:
        gamma = margins.smallest / np.hypot(norm, model.intercept)
        radius = float(np.hypot(margins.radius, 1.0 if fit_intercept else 0.0))
        told |= {
            "radius": radius,
            "gamma": _plain(gamma),
            "bound": _plain((radius / gamma) ** 2),
        }
    return told


def _plain(values: NDArray[np.float64]) -> float | list[float]:
    """Return one number for one model, a list for several."""
    numbers: list[float] = values.tolist()
    return numbers[0] if len(numbers) == 1 else numbers
