"""Leave-one-out from one fit of a certified learner; rows in doubt are refitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone, is_classifier

from separable.certified.fold_lanes import has_lanes
from separable.fitting.predictions import Answers, answers_of, ask, join
from separable.fitting.splits import Split, take
from separable.select.cross_validation import run_folds
from separable.select.results import BruteForceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.certified.estimators.base import CertifiedEstimator
    from separable.certified.loo.certified_loo import LeftOut
    from separable.select.fit_warnings import Notices
    from separable.select.fits import Problem
    from separable.typing import Indices


__all__ = ["Estimates", "brute_force", "estimate", "fits_without", "in_order"]


@dataclass(frozen=True)
class Estimates:
    """Answers for all rows, most of them from one fit.

    Parameters
    ----------
    answers : Answers
    estimated : ndarray of int
        Rows whose answer is an estimate: not exact but for rounding, and not refitted.
    refitted : ndarray of int
    doubtful : ndarray of int
        Of the estimated rows those whose estimate may be far off.
    n_refits : int, default 0
        How many fits were made without a row.
    """

    answers: Answers
    estimated: Indices
    refitted: Indices
    doubtful: Indices
    n_refits: int = 0


def estimate(problem: Problem, notices: Notices, max_refits: int) -> Estimates | None:
    """Take each row out of one fit, and refit those in doubt; None if the learner cannot."""
    if not has_lanes(problem.estimator):
        return None
    learner: CertifiedEstimator = clone(problem.estimator)
    learner._check_parameters()
    result = learner._left_out(learner._fold_data(problem.X, problem.y, problem.weight))
    if result is None:
        return None
    predictions = _of_all_rows(problem, learner, result)
    counted = result.training.given.counted
    index = np.arange(problem.n_rows) if counted is None else counted.astype(np.intp)
    missing = np.isnan(result.scores).any(axis=1)
    doubt = np.where(missing, np.inf, result.doubt)
    order = np.lexsort((-doubt, ~missing))  # rows without an estimate, then by doubt
    most = max(max_refits, int(missing.sum()))
    chosen = order[: min(most, int(np.count_nonzero(doubt)))]
    refitted = np.sort(index[chosen])
    left = np.ones(len(index), np.bool_)
    left[chosen] = False
    if len(refitted):
        kept = np.setdiff1d(np.arange(problem.n_rows), refitted)
        parts = [_some(predictions, kept)] if len(kept) else []
        parts += fits_without(problem, notices, refitted)
        predictions = in_order(join(parts), np.concatenate([kept, refitted]))
    estimated = index[left & ~(result.exact & (doubt == 0))]
    return Estimates(predictions, estimated, refitted, index[left & (doubt > 0)], len(refitted))


def fits_without(
    problem: Problem, notices: Notices, rows: Sequence[int] | Indices
) -> list[Answers]:
    """Return the answers for some rows, each from the fit to all others."""
    splits = [Split(problem.n_rows, np.array([row])) for row in rows]
    try:
        result = run_folds(problem, splits, notices, [], None, lambda k: int(rows[k]))
    except Exception as error:
        _note_lone_row(error, problem)
        raise
    return [each.answers for each in result]


def _note_lone_row(error: Exception, problem: Problem) -> None:
    """Say which row cannot be left out, as the others are of one class."""
    if not is_classifier(problem.estimator):
        return
    classes, places, counts = np.unique(
        np.asarray(problem.y), return_index=True, return_counts=True
    )
    if len(classes) == 2 and counts.min() == 1:
        lone = int(counts.argmin())
        error.add_note(
            f"Row {places[lone]} is the only one of class {classes.tolist()[lone]!r}. Without it "
            "there is one class alone: leave-one-out needs two rows of each."
        )


def brute_force(
    problem: Problem, notices: Notices, answers: Answers, rows: Indices
) -> BruteForceError:
    """Refit without each of some rows, and compare."""
    exact, mine = join(fits_without(problem, notices, rows)), _some(answers, rows)
    true, seen = exact.predictions, mine.predictions
    changed = 0
    if exact.decision is not None and mine.decision is not None:
        changed = int(np.count_nonzero(true != seen))
        true, seen = exact.decision, mine.decision
    with np.errstate(invalid="ignore"):
        off = np.abs(true - seen).reshape(len(rows), -1)
    return BruteForceError(rows, np.nan_to_num(off, nan=0.0).max(axis=1), changed)


def in_order(answers: Answers, rows: Indices) -> Answers:
    """Return answers for rows in another order as answers for 0, 1, ..."""
    return _some(answers, np.argsort(rows))


def _some(answers: Answers, rows: Indices) -> Answers:
    return Answers(
        answers.predictions[rows],
        None if answers.decision is None else answers.decision[rows],
        None if answers.probabilities is None else answers.probabilities[rows],
        answers.classes,
    )


def _of_all_rows(problem: Problem, learner: CertifiedEstimator, found: LeftOut) -> Answers:
    """Return answers by the estimates; rows of weight 0 are not in the fit and just predicted."""
    classes, counted = found.training.classes, found.training.given.counted
    scores = np.nan_to_num(found.scores, nan=0.0)
    predictions = answers_of(learner, scores, classes)
    if counted is None:
        return predictions
    learner._remember_columns(problem.X)
    learner._keep(found.fitted, found.training, warn=False)
    absent = np.setdiff1d(np.arange(problem.n_rows), counted)
    parts = join([predictions, ask(learner, take(problem.X, absent))])
    return in_order(parts, np.concatenate([counted, absent]))
