"""Selection of a hyper-parameter value by cross-validation, with the one-standard-error rule."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = [
    "GridEdgeWarning",
    "best_index",
    "edge_of",
    "one_standard_error_index",
    "refuse_undefined",
    "standard_errors",
    "warn_of_edge",
]

#: Scores closer than this, relative to the best, are the same.
TIE_TOLERANCE = 1e-12


class GridEdgeWarning(UserWarning):
    """The best hyper-parameter value is at the edge of the grid."""


def best_index(mean: Floats, penalty: Floats) -> int:
    """Return the index of the best mean score; ties go to the largest penalty."""
    top = mean.max()
    return _most_penalised(mean >= top - TIE_TOLERANCE * abs(top), penalty)


def one_standard_error_index(mean: Floats, error: Floats, penalty: Floats) -> int:
    """Return the index of the largest penalty within one standard error of the best score.

    With a single fold, which has no standard error, it is the best itself.
    """
    best = best_index(mean, penalty)
    if not math.isfinite(error[best]):
        return best
    return _most_penalised((mean >= mean[best] - error[best]) & (penalty >= penalty[best]), penalty)


def _most_penalised(candidates: NDArray[np.bool_], penalty: Floats) -> int:
    indices = np.flatnonzero(candidates)
    return int(indices[np.argmax(penalty[indices])])


def standard_errors(scores: Floats) -> Floats:
    """Return the standard errors of the means of scores, shape (folds, m); NaN for one fold."""
    if len(scores) < 2:
        return np.full(scores.shape[1], np.nan)
    errors: Floats = np.std(scores, axis=0, ddof=1) / math.sqrt(len(scores))
    return errors


def refuse_undefined(name: str, values: Floats, mean: Floats, *, is_regression: bool) -> None:
    """Refuse mean scores that are not finite, naming one of the values."""
    bad = np.flatnonzero(~np.isfinite(mean))
    if len(bad):
        overflow = "Squared errors may overflow: scale y. " if is_regression else ""
        raise ValueError(
            f"The score with {name}={values.flat[bad[0]]:g} is {mean.flat[bad[0]]}. {overflow}"
            "A scorer may not be defined for so few rows: use larger folds."
        )


def edge_of(values: Floats, index: int) -> str | None:
    """Return whether a value is the "smallest" or the "largest" of several, or neither."""
    value, low, high = values[index], values.min(), values.max()
    if low == high or low < value < high:
        return None
    return "smallest" if value == low else "largest"


def warn_of_edge(name: str, value: float, edge: str, stacklevel: int) -> None:
    """Warn that the best value is the smallest or the largest that was tried."""
    way = "smaller" if edge == "smallest" else "larger"
    warnings.warn(
        f"The best {name}, {value:g}, is the {edge} that was tried. The best of all may be {way}: "
        f"try {way} ones.",
        GridEdgeWarning,
        stacklevel=stacklevel + 1,
    )
