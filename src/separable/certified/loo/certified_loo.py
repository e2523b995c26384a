"""Leave-one-out predictions of the certified learners, from one fit.

The methods are in `smooth_loo` and `piecewise_linear_loo`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import TrainingData
from separable.certified.loo.changes import Changes, class_factors
from separable.certified.loo.l1_loo import PenalizedColumns, columns_alone
from separable.certified.loo.loo_rows import LeftOutRows
from separable.certified.loo.piecewise_linear_loo import (
    Breakpoints,
    PiecewiseLinearFit,
    left_out_piecewise_linear,
)
from separable.certified.loo.smooth_loo import SmoothFit, left_out_smooth
from separable.certified.problem import Lane, Problem
from separable.estimator import clone
from separable.fitting.fold_fits import FoldData, LeftOut
from separable.fitting.fold_fits import Problem as ValidationProblem
from separable.fitting.predictions import ask, join, predictions_from_scores
from separable.fitting.splits import take
from separable.typing import Floats

#: The relative gap that identifies the rows at a breakpoint.
BREAKPOINT_GAP = 1e-12
#: With standardization, the row space is used only above this many columns.
MAX_COLUMN_SPACE = 2000
#: Maximum multiplications for the optimality check of zero weights.
MAX_WORK = 2e11
#: Maximum min(rows, free weights).
MAX_SIZE = 5000


class TooLargeError(ValueError):
    """The matrix of a leave-one-out update is too large."""


@dataclass(frozen=True)
class LeftOutFit:
    """Leave-one-out scores.

    Parameters
    ----------
    training : TrainingData
        The rows that count: those below are these.
    fitted : Fitted
        The fit to all of them.
    scores : ndarray, shape (n, k)
        NaN: the row needs a refit.
    doubt : ndarray, shape (n,)
        Bound-like measure of the error of the estimate; 0: none.
    exact : ndarray of bool, shape (n,)
        Scores that are exact.
    """

    training: TrainingData
    fitted: Fitted
    scores: Floats
    doubt: Floats
    exact: NDArray[np.bool_]


def estimates(learner: CertifiedEstimator, problem: ValidationProblem) -> LeftOut | None:
    """Return leave-one-out predictions of all rows; None if the learner has no estimate."""
    learner = clone(learner)
    data = learner.fold_data(problem.X, problem.y, problem.weight)
    if not learner._has_left_out(data):
        return None
    found = left_out(learner, data)
    given = found.training.given
    scores = np.nan_to_num(found.scores, nan=0.0)
    predictions = predictions_from_scores(learner, scores, found.training.classes)
    missing, exact = np.isnan(found.scores).any(axis=1), found.exact
    doubt = np.where(missing, np.inf, found.doubt)
    if given.counted is not None:  # rows of weight 0 are not in the fit and only predicted
        learner._remember_columns(problem.X)
        learner._keep(found.fitted, found.training, warn=False)
        absent = np.setdiff1d(np.arange(problem.n_rows), given.counted)
        parts = join([predictions, ask(learner, take(problem.X, absent))])
        predictions = parts.take(np.argsort(np.concatenate([given.counted, absent])))
        doubt = given.spread(doubt[:, None])[:, 0]
        missing = np.isinf(doubt)
        every = np.ones(problem.n_rows, np.bool_)
        every[given.counted] = exact
        exact = every
    return LeftOut(predictions, np.flatnonzero(missing), doubt, exact)


def left_out(learner: CertifiedEstimator, fold_data: FoldData) -> LeftOutFit:
    """Fit, and estimate the leave-one-out score of each row.

    Parameters
    ----------
    learner : CertifiedEstimator
        Its parameters are checked.
    """
    training = learner._training_data(fold_data)
    smooth = learner._loss().is_smooth
    if not smooth and (learner.tol is None or learner.tol > BREAKPOINT_GAP):
        learner = clone(learner).set_params(tol=BREAKPOINT_GAP)
    fitted = learner._learn(training)
    problem, changes = fitted.problem, _changes(learner, training, fold_data)
    regularization = float(getattr(learner, str(learner.regularization)))
    parts = []
    for k, target in enumerate(training.models):
        found = fitted.solution.lane(k)
        lane = learner._lane(problem, regularization, target, -1)
        parts.append(_one_model(problem, lane, changes, found))
    scores = np.concatenate([part[0] for part in parts], axis=1) + problem.columns.level
    doubt = np.max([part[1] for part in parts], axis=0)
    exact = np.all([part[2] for part in parts], axis=0) & (doubt == 0)
    scores[_lonely(training)] = np.nan
    return LeftOutFit(training, fitted, scores, doubt, exact)


def _changes(learner: CertifiedEstimator, training: TrainingData, fold_data: FoldData) -> Changes:
    n = training.rows.n_rows
    weight = np.ones(n) if training.weight is None else training.weight
    label = np.zeros(n, np.int32) if training.classes is None else training.label
    share, factor = None, None
    if learner.regularization == "alpha":
        share = (weight.sum() - weight) / weight.sum()
    if training.classes is not None and isinstance(getattr(learner, "class_weight", None), str):
        plain = np.ones(n)
        if fold_data.weight is not None:
            plain = training.given.take(fold_data.weight[:, None])[:, 0]
        factor = class_factors(label, plain, len(training.classes))
    return Changes(label, weight, share, factor, bool(learner.standardize))


def _lonely(training: TrainingData) -> NDArray[np.bool_]:
    """Say which rows are the only ones of their class."""
    if training.classes is None:
        return np.zeros(training.rows.n_rows, np.bool_)
    count = np.bincount(training.label, minlength=len(training.classes))
    return np.asarray(count[training.label] == 1)


def _one_model(
    problem: Problem, lane: Lane, changes: Changes, found: CertifiedSolution
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return scores, doubt and exactness of one lane."""
    if problem.loss.is_smooth:
        return _smooth(problem, lane, changes, found)
    return _piecewise_linear(problem, lane, changes, found)


def _smooth(
    problem: Problem, lane: Lane, changes: Changes, found: CertifiedSolution
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    is_penalised, is_smooth = math.isfinite(lane.C), problem.penalty.is_smooth
    lane = lane if is_penalised else replace(lane, C=problem.value)
    l1, l2 = problem.column_penalty.l1, problem.column_penalty.l2 if is_penalised else 0.0
    weights = np.asarray(found.weights, np.float64)
    free = np.arange(len(weights)) if is_smooth else np.flatnonzero(weights.any(axis=1))
    n, d, K = problem.rows.n_rows, len(free), weights.shape[1]
    by_rows = is_smooth and is_penalised and _by_rows(n, d, changes)
    if K * (n if by_rows else d) > MAX_SIZE:
        raise TooLargeError(_too_large(K * n, K * d))
    if not is_smooth and float(n) * d * problem.rows.n_features > MAX_WORK:
        raise TooLargeError(
            f"Leave-one-out from one fit would follow {problem.rows.n_features} columns and {d} "
            f"weights through {n} rows, which is too much work."
        )
    fewer = problem if is_smooth else columns_alone(problem, free)
    mine = weights[free] if d else np.zeros((1, K))
    fit = SmoothFit(
        LeftOutRows(fewer, by_rows=by_rows),
        problem.row_losses(lane),
        found.scores,
        mine,
        l1 * np.sign(mine),
        l2,
        changes,
    )
    check = None if is_smooth else PenalizedColumns(problem, fit, free, l1)
    scores, doubt = left_out_smooth(fit, check)
    exact = np.full(n, fit.is_quadratic and not (by_rows and changes.is_standardized))
    return scores, doubt, exact


def _piecewise_linear(
    problem: Problem, lane: Lane, changes: Changes, found: CertifiedSolution
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    n, d = problem.rows.shape
    if min(n, d) > MAX_SIZE:
        raise TooLargeError(_too_large(n, d))
    y, c = problem.targets(lane), problem.costs(lane)
    breakpoints = (
        Breakpoints.of_insensitive(y, c, problem.loss.epsilon)
        if problem.loss.is_regression
        else Breakpoints.of_hinge(y, c)
    )
    rows = LeftOutRows(problem, by_rows=_by_rows(n, d, changes))
    weights = np.asarray(found.weights[:, 0], np.float64)
    fit = PiecewiseLinearFit(
        rows, breakpoints, found.scores[:, 0], found.dual[:, 0], weights, changes
    )
    scores, doubt, exact = left_out_piecewise_linear(fit)
    return scores[:, None], doubt, exact


def _by_rows(n: int, d: int, changes: Changes) -> bool:
    """Return whether the space of the rows is taken: deviations are those of columns."""
    return d > (max(n, MAX_COLUMN_SPACE) if changes.is_standardized else n)


def _too_large(n: int, d: int) -> str:
    return (
        f"Leave-one-out from one fit needs at most {MAX_SIZE} rows or {MAX_SIZE} weights that are "
        f"not 0; here are {n} and {d}."
    )
