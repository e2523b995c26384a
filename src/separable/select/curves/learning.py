"""Learning curves: performance against the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped]

from separable.fitting.fit_warnings import Notices
from separable.fitting.splits import Split, take
from separable.select.cross_validation import read_problem, score_fold
from separable.select.curves.growing_fits import growing_fits
from separable.select.curves.learning_results import LearningCurve
from separable.select.curves.training_sizes import read_sizes, repetitions
from separable.select.curves.units import Units, units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.fitting.fold_fits import Problem
    from separable.select.curves.training_sizes import Repetition
    from separable.typing import Floats


__all__ = ["learning_curve"]


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    repeats: int = 5,
    test_size: float = 0.3,
    scoring: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
) -> LearningCurve:
    """Measure the performance on held-out rows against the number of training rows.

    In each repetition a random part of the rows is held out, and the estimator learns from the
    first 10, 20, 40, ... of the others, which have a random order. So training sets of one
    repetition contain each other, and all sizes are scored on the same rows. Performance is, more
    being better,

    - of classifiers 1 - error rate;
    - of regressors MSE0 - MSE, where MSE is the mean squared error on the rows held out, and MSE0
      is that of the best constant: the mean of y over all rows of the repetition that are there to
      learn from. It is 0 for a learner that is no better than that constant;
    - or any score.

    A fit goes on from that of the smaller size where this leads to the same model: learners from
    sums add the new rows to their sums (equal to 1e-8), certified learners start from the last
    weights and dual point (equal within the certificates), online learners that pass once over
    rows in their order, ``max_iter=1, shuffle=False``, learn the new rows alone (the same bits).
    All others, also pipelines and scikit-learn's, are fitted to each size. ``how`` says which.

    Parameters
    ----------
    estimator : estimator
        Any with ``fit`` and ``predict``. It stays as it is.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    sizes : sequence of int or of float, optional
        Numbers of rows, or fractions of the training rows. None: nine, in equal ratios, up
        to all of them, from 1/256 of them or as few as have two rows of each class.
    repeats : int, default 5
        Random splits to average over.
    test_size : float, default 0.3
        Fraction of rows held out; for classifiers the same fraction of each class.
    scoring : str, callable or None, default None
        A name of ``separable.model.metrics.METRICS``, in its own direction, or one of
        scikit-learn's scorers. None: as above.
    random_state : int, default 0
    n_jobs : int or None, default None
        Repetitions at once, in processes of their own; None: one after the other, -1: as many as
        there are cores.
    sample_weight : array-like of shape (n,), optional
        For learning only. Sizes count rows, also those of weight 0.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together, and learned from one behind the other. Classes are
        then not in proportion.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> from separable.select import learning_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> learner = LogisticRegression(standardize=True)
    >>> curve = learning_curve(learner, X, y, sizes=[25, 50, 100, 200, 398])
    >>> curve.sizes, curve.scores.shape, curve.how[-1]
    (array([ 25,  50, 100, 200, 398]), (5, 5), 'warm')
    >>> bool(curve.mean[-1] > curve.mean[0] > curve.baseline)
    True
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    units, labels = units_of(scoring, problem)
    made = repetitions(
        problem.n_rows,
        labels,
        groups,
        repeats=repeats,
        test_size=test_size,
        random_state=random_state,
    )
    counts = read_sizes(sizes, made, labels)
    run = partial(_run, problem, counts, units, weight)
    results: list[_Measured] = Parallel(n_jobs=n_jobs)(
        delayed(run)(each, number) for number, each in enumerate(made)
    )
    notices = Notices("fit")
    for each in results:
        notices.include(each.notices)
    notices.tell(len(made) * len(counts))
    scores = np.stack([each.scores for each in results], axis=1)
    ceiling = units.ceiling(np.array([each.constant for each in results]))
    return LearningCurve(
        learner=type(estimator).__name__,
        metric=units.name,
        sizes=counts,
        scores=scores,
        how=tuple(_same([each.how[k] for each in results]) for k in range(len(counts))),
        n_test=round(float(np.mean([len(each.test) for each in made]))),
        greater_is_better=units.greater_is_better,
        baseline=units.baseline([each.constant for each in results]),
        constant_errors=units.constant_errors([each.constant for each in results]),
        ceiling=ceiling,
    )


@dataclass(frozen=True)
class _Measured:
    """Result of a repetition: scores and methods by size, the error of a constant, warnings."""

    scores: Floats
    how: list[str]
    constant: float
    notices: Notices


def _run(
    problem: Problem,
    sizes: NDArray[np.intp],
    units: Units,
    weight: Floats | None,
    made: Repetition,
    number: int,
) -> _Measured:
    """Measure all sizes of one repetition."""
    notices, result = Notices("fit"), []
    split = Split(problem.n_rows, made.test, made.train, False)
    for one in growing_fits(problem, made, sizes):
        with notices.of_fold(number * len(sizes) + one.fold):
            try:
                result.append(score_fold(problem, split, one.fit, [units.scorer], weight))
            except Exception as error:
                error.add_note(
                    f"This was a fit to {sizes[one.fold]} rows, in repetition {number}, counted "
                    "from 0. A row it names may be counted among these."
                )
                raise
    test_weight = None if weight is None else weight[made.test]
    constant = units.constant_error(
        take(problem.y, made.train), take(problem.y, made.test), test_weight
    )
    scores = np.array([next(iter(each.scores.values())) for each in result])
    return _Measured(
        units.shown(scores, constant), [each.how for each in result], constant, notices
    )


def _same(ways: list[str]) -> str:
    kinds = set(ways)
    return ways[0] if len(kinds) == 1 else "mixed"
