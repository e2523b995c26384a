"""The protocol between learners and searches."""

from functools import partial

import numpy as np
import pytest
import sklearn.base
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_wine

from separable import (
    LDA,
    ElasticNet,
    GroupLasso,
    Lasso,
    LinearSVM,
    LogisticRegression,
    LpRegression,
    Perceptron,
    Ridge,
)
from separable.fitting.fold_fits import FittedFold, FoldFit, Problem, fold_fits, refit_fold
from separable.fitting.splits import Split
from separable.model.metrics.metric_registry import Predictions
from separable.select import search


class Offering(ClassifierMixin, BaseEstimator):
    """A learner that offers fits to a search and has no other."""

    def __init__(self, C=1.0):
        self.C = C

    regularization = "C"

    def fit(self, X, y):
        raise AssertionError("a search uses what is offered")

    def predict(self, X):
        raise AssertionError

    def fold_fits(self, problem, candidates, splits, *, certified=True):
        assert not certified
        for fold, split in enumerate(splits):
            for index, each in enumerate(candidates):
                right = np.asarray(problem.y)[split.test] if each.C > 1 else split.test * 0
                predictions = Predictions(right, classes=np.unique(problem.y))
                yield FoldFit(fold, index, partial(FittedFold, self, "lanes", predictions))


def test_a_search_uses_what_a_learner_offers():
    y = np.array([1, 2] * 10)
    found = search(Offering(), {"C": [0.5, 2.0]}, np.zeros((20, 1)), y, cv=2, refit=False)
    assert found.how_ == ("lanes", "lanes")
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], [0, 1])


@pytest.mark.parametrize(
    ("learner", "how"),
    [
        (LogisticRegression(standardize=True), "lanes"),
        (LinearSVM(standardize=True, probability=True), "refit"),
        (LDA(), "sums"),
        (Perceptron(max_iter=5), "refit"),
        (Ridge(), "sums"),
        (Lasso(0.1), "lanes"),
        (GroupLasso(0.1), "refit"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_shared_fits_are_those_of_refits(learner, how):
    is_classifier = sklearn.base.is_classifier(learner)
    X, y = load_wine(return_X_y=True) if is_classifier else load_diabetes(return_X_y=True)
    n = len(y)
    splits = [Split(n, np.arange(k, n, 3)) for k in range(3)]
    problem = Problem(learner, X, y, n, None)
    fits = {fit.fold: fit.fit() for fit in fold_fits(problem, [learner], splits)}
    assert sorted(fits) == [0, 1, 2]
    for fold, fitted in fits.items():
        alone = refit_fold(problem, learner, splits[fold])
        assert fitted.how == how
        np.testing.assert_allclose(
            fitted.predictions.predicted, alone.predictions.predicted, rtol=1e-4, atol=1e-3
        )


@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), LinearSVM(), Lasso(), ElasticNet(), GroupLasso(), LpRegression()],
)
def test_paths_have_a_common_form(learner):
    is_classifier = sklearn.base.is_classifier(learner)
    X, y = load_wine(return_X_y=True) if is_classifier else load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    data = learner.fold_data(X, y, None)
    every = Split(len(y), np.empty(0, np.intp), np.arange(len(y)))
    values, k = np.array([1.0, 0.1]), 3 if is_classifier else 1
    seen = []
    for part in learner.path_solver(data, [every]).solve(values):
        s = len(part.indices)
        seen += part.indices
        assert part.weights.shape == (s, k, X.shape[1])
        assert part.intercept.shape == (s, k)
        assert part.n_iter.shape == (s,)
        assert all(one.converged for some in part.certificates for one in some)
    assert sorted(seen) == [0, 1]
