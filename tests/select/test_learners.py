"""Every moment learner of the command line: from sums as by fitting, with and without a row."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.model_selection import StratifiedKFold

from separable import RidgeCV
from separable.moments.base import MomentEstimator
from separable.select import cross_validate, leave_one_out
from separable.workflow.learners import LEARNERS
from tests.select.doubles import fitted

CLOSE = {"rtol": 1e-8, "atol": 1e-8}
MOMENT_LEARNERS = [
    found
    for found in (learner.load() for learner in LEARNERS.values())
    if issubclass(found, MomentEstimator)
] + [RidgeCV]

#: Classes, whether rows have weights, and the form of rows: cases of an ordinary run, and others.
SOME = [(2, False, np.asarray), (3, True, sp.csr_array)]
OTHERS = [
    pytest.param(*case, marks=pytest.mark.long)
    for case in product([2, 3], [False, True], [np.asarray, sp.csr_array])
    if case not in SOME
]


def counts(n=24, classes=3):
    rng = np.random.default_rng(0)
    label = rng.permutation(np.arange(n) % classes)
    return rng.poisson(1 + 3 * np.eye(classes, 5)[label]).astype(float), label


def scores_of(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


@pytest.mark.parametrize("learner", MOMENT_LEARNERS, ids=lambda each: each.__name__)
@pytest.mark.parametrize(("classes", "weigh", "form"), SOME + OTHERS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_as_by_fitting(learner, classes, weigh, form):
    X, label = counts(classes=classes)
    rng = np.random.default_rng(1)
    y = label if is_classifier(learner()) else X @ np.arange(5) + rng.normal(size=len(X))
    weight = rng.integers(0, 4, len(X)).astype(float) if weigh else None
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, label))
    found = cross_validate(learner(), form(X), y, folds, sample_weight=weight)
    left_out = leave_one_out(learner(), form(X), y, sample_weight=weight)
    for k, (train, test) in enumerate(folds):
        model = fitted(learner(), form(X), y, train, weight)
        mine = found.predictions if found.decision_scores is None else found.decision_scores
        np.testing.assert_allclose(mine[found.fold == k], scores_of(model, X[test]), **CLOSE)
        np.testing.assert_array_equal(
            found.predictions[found.fold == k].round(6), model.predict(X[test]).round(6)
        )
    for row in range(len(X)):
        model = fitted(learner(), form(X), y, np.arange(len(X)) != row, weight)
        every = left_out.predictions if left_out.classes is None else left_out.decision_scores
        np.testing.assert_allclose(every[[row]], scores_of(model, X[[row]]), **CLOSE)
        if left_out.probabilities is not None:
            shares = model.predict_proba(X[[row]])
            np.testing.assert_allclose(left_out.probabilities[[row]], shares, **CLOSE)
