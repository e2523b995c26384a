"""scikit-learn's own checks on the certified learners that choose their C."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separable import LinearSVMCV, LogisticRegressionCV


@parametrize_with_checks(
    [
        LogisticRegressionCV(4, cv=3),
        LogisticRegressionCV([0.1, 1.0], cv=2, standardize=True, select="1se"),
        LinearSVMCV([0.1, 1.0], cv=3),
        LinearSVMCV([0.1, 1.0], cv=3, loss="squared_hinge", standardize=True),
    ]
)
@pytest.mark.filterwarnings("ignore::separable.fitting.choice.GridEdgeWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
