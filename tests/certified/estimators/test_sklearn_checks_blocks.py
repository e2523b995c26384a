"""scikit-learn's own checks on the learners whose penalty is a sum over blocks: all of them."""

from __future__ import annotations

import pytest

from separable import GroupLasso, GroupLassoClassifier, LpRegression
from tests.sklearn_checks import parametrize_with_checks

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@parametrize_with_checks(
    [
        *(LpRegression(p, alpha=0.1) for p in ("1/2", "inf")),
        GroupLasso(0.1, standardize=True),
        GroupLassoClassifier(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [
        *(LpRegression(p, alpha=0.1) for p in (0, "2/3", 1, "4/3", "3/2", 2)),
        LpRegression(1.5, standardize=True, fit_intercept=False),
        GroupLasso(0.1),
        # constant models of balanced classes tie, and rounding decides: alpha is small
        GroupLassoClassifier(0.001, standardize=True, class_weight="balanced"),
    ]
)
def test_scikit_learn_checks_of_other_options(estimator, check):
    check(estimator)
