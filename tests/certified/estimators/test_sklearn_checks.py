"""scikit-learn's own checks on every certified learner: all of them."""

from __future__ import annotations

import pytest

from separable import ElasticNet, Lasso, LinearSVM, LinearSVR, LogisticRegression
from tests.sklearn_checks import parametrize_with_checks

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings(
        "ignore::separable.certified.inference.platt_scaling.CalibrationWarning"
    ),
]


# Classifiers have their intercept: a check of class weights cannot be met without one.
@parametrize_with_checks(
    [
        LogisticRegression(),
        LinearSVM(),
        LinearSVR(standardize=True),
        Lasso(0.01, positive=True, standardize=True),
        ElasticNet(0.1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [
        LogisticRegression(100.0),
        LogisticRegression(standardize=True, class_weight="balanced"),
        LinearSVM(0.1, standardize=True),
        LinearSVM(probability=True, loss="squared_hinge"),
        LinearSVM(loss="squared_hinge"),
        LinearSVR(),
        LinearSVR(epsilon=0.1, fit_intercept=False),
        Lasso(0.1),
        ElasticNet(0.01, l1_ratio=0.9, fit_intercept=False),
    ]
)
def test_scikit_learn_checks_of_other_options(estimator, check):
    check(estimator)
