"""scikit-learn's own checks on every moment learner."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separable import LDA, LeastSquaresClassifier, LinearGaussianNB


@parametrize_with_checks(
    [
        LDA(),
        LDA(covariance="mle", shrinkage=0.1),
        LDA(shrinkage="oas"),
        LeastSquaresClassifier(),
        LinearGaussianNB(),
    ]
)
@pytest.mark.filterwarnings("ignore::separable.moments.least_squares.RankWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
