"""Replay of an online learner, update by update, on a small data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = ["MOST_PRESENTATIONS", "TrainingFrames", "replay"]

#: Maximum number of presented rows, over all epochs, for a picture.
MOST_PRESENTATIONS = 20_000


@dataclass(frozen=True, eq=False)
class TrainingFrames:
    """The start and every update after it.

    Parameters
    ----------
    coef : ndarray of shape (F, d)
        The weights after each update; the first are those before any.
    intercept : ndarray of shape (F,)
    row : ndarray of int, shape (F,)
        The row that each update learned from; -1 at the start.
    epoch : ndarray of int, shape (F,)
        From 1; 0 at the start.
    """

    coef: Floats
    intercept: Floats
    row: NDArray[np.int64]
    epoch: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    def chosen(self, most: int) -> list[int]:
        """Return at most this many frames: the first, the last, and more early than late ones.

        Examples
        --------
        >>> import numpy as np
        >>> steps = np.arange(10)
        >>> TrainingFrames(steps[:, None] * 1.0, steps * 1.0, steps, steps).chosen(5)
        [0, 1, 2, 5, 9]
        """
        last = len(self) - 1
        if last < most:
            return list(range(len(self)))
        if most == 1:
            return [last]
        # each at least one after the one before, else in equal ratios
        steps = np.geomspace(1, last + 1, most) - 1
        steps = np.maximum(steps.round().astype(int), np.arange(most))
        return steps.tolist()  # type: ignore[no-any-return]


def replay(estimator: Any, rows: Rows, y: NDArray[Any], classes: NDArray[Any]) -> TrainingFrames:
    """Fit a copy of the learner, then show the same rows to another, one at a time.

    ``fit`` says how many epochs there are. ``partial_fit`` row by row takes the same steps, to the
    bit, and lets the weights be seen after each: slow, and meant for pictures of few rows.
    """
    _check_learner(estimator)
    fitted = clone(estimator).fit(rows.to_matrix(), y)
    shown = fitted.n_iter_ * len(rows)
    if shown > MOST_PRESENTATIONS:
        raise ValueError(
            f"{len(rows)} rows in {fitted.n_iter_} epochs are {shown} steps, more than the "
            f"{MOST_PRESENTATIONS} that a picture of single steps is made of. Take fewer rows, or "
            "a smaller max_iter."
        )
    frames = _steps(clone(estimator), rows, y, classes, fitted.n_iter_)
    if not (
        np.array_equal(frames.coef[-1], fitted.coef_[0])
        and frames.intercept[-1] == fitted.intercept_[0]
    ):
        raise ValueError(
            f"The steps of {estimator!r} do not end where its fit ends, so they are not what fit "
            "does. Use early_stopping=False and no sample weights or held-out rows."
        )
    return frames


def _check_learner(estimator: Any) -> None:
    if not hasattr(estimator, "partial_fit") or not hasattr(estimator, "shuffle"):
        raise TypeError(
            f"{type(estimator).__name__} does not learn row by row. Use Perceptron, "
            "AveragedPerceptron or SGDClassifier."
        )
    if estimator.shuffle:
        raise ValueError(
            "Frames show the rows in the order given, so the learner must not shuffle them. Set "
            "shuffle=False; for another order, give the rows in it."
        )


def _steps(
    learner: Any, rows: Rows, y: NDArray[Any], classes: NDArray[Any], epochs: int
) -> TrainingFrames:
    coef, intercept, learned, when = [np.zeros(rows.n_features)], [0.0], [-1], [0]
    for epoch in range(1, epochs + 1):
        for i in range(len(rows)):
            learner.partial_fit(rows.slice(i, i + 1).to_matrix(), y[i : i + 1], classes=classes)
            w, b = learner.coef_[0], float(learner.intercept_[0])
            if b != intercept[-1] or not np.array_equal(w, coef[-1]):
                coef.append(np.array(w, dtype=np.float64))
                intercept.append(b)
                learned.append(i)
                when.append(epoch)
    return TrainingFrames(np.array(coef), np.array(intercept), np.array(learned), np.array(when))
