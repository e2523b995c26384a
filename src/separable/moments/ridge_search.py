"""How well each alpha of a ridge regression predicts rows it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from separable.fitting.targets import RowWeights
from separable.model.scores import linear_scores
from separable.moments.column_side import ColumnSide, column_side
from separable.moments.data import Data
from separable.moments.leverage import LEAST_LEFT, projections
from separable.moments.moments import complements
from separable.moments.row_side import RowSide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.moments.estimator import Solution
    from separable.moments.moments import Moments

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    #: The fit to some rows, of which the sums are there too, by the way that loses no digits.
    Fit = Callable[[Data, Integers, Moments, float], Solution]

__all__ = [
    "Folds",
    "Scores",
    "check_splits",
    "folds_of",
    "score_folds",
    "score_folds_wide",
    "score_left_out",
    "score_left_out_wide",
]

#: Less than this of a sum of squares left, and it is computed from the rows instead.
LEAST_SHARE = 1e-6
#: Largest over smallest eigenvalue of products of rows, alpha included, that keeps nine digits.
WORST_WIDE = 1e6
#: Scores closer than this, relative to the best, are the same.
TIE = 1e-12


@dataclass(frozen=True)
class Scores:
    """What each alpha reached; larger is better.

    Parameters
    ----------
    alphas : ndarray, shape (A,)
    mean, standard_error : ndarray, shape (A,)
        Of the scores of the folds, or of the negative squared errors of rows left out. A scorer
        that was called once, for all rows left out, has a standard error of NaN.
    folds : ndarray, shape (A, F), or None
        Each fold's.
    """

    alphas: Floats
    mean: Floats
    standard_error: Floats
    folds: Floats | None = None

    @property
    def best(self) -> int:
        """The place of the best alpha; of those that tie, the largest."""
        top = self.mean.max()
        tied = np.flatnonzero(self.mean >= top - TIE * abs(top))
        return int(tied[np.argmax(self.alphas[tied])])

    @property
    def edge(self) -> str | None:
        """Whether the best alpha is the smallest or the largest of several."""
        alpha, low, high = self.alphas[self.best], self.alphas.min(), self.alphas.max()
        if low == high or low < alpha < high:
            return None
        return "smallest" if alpha == low else "largest"


@dataclass(frozen=True)
class Folds:
    """Rows to learn from and rows held out, several times.

    Parameters
    ----------
    splits : list of (train, test)
        Row numbers.
    held_out, learned : list of Moments
        Their sums.
    total : Moments
        The sums of all rows.
    """

    splits: list[tuple[Integers, Integers]]
    held_out: list[Moments]
    learned: list[Moments]
    total: Moments


def folds_of(
    data: Data, splits: Sequence[tuple[Integers, Integers]], new_sums: Callable[[], Moments]
) -> Folds:
    """Sum the rows of each fold.

    Where every row is held out once and learned from in all other folds, the rows are read once:
    what a fold learns from is merged from the sums of the folds before it and after it.
    """
    held_out = [new_sums().add_data(data, test) for _, test in splits]
    if _is_partition(splits, data.rows.n_rows):
        learned = complements(held_out)
        total = learned[0] + held_out[0]
    else:
        learned = [new_sums().add_data(data, train) for train, _ in splits]
        total = new_sums().add_data(data)
    return Folds(list(splits), held_out, learned, total)


def check_splits(data: Data, splits: Sequence[tuple[Integers, Integers]]) -> None:
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


def _is_partition(splits: Sequence[tuple[Integers, Integers]], n_rows: int) -> bool:
    if len(splits) < 2:
        return False
    every = np.concatenate([test for _, test in splits])
    if len(every) != n_rows or (np.bincount(every, minlength=n_rows) != 1).any():
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


# ---------------------------------------------------------------------- folds


def score_folds(
    data: Data, folds: Folds, alphas: Floats, scorer: Any, fit: Fit, *, fit_intercept: bool
) -> Scores:
    """Return how well each alpha predicts the rows held out: one eigendecomposition a fold."""
    found = np.empty((len(alphas), len(folds.splits)))
    for k, (split, held_out, learned) in enumerate(
        zip(folds.splits, folds.held_out, folds.learned, strict=True)
    ):
        side = column_side(learned, fit_intercept=fit_intercept)
        found[:, k] = _score_fold(data, split, held_out, learned, side, alphas, scorer, fit)
    return _over_folds(alphas, found)


def _score_fold(
    data: Data,
    split: tuple[Integers, Integers],
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
            squares, share = side.held_out_squares(held_out.sums, alphas)
            scores = -squares.mean(axis=1) / held_out.weight
        from_rows = ~easy | (share < LEAST_SHARE)
    if not from_rows.any():
        return scores
    rows, numbers, weight = _taken(data, test)
    for which in np.flatnonzero(from_rows).tolist():
        if easy[which]:
            w, b = (each[0] for each in side.weights(alphas[[which]]))
        else:
            solution = fit(data, train, learned, float(alphas[which]))
            w, b = solution.weights, solution.intercept
        scores[which] = _score(scorer, linear_scores(rows, w, b), numbers, weight)
    return scores


def score_folds_wide(
    data: Data,
    splits: Sequence[tuple[Integers, Integers]],
    alphas: Floats,
    scorer: Any,
    fit: Callable[[Data, Integers, float], Solution],
    *,
    fit_intercept: bool,
) -> Scores:
    """Do the same with more columns than rows, from products of rows with each other."""
    plain = Data(data.rows, data.y, RowWeights(), data.X)
    whole = RowSide(plain, fit_intercept=fit_intercept).products()  # about one point, unweighted
    numbers = data.y.reshape(len(data.y), -1)
    weight = data.counted.weight
    found = np.empty((len(alphas), len(splits)))
    for k, (train, test) in enumerate(splits):
        if weight is not None:
            train, test = train[weight[train] > 0], test[weight[test] > 0]
        root = np.ones(len(train)) if weight is None else np.sqrt(weight[train])
        share = root**2 / (root**2).sum()
        own, other = whole[np.ix_(train, train)], whole[np.ix_(test, train)]
        centre = np.zeros(numbers.shape[1])
        if fit_intercept:
            along = own @ share
            other = other - (other @ share)[:, None] - along + share @ along
            own = own - along - along[:, None] + share @ along
            centre = share @ numbers[train]
        values, vectors = np.linalg.eigh(own * root * root[:, None])
        values[values < len(values) * np.finfo(np.float64).eps * values[-1]] = 0.0
        target = vectors.T @ (root[:, None] * (numbers[train] - centre))
        other = (other * root) @ vectors
        held = None if weight is None else weight[test]
        least = values[min(int(fit_intercept), len(values) - 1)]  # the first is 0 by centring
        for which, alpha in enumerate(alphas.tolist()):
            if values[-1] <= WORST_WIDE * (least + alpha):
                shifted = values + alpha
                inverse = np.divide(1.0, shifted, out=np.zeros_like(shifted), where=shifted > 0)
                predicted = centre + other @ (target * inverse[:, None])
            else:
                solution = fit(data, train, alpha)
                predicted = linear_scores(
                    data.rows.take(test), solution.weights, solution.intercept
                )
            found[which, k] = _score(scorer, predicted, numbers[test], held)
    return _over_folds(alphas, found)


def _over_folds(alphas: Floats, found: Floats) -> Scores:
    k = found.shape[1]
    error = found.std(axis=1, ddof=1) / np.sqrt(k) if k > 1 else np.full(len(alphas), np.nan)
    return Scores(alphas, found.mean(axis=1), error, found)


# ---------------------------------------------------------------------- leave-one-out


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
    """Return how well each alpha predicts every row from all others: one eigendecomposition.

    With Q = (X - mean) V the error without row i is r_i / (1 - h_i) with the leverage
    h_i = c_i / W + c_i sum_k q_ik^2 / (s_k + alpha).

    Parameters
    ----------
    data : Data
        Rows that all count.
    total : Moments
        Their sums.
    alphas : ndarray
    scorer : callable or None
        None: squared errors.
    left_out : callable
        For alphas of which eigenvalues lack the digits: the scores of all rows.
    without : callable
        For rows that all but determine the fit: the score of one row.
    fit_intercept : bool
    """
    side = column_side(total, fit_intercept=fit_intercept)
    easy = np.flatnonzero(side.has_digits(alphas))
    numbers = data.y.reshape(len(data.y), -1)
    gather = _Gather(numbers, data.counted.weight, len(alphas), scorer)
    for which in np.flatnonzero(~side.has_digits(alphas)).tolist():
        gather.add(which, numbers - left_out(float(alphas[which])))
    if len(easy):
        _leave_out(data, side, alphas, easy, gather, without)
    return gather.scores(alphas)


def _leave_out(
    data: Data,
    side: ColumnSide,
    alphas: Floats,
    easy: Integers,
    gather: _Gather,
    without: Callable[[int, float], Floats],
) -> None:
    inverse, basis = side.inverses(alphas[easy]), side.basis()
    k, t = side.along.shape
    slopes = [basis @ (side.along[:, j, None] * inverse) * side.target_unit[j] for j in range(t)]
    own = 1.0 / side.sums.weight[0] if side.fit_intercept else 0.0
    centred = gather.numbers - side.target_mean
    columns = np.hstack([basis, *slopes])
    for start, stop, block in projections(data.rows, side.mean, side.length, columns):
        fitted = np.split(block[:, k:], t, axis=1)
        errors = [centred[start:stop, j, None] - fitted[j] for j in range(t)]
        axes = block[:, :k] * block[:, :k]
        left = axes @ inverse  # the leverages, then what they leave of 1
        left += own
        if gather.weight is not None:
            left *= gather.weight[start:stop, None]
        np.subtract(1.0, left, out=left)
        refitted = []
        if left.min(initial=1.0) < LEAST_LEFT:
            refitted = np.argwhere(left < LEAST_LEFT).tolist()
            left[left < LEAST_LEFT] = 1.0
        for each in errors:
            each /= left
        for row, which in refitted:
            score = without(start + row, float(alphas[easy[which]]))
            for j in range(t):
                errors[j][row, which] = gather.numbers[start + row, j] - score[j]
        gather.add_block(start, stop, errors, easy)


def score_left_out_wide(
    data: Data,
    alphas: Floats,
    scorer: Any,
    left_out: Callable[[float], Floats],
    *,
    fit_intercept: bool,
) -> Scores:
    """Do the same with more columns than rows."""
    numbers = data.y.reshape(len(data.y), -1)
    gather = _Gather(numbers, data.counted.weight, len(alphas), scorer)
    spectrum = RowSide(data, fit_intercept=fit_intercept).spectrum()
    for which, alpha in enumerate(alphas.tolist()):
        errors = spectrum.left_out_errors(alpha)
        gather.add(which, numbers - left_out(alpha) if errors is None else errors)
    return gather.scores(alphas)


class _Gather:
    """Errors of rows left out, added up, or kept for a scorer that wants predictions."""

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

    def add_block(self, start: int, stop: int, errors: list[Floats], which: Integers) -> None:
        """Add the errors of rows start to stop, (n, A) of each target, with some alphas."""
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
            found = [_score(self.scorer, p, self.numbers, self.weight) for p in self.predicted]
            return Scores(alphas, np.array(found), np.full(len(alphas), np.nan))
        n = len(self.numbers)
        total = n if self.weight is None else self.weight.sum()
        mean = self.squares / total
        with np.errstate(invalid="ignore", over="ignore"):
            spread = np.maximum(self.fourth / total - mean**2, 0.0)
        return Scores(alphas, -mean, np.sqrt(spread / max(n - 1, 1)))


# ---------------------------------------------------------------------- scoring


class _Told(RegressorMixin, BaseEstimator):
    """A regressor whose rows are the predictions: what scorers are called with."""

    def predict(self, X: Any) -> Any:
        """Return what it is given."""
        return X


def _taken(data: Data, rows: Integers) -> tuple[Any, Floats, Floats | None]:
    weight = data.counted.weight
    if weight is not None:
        rows = rows[weight[rows] > 0]
    numbers = data.y.reshape(len(data.y), -1)[rows]
    return data.rows.take(rows), numbers, None if weight is None else weight[rows]


def _score(scorer: Any, predicted: Floats, numbers: Floats, weight: Floats | None) -> float:
    """Return the score of predictions, (n, t): negative mean squared error without a scorer."""
    if scorer is None:
        with np.errstate(over="ignore"):
            squares = ((predicted - numbers) ** 2).mean(axis=1)
        return -float(np.average(squares, weights=weight))
    if numbers.shape[1] == 1:
        predicted, numbers = predicted[:, 0], numbers[:, 0]
    if weight is None:
        return float(scorer(_Told(), predicted, numbers))
    return float(scorer(_Told(), predicted, numbers, sample_weight=weight))
