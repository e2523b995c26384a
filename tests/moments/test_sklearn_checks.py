"""scikit-learn's own checks on every moment learner."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separable import (
    LeastSquares,
)
from separable.moments.rank_warning import RankWarning


@parametrize_with_checks(
    [
        LeastSquares(),
        LeastSquares(fit_intercept=False),
    ],
)
@pytest.mark.filterwarnings(f"ignore::{RankWarning.__module__}.{RankWarning.__name__}")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
