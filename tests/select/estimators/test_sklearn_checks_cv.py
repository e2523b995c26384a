"""scikit-learn's own checks on the certified learners that choose their C or alpha."""

from __future__ import annotations

import pytest

from separable import ElasticNetCV, LassoCV, LinearSVMCV, LogisticRegressionCV
from tests.sklearn_checks import parametrize_with_checks

pytestmark = [
    pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
]


def expected_failures(estimator):
    """Return the checks that ask for more digits of scores than a relative gap of 1e-14 has."""
    if not isinstance(estimator, LogisticRegressionCV):
        return {}
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(checks, "scores near 0 differ by 1e-8")


@parametrize_with_checks(
    [
        LogisticRegressionCV([0.1, 1.0], cv=2, standardize=True, select="1se"),
        LinearSVMCV([0.1, 1.0], cv=2, loss="squared_hinge", standardize=True),
        LassoCV(5, cv=3),
        ElasticNetCV(5, l1_ratio=[0.5, 1.0], cv=3),
    ],
    expected_failed_checks=expected_failures,
)
# some checks learn from iris, whose rows are in the order of y
@pytest.mark.filterwarnings("ignore::separable.fitting.splits.OrderedRowsWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [
        LogisticRegressionCV(4, cv=3),
        LinearSVMCV([0.1, 1.0], cv=3),
        LassoCV([0.1, 0.01], cv=2, standardize=True, select="1se"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::separable.fitting.splits.OrderedRowsWarning")
def test_scikit_learn_checks_of_other_options(estimator, check):
    check(estimator)
