"""Cross-validation of ridge regression over many alphas: folds, and leave-one-out by leverages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import Estimator
from separable.fitting.best_candidate import best_index, edge_of
from separable.fitting.fold_fits import Problem, fold_fits
from separable.fitting.splits import Split
from separable.model.predict.scores import linear_scores
from separable.moments.regression.column_side import ColumnSide, column_side
from separable.moments.regression.leverage import MIN_LEFT, projections
from separable.statistics.held_out import holds_out_each_once, merged_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from separable.moments.base import Solution
    from separable.moments.regression.row_side import RowSide
    from separable.moments.regression.sparse_ridge import SparseRidge
    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats, Indices

    Fit = Callable[[Data, Indices, Moments, float], Solution]

__all__ = [
    "Folds",
    "Scores",
    "check_splits",
    "folds_of",
    "score_fold_fits",
    "score_folds",
    "score_left_out",
    "score_left_out_sparse",
    "score_left_out_wide",
    "score_predictions",
]


@dataclass(frozen=True)
class Scores:
    """Cross-validation scores of each alpha; larger is better.

    Parameters
    ----------
    alphas : ndarray, shape (A,)
    mean, standard_error : ndarray, shape (A,)
        Of the scores of the folds, or of the negative squared leave-one-out errors. The standard
        error is NaN if the scorer was called once for all leave-one-out predictions.
    folds : ndarray, shape (A, F), or None
        Scores of each fold.
    chosen : int or None
        Index of the best alpha, if it was chosen by scores in other units.
    """

    alphas: Floats
    mean: Floats
    standard_error: Floats
    folds: Floats | None = None
    chosen: int | None = None

    @cached_property
    def best(self) -> int:
        """Index of the best alpha; of tied alphas, the largest."""
        return best_index(self.mean, self.alphas) if self.chosen is None else self.chosen

    def of_scaled_target(self, exponent: int) -> Scores:
        """Return the squared errors of y from those of y * 2^exponent; the best alpha stays."""
        if exponent == 0:
            return self
        if not np.isfinite(self.mean).all():
            return self  # the caller raises
        with np.errstate(over="ignore", under="ignore"):
            return replace(
                self,
                mean=np.ldexp(self.mean, -2 * exponent),
                standard_error=np.ldexp(self.standard_error, -2 * exponent),
                folds=None if self.folds is None else np.ldexp(self.folds, -2 * exponent),
                chosen=self.best,
            )

    @cached_property
    def edge(self) -> str | None:
        """Whether the best alpha is the smallest or the largest of several."""
        return edge_of(self.alphas, self.best)


class _FixedPredictions(Estimator):
    """A regressor that returns its input, to call scorers with predictions."""

    _estimator_type = "regressor"

    def predict(self, X: Any) -> Any:
        """Return X."""
        return X


def score_predictions(
    scorer: Any, predicted: Floats, numbers: Floats, weight: Floats | None
) -> float:
    """Return the score of predictions, (n, t): negative mean squared error without a scorer."""
    if scorer is None:
        with np.errstate(over="ignore"):
            squares = ((predicted - numbers) ** 2).mean(axis=1)
        return -float(np.average(squares, weights=weight))
    if numbers.shape[1] == 1:
        predicted, numbers = predicted[:, 0], numbers[:, 0]
    if weight is None:
        return float(scorer(_FixedPredictions(), predicted, numbers))
    return float(scorer(_FixedPredictions(), predicted, numbers, sample_weight=weight))


#: If cancellation leaves less than this fraction, squared errors are computed from the rows.
MIN_FRACTION_LEFT = 1e-6


@dataclass(frozen=True)
class Folds:
    """Cross-validation splits and their sums.

    Parameters
    ----------
    splits : list of (train, test)
        Row indices.
    held_out, learned : list of Moments
        Sums of the test rows and of the training rows.
    total : Moments
        The sums of all rows.
    """

    splits: list[tuple[Indices, Indices]]
    held_out: list[Moments]
    learned: list[Moments]
    total: Moments


def folds_of(
    data: Data, splits: Sequence[tuple[Indices, Indices]], new_sums: Callable[[], Moments]
) -> Folds:
    """Sum the rows of each fold.

    If the test rows partition the data, the rows are read once: the training sums of a fold are
    merged from the sums of the other folds.
    """
    held_out = [new_sums().add_data(data, test) for _, test in splits]
    if _is_partition(splits, data.rows.n_rows):
        return Folds(list(splits), held_out, *merged_folds(held_out))
    learned = [new_sums().add_data(data, train) for train, _ in splits]
    return Folds(list(splits), held_out, learned, new_sums().add_data(data))


def check_splits(data: Data, splits: Sequence[tuple[Indices, Indices]]) -> None:
    """Refuse folds without rows."""
    weight = data.counted.weight
    if not splits:
        raise ValueError("The splitter gives no folds.")
    for number, split in enumerate(splits, start=1):
        for rows, what in zip(split, ("to learn from", "held out"), strict=True):
            if not len(rows) or (weight is not None and not weight[rows].any()):
                raise ValueError(
                    f"Fold {number} of {len(splits)} has no rows {what}, or all of weight 0. Use "
                    "fewer folds, or drop rows of weight 0."
                )


def _is_partition(splits: Sequence[tuple[Indices, Indices]], n_rows: int) -> bool:
    if len(splits) < 2:
        return False
    if not holds_out_each_once([test for _, test in splits], n_rows):
        return False
    other = np.empty(n_rows, bool)
    for train, test in splits:
        other[:] = True
        other[test] = False
        if len(train) != n_rows - len(test) or not other[train].all():
            return False
        other[train] = False
        if other.any():
            return False
    return True


def score_folds(
    data: Data, folds: Folds, alphas: Floats, scorer: Any, fit: Fit, *, fit_intercept: bool
) -> Scores:
    """Return the scores of each alpha on the held-out rows: one eigendecomposition per fold."""
    fold_scores = np.empty((len(alphas), len(folds.splits)))
    for k, (split, held_out, learned) in enumerate(
        zip(folds.splits, folds.held_out, folds.learned, strict=True)
    ):
        side = column_side(learned, fit_intercept=fit_intercept)
        fold_scores[:, k] = _score_fold(data, split, held_out, learned, side, alphas, scorer, fit)
    return _over_folds(alphas, fold_scores)


def _score_fold(
    data: Data,
    split: tuple[Indices, Indices],
    held_out: Moments,
    learned: Moments,
    side: ColumnSide,
    alphas: Floats,
    scorer: Any,
    fit: Fit,
) -> Floats:
    train, test = split
    scores, easy = np.empty(len(alphas)), side.has_digits(alphas)
    from_rows = np.ones(len(alphas), bool)
    if scorer is None and easy.any():
        with np.errstate(over="ignore"):
            squares, fraction = side.held_out_squares(held_out.sums, alphas)
            scores = -squares.mean(axis=1) / held_out.weight
        from_rows = ~easy | (fraction < MIN_FRACTION_LEFT)
    if not from_rows.any():
        return scores
    tested = data.present(test)
    for which in np.flatnonzero(from_rows).tolist():
        if easy[which]:
            w, b = (each[0] for each in side.weights(alphas[[which]]))
        else:
            solution = fit(data, train, learned, float(alphas[which]))
            w, b = solution.weights, solution.intercept
        predicted = linear_scores(tested.rows, w, b)
        scores[which] = score_predictions(scorer, predicted, tested.numbers, tested.counted.weight)
    return scores


def score_fold_fits(
    data: Data,
    splits: Sequence[tuple[Indices, Indices]],
    candidates: Sequence[Any],
    alphas: Floats,
    scorer: Any,
) -> Scores:
    """Return the scores of candidates with these alphas, by the protocol of all searches."""
    weight, numbers = data.counted.weight, data.numbers
    X, n = data.rows.to_matrix(), data.rows.n_rows
    problem = Problem(candidates[0], X, data.y, n, weight)
    fold_scores = np.empty((len(alphas), len(splits)))
    folds = [Split(n, test, train) for train, test in splits]
    for one in fold_fits(problem, candidates, folds):
        test = splits[one.fold][1]
        predicted = one.fit().predictions.predicted.reshape(len(test), -1)
        counts = np.ones(len(test), np.bool_) if weight is None else weight[test] > 0
        held = None if weight is None else weight[test][counts]
        score = score_predictions(scorer, predicted[counts], numbers[test][counts], held)
        fold_scores[one.candidate, one.fold] = score
    return _over_folds(alphas, fold_scores)


def _over_folds(alphas: Floats, fold_scores: Floats) -> Scores:
    k = fold_scores.shape[1]
    error = fold_scores.std(axis=1, ddof=1) / np.sqrt(k) if k > 1 else np.full(len(alphas), np.nan)
    return Scores(alphas, fold_scores.mean(axis=1), error, fold_scores)


def score_left_out(
    data: Data,
    side: ColumnSide,
    alphas: Floats,
    scorer: Any,
    left_out: Callable[[float], Floats],
    without: Callable[[int, float], Floats],
) -> Scores:
    """Return the leave-one-out scores of each alpha from one eigendecomposition.

    With Q = (X - mean) V the error without row i is r_i / (1 - h_i) with the leverage
    h_i = c_i / W + c_i sum_k q_ik^2 / (s_k + alpha).

    Parameters
    ----------
    data : Data
        Rows of positive weight.
    side : ColumnSide
        Of their sums.
    alphas : ndarray
    scorer : callable or None
        None: squared errors.
    left_out : callable
        Scores of all rows, for alphas where the eigenvalues lack precision.
    without : callable
        Score of one row from a refit, for rows of leverage close to 1.
    """
    inverse = side.inverses(alphas)
    has_digits = side.has_digits(alphas, inverse)
    easy = np.flatnonzero(has_digits)
    numbers = data.numbers
    gather = _Gather(numbers, data.counted.weight, len(alphas), scorer)
    for which in np.flatnonzero(~has_digits).tolist():
        gather.add(which, numbers - left_out(float(alphas[which])))
    if len(easy):
        with np.errstate(over="ignore", invalid="ignore"):  # infinite scores are refused
            _leave_out(data, side, alphas, inverse[:, easy], easy, gather, without)
    return gather.scores(alphas)


def _leave_out(
    data: Data,
    side: ColumnSide,
    alphas: Floats,
    inverse: Floats,
    easy: Indices,
    gather: _Gather,
    without: Callable[[int, float], Floats],
) -> None:
    basis, (k, t) = side.basis(), side.projection.shape
    ones = np.ones((1, len(easy)))
    to_left = np.vstack([-inverse, ones])  # 1 - h from c q^2 and 1 - c / W
    to_errors = [  # y - w.x from q and y
        np.vstack([-side.projection[:, j, None] * inverse * side.target_unit[j], ones])
        for j in range(t)
    ]
    own = 1.0 / side.sums.weight[0] if side.fit_intercept else 0.0
    centred = gather.numbers - side.target_mean
    for start, stop, block in projections(data.rows, side.mean, side.length, basis):
        axes, errors = np.empty((stop - start, k + 1)), []
        axes[:, :k] = block
        for j in range(t):
            axes[:, k] = centred[start:stop, j]
            errors.append(axes @ to_errors[j])
        np.multiply(block, block, out=axes[:, :k])
        axes[:, k] = -own
        if gather.weight is not None:
            axes *= gather.weight[start:stop, None]
        axes[:, k] += 1.0
        left = axes @ to_left
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


def score_left_out_sparse(
    data: Data,
    system: SparseRidge,
    alphas: Floats,
    scorer: Any,
    without: Callable[[int, float], Floats],
) -> Scores | None:
    """Return the leave-one-out scores of each alpha with many sparse columns.

    None if their leverages are not cheap, or conjugate gradients did not converge.
    """
    leverages, lanes = system.leverages(alphas), system.lanes(alphas)
    if leverages is None or lanes is None or not lanes.converged:
        return None
    gather = _Gather(data.numbers, data.counted.weight, len(alphas), scorer)
    for which, alpha in enumerate(alphas.tolist()):
        errors = data.numbers - linear_scores(
            data.rows, lanes.weights[which], lanes.intercept[which]
        )
        left = 1.0 - leverages[:, which]
        refitted = np.flatnonzero(left < MIN_LEFT)
        left[refitted] = 1.0
        errors /= left[:, None]
        for row in refitted.tolist():
            errors[row] = data.numbers[row] - without(row, alpha)
        gather.add(which, errors)
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
            if len(errors) > 1:
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
