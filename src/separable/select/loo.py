"""Leave-one-out cross-validation: each row is predicted by the fit to all others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from separable.certified.loo.certified_loo import TooLargeError
from separable.fitting.predictions import answers_of, ask, join
from separable.fitting.scorers import Predicted, read_scoring, score_rows
from separable.fitting.splits import take
from separable.moments.base import MomentEstimator
from separable.select.cross_validation import read_problem
from separable.select.fit_warnings import Notices, held_back
from separable.select.fits import prepared, refit
from separable.select.loo_estimates import (
    Estimates,
    brute_force,
    estimate,
    fits_without,
    in_order,
)
from separable.select.results import LeaveOneOutValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.fitting.scorers import Scorer
    from separable.select.fits import Problem
    from separable.select.results import BruteForceError
    from separable.typing import Floats


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

    Scores are computed once, from the answers for all rows together. For scores that are means over
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
        has the answers, not a fitted estimator.
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
        their answers are: ``brute_force_error``.
    random_state : int, RandomState or None, default 0
        Which rows are checked.

    Returns
    -------
    LeaveOneOutValidation

    Examples
    --------
    >>> from separable import LeastSquares
    >>> from separable.select import leave_one_out
    >>> found = leave_one_out(LeastSquares(), [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0])
    >>> found.predictions
    array([-2.66666667,  1.57142857,  4.28571429,  3.        ])

    From one fit of a learner whose n fits would take long:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = leave_one_out(LogisticRegression(standardize=True), X, y, approximate=True)
    >>> found.approximate, round(found.scores["accuracy"], 3)
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
    predictions, error = result.answers, None
    if check:
        error = _checked(problem, notices, result, int(check), random_state)
    notices.tell(n)
    stand_in = Predicted(estimator, predictions)
    scores = score_rows(scorers, stand_in, predictions, problem.X, problem.y, weight)
    by_row = _row_scores(scorers, predictions.predictions, problem.y)
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
        predictions=predictions.predictions,
        decision_scores=predictions.decision,
        probabilities=predictions.probabilities,
        classes=predictions.classes,
    )


def _check_count(name: str, value: Any) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0
    if not whole and (value is not None or name == "check"):
        raise ValueError(f"{name} must be a whole number >= 0. Got {value!r}.")


def _without_each(
    problem: Problem, notices: Notices, approximate: bool | None, max_refits: int | None
) -> Estimates:
    """Return the leave-one-out predictions of all rows, in the cheapest allowed way."""
    most = FITS if max_refits is None else int(max_refits)
    short = _by_short_cut(problem, notices, most)
    if short is not None:
        return short
    if approximate or (approximate is None and problem.n_rows > most):
        try:
            result = estimate(problem, notices, DOUBTFUL if max_refits is None else most)
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
    fits = fits_without(problem, notices, np.arange(problem.n_rows))
    return Estimates(join(fits), NONE, NONE, NONE, problem.n_rows)


def _checked(
    problem: Problem, notices: Notices, found: Estimates, check: int, random_state: Any
) -> BruteForceError | None:
    """Compare estimates of some rows with refits."""
    if found.n_refits == problem.n_rows:
        return None
    rest = np.setdiff1d(np.arange(problem.n_rows), found.refitted)
    drawn = check_random_state(random_state).permutation(len(rest))[:check]
    return brute_force(problem, notices, found.answers, rest[np.sort(drawn)])


def _check_refits(problem: Problem, needed: int, max_refits: int) -> None:
    if needed > max_refits:
        raise ValueError(
            f"Leave-one-out of this {type(problem.estimator).__name__} needs {needed} fits, one a "
            f"row, which is more than max_refits={max_refits}. Use cross_validate(..., cv=10), or "
            "raise max_refits if you have the time."
        )


# ---------------------------------------------------------------------- one fit for all rows


def _by_short_cut(problem: Problem, notices: Notices, max_refits: int) -> Estimates | None:
    """Compute leave-one-out from one fit; None if the learner does not support it."""
    if not isinstance(problem.estimator, MomentEstimator):
        return None
    if problem.estimator._needs_rows():
        return None
    base, data = prepared(problem)
    present, sums = data.present(), base._new_sums()
    solves_rows = type(base)._solve_rows is not MomentEstimator._solve_rows
    with held_back() as caught:
        if not (solves_rows and data.is_wide):
            sums.add_data(present)
        scores = base._left_out_scores(sums, present) if data.n_counted > 1 else None
        if scores is None:
            caught.clear()
            return None
    classes = sums.classes
    if classes is None and is_classifier(base):  # there are no sums
        classes = np.unique(present.y)
    if data.counted.rows is not None:
        scores = _with_absent(problem, scores, data.counted.rows)
    return _refitted_where_nan(problem, notices, scores, classes, max_refits)


def _with_absent(problem: Problem, scores: Floats, present: NDArray[np.int64]) -> Floats:
    """Return the scores of all rows; rows of weight 0 are not in the fit and are only predicted."""
    fitted = refit(problem, np.arange(problem.n_rows))
    score = fitted.decision_function if is_classifier(fitted) else fitted.predict
    every = np.array(score(problem.X), dtype=np.float64).reshape(problem.n_rows, -1)
    every[present] = scores
    return every


def _refitted_where_nan(
    problem: Problem,
    notices: Notices,
    scores: Floats,
    classes: NDArray[Any] | None,
    max_refits: int,
) -> Estimates:
    missing = np.isnan(scores)
    if not missing.any():
        return Estimates(answers_of(problem.estimator, scores, classes), NONE, NONE, NONE)
    bad = missing.any(axis=1)
    again, fine = np.flatnonzero(bad), np.flatnonzero(~bad)
    _check_refits(problem, len(again), max_refits)
    parts = [answers_of(problem.estimator, scores[fine], classes)] if len(fine) else []
    for row in again.tolist():
        with notices.of_fold(row):
            fitted = refit(problem, np.delete(np.arange(len(scores)), row))
            parts.append(ask(fitted, take(problem.X, np.array([row]))))
    predictions = in_order(join(parts), np.concatenate([fine, again]))
    return Estimates(predictions, NONE, again, NONE, len(again))


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
