"""Leave-one-out cross-validation: each row is predicted by the fit to all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.loo.certified_loo import TooLargeError
from separable.estimator import check_random_state, is_classifier
from separable.fitting.fit_warnings import Notices
from separable.fitting.fold_fits import refit
from separable.fitting.predictions import ask, join
from separable.fitting.scorers import Predicted, read_scoring, score_rows
from separable.fitting.splits import Split, take
from separable.select.cross_validation import read_problem, validate
from separable.select.results import BruteForceError, LeaveOneOutValidation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.fitting.fold_fits import Problem
    from separable.fitting.scorers import Scorer
    from separable.model.metrics.metric_registry import Predictions
    from separable.typing import Floats, Indices


__all__ = ["leave_one_out"]

#: Fits that are made for an exact answer, and for rows whose estimate is in doubt.
FITS, DOUBTFUL = 1000, 200
NONE = np.empty(0, np.intp)


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    scoring: Any = None,
    sample_weight: Any = None,
    score_weight: Any = None,
    max_refits: int | None = None,
    *,
    approximate: bool | None = None,
    check: int = 0,
    random_state: Any = 0,
) -> LeaveOneOutValidation:
    """Score an estimator by leave-one-out cross-validation.

    Moment learners that can take a row out of their fit do so: one fit, and for each row what
    changes without it. That equals n fits to 1e-8; rows that determine a weight on their own are
    fitted. ``LogisticRegression``, ``LinearSVM``, ``LinearSVR``, ``Lasso`` and ``ElasticNet`` can
    estimate from one fit what the others would be (``approximate``); rows whose estimate is in
    doubt are fitted. Other estimators are fitted n times.

    Scores are computed once, from the predictions for all rows. For scores that are means over
    rows (accuracy, mean squared and mean absolute error) that is their mean over n folds of one
    row, and has a standard error. R2, areas under curves and the like have no meaning for a single
    row.

    Parameters
    ----------
    estimator : estimator
        Any with ``fit`` and ``predict``. It stays as it is.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    scoring : str, callable, list, dict or None, default None
        scikit-learn's scorers, one or several. None: accuracy, R2. A callable gets an object that
        has the predictions, not a fitted estimator.
    sample_weight : array-like of shape (n,), optional
        For learning only. A row is left out with all its weight; one of weight 0 is predicted too.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores.
    max_refits : int or None, default None
        So many fits are made at most; None: 1000, of which 200 for rows whose estimate is in doubt.
        Where an exact answer needs more, nothing is done but to say so; of estimates those most in
        doubt are fitted, and the rest is in ``doubtful``.
    approximate : bool or None, default None
        Whether certified learners estimate from one fit. None: where n fits would be more than
        ``max_refits``. The result says which rows are estimates.
    check : int, default 0
        So many of the rows that were not fitted, drawn at random, are fitted to see how far off
        their predictions are: ``brute_force_error``.
    random_state : int, RandomState or None, default 0
        Which rows are checked.

    Returns
    -------
    LeaveOneOutValidation

    Examples
    --------
    >>> from separable import LeastSquares
    >>> from separable.select import leave_one_out
    >>> result = leave_one_out(LeastSquares(), [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0])
    >>> result.predictions
    array([-2.66666667,  1.57142857,  4.28571429,  3.        ])

    From one fit of a learner whose n fits would take long:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = leave_one_out(LogisticRegression(standardize=True), X, y, approximate=True)
    >>> result.approximate, round(result.scores["accuracy"], 3)
    (True, 0.979)
    """
    _check_count("max_refits", max_refits)
    _check_count("check", check)
    if approximate not in (None, True, False):
        raise ValueError(f"approximate must be True, False or None. Got {approximate!r}.")
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    if weight is not None and not weight.any():
        raise ValueError("All rows have score_weight 0.")
    scorers, notices = read_scoring(scoring, estimator), Notices()
    n = problem.n_rows
    if n < 2:
        raise ValueError(f"Leave-one-out needs at least 2 rows, one to learn from. X has {n}.")
    result = _without_each(problem, notices, approximate, max_refits)
    predictions, error = result.predictions, None
    if check:
        error = _checked(problem, notices, result, int(check), random_state)
    notices.tell(n)
    stand_in = Predicted(estimator, predictions)
    scores = score_rows(scorers, stand_in, predictions, problem.X, problem.y, weight)
    by_row = _row_scores(scorers, predictions.predicted, problem.y)
    return LeaveOneOutValidation(
        learner=type(estimator).__name__,
        scores=scores,
        standard_error={
            name: _standard_error(by_row[name], weight) if name in by_row else math.nan
            for name in scores
        },
        row_scores=by_row,
        n_refits=result.n_refits,
        estimated=result.estimated,
        refitted=result.refitted,
        doubtful=result.doubtful,
        brute_force_error=error,
        predictions=predictions.predicted,
        decision_scores=predictions.scores,
        probabilities=predictions.probabilities,
        classes=predictions.classes,
    )


def _check_count(name: str, value: Any) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0
    if not whole and (value is not None or name == "check"):
        raise ValueError(f"{name} must be a whole number >= 0. Got {value!r}.")


def _without_each(
    problem: Problem, notices: Notices, approximate: bool | None, max_refits: int | None
) -> _Estimates:
    """Return the leave-one-out predictions of all rows, in the cheapest allowed way."""
    most = FITS if max_refits is None else int(max_refits)
    short = _by_short_cut(problem, notices, most)
    if short is not None:
        return short
    if approximate or (approximate is None and problem.n_rows > most):
        try:
            result = _estimate(problem, notices, DOUBTFUL if max_refits is None else most)
        except TooLargeError as error:
            raise ValueError(f"{error} Use cross_validate(..., cv=10).") from error
        if result is not None:
            return result
        if approximate:
            raise ValueError(
                f"This {type(problem.estimator).__name__} cannot estimate leave-one-out from one "
                "fit. LogisticRegression, LinearSVM, LinearSVR, Lasso and ElasticNet can, but for "
                "probability=True, loss='hinge' with class_weight='balanced', and l1_ratio > 0 of "
                "classes learned together. Use cross_validate(..., cv=10), or approximate=False "
                "for n fits."
            )
    _check_refits(problem, problem.n_rows, most)
    fits = _fits_without(problem, notices, np.arange(problem.n_rows))
    return _Estimates(join(fits), NONE, NONE, NONE, problem.n_rows)


def _checked(
    problem: Problem, notices: Notices, estimates: _Estimates, check: int, random_state: Any
) -> BruteForceError | None:
    """Compare estimates of some rows with refits."""
    if estimates.n_refits == problem.n_rows:
        return None
    rest = np.setdiff1d(np.arange(problem.n_rows), estimates.refitted)
    drawn = check_random_state(random_state).permutation(len(rest))[:check]
    return _brute_force(problem, notices, estimates.predictions, rest[np.sort(drawn)])


def _check_refits(problem: Problem, needed: int, max_refits: int) -> None:
    if needed > max_refits:
        raise ValueError(
            f"Leave-one-out of this {type(problem.estimator).__name__} needs {needed} fits, one a "
            f"row, which is more than max_refits={max_refits}. Use cross_validate(..., cv=10), or "
            "raise max_refits if you have the time."
        )


# ---------------------------------------------------------------------- one fit for all rows


def _by_short_cut(problem: Problem, notices: Notices, max_refits: int) -> _Estimates | None:
    """Compute leave-one-out exactly from one fit; None if the learner does not support it."""
    offer = getattr(problem.estimator, "left_out", None)
    result = None if offer is None else offer(problem, approximate=False)
    if result is None:
        return None
    again = result.missing
    if not len(again):
        return _Estimates(result.predictions, NONE, NONE, NONE)
    _check_refits(problem, len(again), max_refits)
    every = np.arange(problem.n_rows)
    fine = np.setdiff1d(every, again)
    parts = [result.predictions.take(fine)] if len(fine) else []
    for row in again.tolist():
        with notices.of_fold(row):
            fitted = refit(problem, np.delete(every, row))
            parts.append(ask(fitted, take(problem.X, np.array([row]))))
    predictions = _in_order(join(parts), np.concatenate([fine, again]))
    return _Estimates(predictions, NONE, again, NONE, len(again))


# ---------------------------------------------------------------------- estimates from one fit


@dataclass(frozen=True)
class _Estimates:
    """Predictions for all rows, most of them from one fit.

    Parameters
    ----------
    predictions : Predictions
    estimated : ndarray of int
        Rows whose answer is an estimate: not exact but for rounding, and not refitted.
    refitted : ndarray of int
    doubtful : ndarray of int
        Of the estimated rows those whose estimate may be far off.
    n_refits : int, default 0
        How many fits were made without a row.
    """

    predictions: Predictions
    estimated: Indices
    refitted: Indices
    doubtful: Indices
    n_refits: int = 0


def _estimate(problem: Problem, notices: Notices, max_refits: int) -> _Estimates | None:
    """Take each row out of one fit, and refit those in doubt; None if the learner cannot."""
    offer = getattr(problem.estimator, "left_out", None)
    result = None if offer is None else offer(problem, approximate=True)
    if result is None:
        return None
    doubt, missing = result.doubt, np.zeros(problem.n_rows, np.bool_)
    missing[result.missing] = True
    order = np.lexsort((-doubt, ~missing))  # rows without an estimate, then by doubt
    most = max(max_refits, len(result.missing))
    chosen = order[: min(most, int(np.count_nonzero(doubt)))]
    refitted = np.sort(chosen)
    left = np.ones(problem.n_rows, np.bool_)
    left[chosen] = False
    predictions = result.predictions
    if len(refitted):
        kept = np.flatnonzero(left)
        parts = [predictions.take(kept)] if len(kept) else []
        parts += _fits_without(problem, notices, refitted)
        predictions = _in_order(join(parts), np.concatenate([kept, refitted]))
    estimated = np.flatnonzero(left & ~(result.exact & (doubt == 0)))
    doubtful = np.flatnonzero(left & (doubt > 0))
    return _Estimates(predictions, estimated, refitted, doubtful, len(refitted))


def _fits_without(
    problem: Problem, notices: Notices, rows: Sequence[int] | Indices
) -> list[Predictions]:
    """Return the predictions for some rows, each from the fit to all others."""
    splits = [Split(problem.n_rows, np.array([row])) for row in rows]
    try:
        (result,) = validate(
            problem,
            [problem.estimator],
            splits,
            notices,
            [],
            None,
            number=lambda _, fold: int(rows[fold]),
        )
    except Exception as error:
        _note_lone_row(error, problem)
        raise
    return [each.predictions for each in result]


def _note_lone_row(error: Exception, problem: Problem) -> None:
    """Say which row cannot be left out, as the others are of one class."""
    if not is_classifier(problem.estimator):
        return
    classes, first, counts = np.unique(np.asarray(problem.y), return_index=True, return_counts=True)
    if len(classes) == 2 and counts.min() == 1:
        lone = int(counts.argmin())
        error.add_note(
            f"Row {first[lone]} is the only one of class {classes.tolist()[lone]!r}. Without it "
            "there is one class alone: leave-one-out needs two rows of each."
        )


def _brute_force(
    problem: Problem, notices: Notices, predictions: Predictions, rows: Indices
) -> BruteForceError:
    """Refit without each of some rows, and compare."""
    exact, estimated = join(_fits_without(problem, notices, rows)), predictions.take(rows)
    true, seen = exact.predicted, estimated.predicted
    changed = 0
    if exact.scores is not None and estimated.scores is not None:
        changed = int(np.count_nonzero(true != seen))
        true, seen = exact.scores, estimated.scores
    with np.errstate(invalid="ignore"):
        off = np.abs(true - seen).reshape(len(rows), -1)
    return BruteForceError(rows, np.nan_to_num(off, nan=0.0).max(axis=1), changed)


def _in_order(predictions: Predictions, rows: Indices) -> Predictions:
    """Return predictions for rows in another order as predictions for 0, 1, ..."""
    return predictions.take(np.argsort(rows))


# ---------------------------------------------------------------------- scores by row


def _row_scores(scorers: list[Scorer], predictions: NDArray[Any], y: Any) -> dict[str, Floats]:
    """Return the values per row of scores that are means over rows."""
    y_true = np.asarray(y)
    if y_true.shape != predictions.shape:
        y_true = y_true.reshape(predictions.shape)
    result = {}
    for scorer in scorers:
        if scorer.metric == "accuracy" and y_true.ndim == 1:
            result[scorer.name] = (y_true == predictions).astype(np.float64)
        elif scorer.metric == "neg_mean_squared_error":
            result[scorer.name] = (
                -((y_true - predictions) ** 2).reshape(len(y_true), -1).mean(axis=1)
            )
        elif scorer.metric == "neg_mean_absolute_error":
            result[scorer.name] = (
                -np.abs(y_true - predictions).reshape(len(y_true), -1).mean(axis=1)
            )
    return result


def _standard_error(values: Floats, weight: Floats | None) -> float:
    """Return the standard error of a weighted mean, with frequency weights."""
    weight = np.ones(len(values)) if weight is None else weight
    total = float(weight.sum())
    if total <= 1:
        return math.nan
    mean = float(weight @ values) / total
    return math.sqrt(float(weight @ (values - mean) ** 2) / (total - 1) / total)
