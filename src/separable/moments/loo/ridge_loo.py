"""Leave-one-out cross-validation of ridge regression over many alphas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.moments.regression.column_side import ColumnSide, column_side
from separable.moments.regression.leverage import MIN_LEFT, projections
from separable.moments.regression.ridge_folds import Scores, score_predictions

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.moments.regression.row_side import RowSide
    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats, Indices


__all__ = ["score_left_out", "score_left_out_wide"]


def score_left_out(
    data: Data,
    total: Moments,
    alphas: Floats,
    scorer: Any,
    left_out: Callable[[float], Floats],
    without: Callable[[int, float], Floats],
    *,
    fit_intercept: bool,
) -> Scores:
    """Return the leave-one-out scores of each alpha from one eigendecomposition.

    With Q = (X - mean) V the error without row i is r_i / (1 - h_i) with the leverage
    h_i = c_i / W + c_i sum_k q_ik^2 / (s_k + alpha).

    Parameters
    ----------
    data : Data
        Rows of positive weight.
    total : Moments
        Their sums.
    alphas : ndarray
    scorer : callable or None
        None: squared errors.
    left_out : callable
        Scores of all rows, for alphas where the eigenvalues lack precision.
    without : callable
        Score of one row from a refit, for rows of leverage close to 1.
    fit_intercept : bool
    """
    side = column_side(total, fit_intercept=fit_intercept)
    has_digits = side.has_digits(alphas)
    easy = np.flatnonzero(has_digits)
    numbers = data.numbers
    gather = _Gather(numbers, data.counted.weight, len(alphas), scorer)
    for which in np.flatnonzero(~has_digits).tolist():
        gather.add(which, numbers - left_out(float(alphas[which])))
    if len(easy):
        with np.errstate(over="ignore", invalid="ignore"):  # infinite scores are refused
            _leave_out(data, side, alphas, easy, gather, without)
    return gather.scores(alphas)


def _leave_out(
    data: Data,
    side: ColumnSide,
    alphas: Floats,
    easy: Indices,
    gather: _Gather,
    without: Callable[[int, float], Floats],
) -> None:
    inverse, basis = side.inverses(alphas[easy]), side.basis()
    k, t = side.projection.shape
    weights = [
        basis @ (side.projection[:, j, None] * inverse) * side.target_unit[j] for j in range(t)
    ]
    own = 1.0 / side.sums.weight[0] if side.fit_intercept else 0.0
    centred = gather.numbers - side.target_mean
    columns = np.hstack([basis, *weights])
    for start, stop, block in projections(data.rows, side.mean, side.length, columns):
        fitted = np.split(block[:, k:], t, axis=1)
        errors = [centred[start:stop, j, None] - fitted[j] for j in range(t)]
        axes = block[:, :k] * block[:, :k]
        left = axes @ inverse  # leverages h, then 1 - h
        left += own
        if gather.weight is not None:
            left *= gather.weight[start:stop, None]
        np.subtract(1.0, left, out=left)
        refitted = []
        if left.min(initial=1.0) < MIN_LEFT:
            refitted = np.argwhere(left < MIN_LEFT).tolist()
            left[left < MIN_LEFT] = 1.0
        for each in errors:
            each /= left
        for row, which in refitted:
            score = without(start + row, float(alphas[easy[which]]))
            for j in range(t):
                errors[j][row, which] = gather.numbers[start + row, j] - score[j]
        gather.add_block(start, stop, errors, easy)


def score_left_out_wide(
    data: Data,
    side: RowSide,
    alphas: Floats,
    scorer: Any,
    left_out: Callable[[float], Floats],
) -> Scores:
    """Return the leave-one-out scores of each alpha with more columns than rows."""
    numbers = data.numbers
    gather = _Gather(numbers, data.counted.weight, len(alphas), scorer)
    spectrum = side.spectrum()
    for which, alpha in enumerate(alphas.tolist()):
        errors = spectrum.left_out_errors(alpha)
        gather.add(which, numbers - left_out(alpha) if errors is None else errors)
    return gather.scores(alphas)


class _Gather:
    """Leave-one-out errors, summed, or stored for a scorer."""

    def __init__(self, numbers: Floats, weight: Floats | None, n_alphas: int, scorer: Any) -> None:
        self.numbers, self.weight, self.scorer = numbers, weight, scorer
        self.squares, self.fourth = np.zeros(n_alphas), np.zeros(n_alphas)
        self.predicted: Floats | None = None
        if scorer is not None:
            self.predicted = np.empty((n_alphas, *numbers.shape))

    def add(self, which: int, errors: Floats) -> None:
        """Add the errors of all rows, (n, t), with one alpha."""
        columns = [errors[:, j, None] for j in range(errors.shape[1])]
        self.add_block(0, len(errors), columns, np.array([which]))

    def add_block(self, start: int, stop: int, errors: list[Floats], which: Indices) -> None:
        """Add the errors of rows start to stop, (n, A) for each target, with some alphas."""
        if self.predicted is not None:
            for j, each in enumerate(errors):
                predicted = self.numbers[start:stop, j, None] - each
                self.predicted[which, start:stop, j] = predicted.T
            return
        with np.errstate(over="ignore"):
            squares = errors[0] * errors[0]
            for each in errors[1:]:
                squares += each * each
            squares /= len(errors)
            weight = np.ones(stop - start) if self.weight is None else self.weight[start:stop]
            self.squares[which] += weight @ squares
            squares *= squares
            self.fourth[which] += weight @ squares

    def scores(self, alphas: Floats) -> Scores:
        """Return the scores of all alphas."""
        if self.predicted is not None:
            values = [
                score_predictions(self.scorer, p, self.numbers, self.weight) for p in self.predicted
            ]
            return Scores(alphas, np.array(values), np.full(len(alphas), np.nan))
        n = len(self.numbers)
        total = n if self.weight is None else self.weight.sum()
        mean = self.squares / total
        with np.errstate(invalid="ignore", over="ignore"):
            spread = np.maximum(self.fourth / total - mean**2, 0.0)
        return Scores(alphas, -mean, np.sqrt(spread / max(n - 1, 1)))
