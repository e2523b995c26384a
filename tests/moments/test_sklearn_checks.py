"""scikit-learn's own checks on every moment learner."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separable import (
    LDA,
    LeastSquares,
    LeastSquaresClassifier,
    LinearGaussianNB,
)
from separable.moments.rank_warning import RankWarning


@parametrize_with_checks(
    [
        LDA(),
        LDA(covariance="mle", shrinkage=0.1),
        LDA(shrinkage="oas"),
        LeastSquares(),
        LeastSquares(fit_intercept=False),
        LeastSquaresClassifier(),
        LinearGaussianNB(),
    ],
)
@pytest.mark.filterwarnings(f"ignore::{RankWarning.__module__}.{RankWarning.__name__}")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
