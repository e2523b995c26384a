"""Leave-one-out: each row predicted by the fit to all others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from separable.fitting.answers import Answers, answers_of, ask, join
from separable.fitting.indexing import take
from separable.fitting.scoring import Predicted, read_scoring, score_rows
from separable.fitting.splits import Split
from separable.moments.estimator import MomentEstimator
from separable.select.cross_validation import read_problem, run_folds
from separable.select.fits import prepared, refit
from separable.select.notices import Notices, held_back
from separable.select.results import LeaveOneOutValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.fitting.scoring import Scorer
    from separable.select.fits import Problem

    Floats = NDArray[np.float64]

__all__ = ["leave_one_out"]


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    scoring: Any = None,
    sample_weight: Any = None,
    score_weight: Any = None,
    max_refits: int = 1000,
) -> LeaveOneOutValidation:
    """Predict each row by the fit to all others, and score that.

    Moment learners that can take a row out of their fit do so: one fit, and for each row what
    changes without it. That equals n fits to 1e-8; rows that determine a weight on their own are
    fitted. Other estimators are fitted n times.

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
    max_refits : int, default 1000
        So many fits are made; where more are needed, nothing is done but to say so.

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
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    if weight is not None and not weight.any():
        raise ValueError("All rows have score_weight 0.")
    scorers, notices = read_scoring(scoring, estimator), Notices()
    n = problem.n_rows
    if n < 2:
        raise ValueError(f"Leave-one-out needs at least 2 rows, one to learn from. X has {n}.")
    found = _by_short_cut(problem, notices, max_refits)
    answers, n_refits = found if found is not None else _by_fits(problem, notices, n, max_refits)
    notices.tell(n)
    stand_in = Predicted(estimator, answers)
    scores = score_rows(scorers, stand_in, answers, problem.X, problem.y, weight)
    by_row = _row_scores(scorers, answers.predictions, problem.y)
    return LeaveOneOutValidation(
        learner=type(estimator).__name__,
        scores=scores,
        standard_error={
            name: _standard_error(by_row[name], weight) if name in by_row else math.nan
            for name in scores
        },
        row_scores=by_row,
        n_refits=n_refits,
        predictions=answers.predictions,
        decision_scores=answers.decision,
        probabilities=answers.probabilities,
        classes=answers.classes,
    )


def _by_fits(problem: Problem, notices: Notices, n: int, max_refits: int) -> tuple[Answers, int]:
    _check_refits(problem, n, max_refits)
    splits = [Split(n, np.array([row])) for row in range(n)]
    found = run_folds(problem, splits, notices, [], None)
    return join([each.answers for each in found]), sum(each.how == "refit" for each in found)


def _check_refits(problem: Problem, needed: int, max_refits: int) -> None:
    if needed > max_refits:
        raise ValueError(
            f"Leave-one-out of this {type(problem.estimator).__name__} needs {needed} fits, one a "
            f"row, which is more than max_refits={max_refits}. Use cross_validate(..., cv=10), or "
            "raise max_refits if you have the time."
        )


# ---------------------------------------------------------------------- one fit for all rows


def _by_short_cut(
    problem: Problem, notices: Notices, max_refits: int
) -> tuple[Answers, int] | None:
    """Take each row out of one fit; None if the learner cannot."""
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
    """Return scores of all rows: those of weight 0 are not in the fit, and are just predicted."""
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
) -> tuple[Answers, int]:
    missing = np.isnan(scores)
    if not missing.any():
        return answers_of(problem.estimator, scores, classes), 0
    n, bad = len(scores), missing.any(axis=1)
    again, fine = np.flatnonzero(bad), np.flatnonzero(~bad)
    _check_refits(problem, len(again), max_refits)
    parts = [answers_of(problem.estimator, scores[fine], classes)] if len(fine) else []
    for row in again.tolist():
        with notices.of_fold(row):
            fitted = refit(problem, np.delete(np.arange(n), row))
            parts.append(ask(fitted, take(problem.X, np.array([row]))))
    answers, order = join(parts), np.argsort(np.concatenate([fine, again]))
    return Answers(
        answers.predictions[order],
        None if answers.decision is None else answers.decision[order],
        None if answers.probabilities is None else answers.probabilities[order],
        answers.classes,
    ), len(again)


# ---------------------------------------------------------------------- scores by row


def _row_scores(scorers: list[Scorer], predictions: NDArray[Any], y: Any) -> dict[str, Floats]:
    """Return the scores that are means over rows, row by row."""
    truth = np.asarray(y)
    if truth.shape != predictions.shape:
        truth = truth.reshape(predictions.shape)
    found = {}
    for scorer in scorers:
        if scorer.metric == "accuracy" and truth.ndim == 1:
            found[scorer.name] = (truth == predictions).astype(np.float64)
        elif scorer.metric == "neg_mean_squared_error":
            found[scorer.name] = -((truth - predictions) ** 2).reshape(len(truth), -1).mean(axis=1)
        elif scorer.metric == "neg_mean_absolute_error":
            found[scorer.name] = -np.abs(truth - predictions).reshape(len(truth), -1).mean(axis=1)
    return found


def _standard_error(values: Floats, weight: Floats | None) -> float:
    """Return that of the mean of values, of which each stands for as many as its weight."""
    weight = np.ones(len(values)) if weight is None else weight
    total = float(weight.sum())
    if total <= 1:
        return math.nan
    mean = float(weight @ values) / total
    return math.sqrt(float(weight @ (values - mean) ** 2) / (total - 1) / total)
