"""scikit-learn's own checks on every moment learner."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separable import (
    LDA,
    BayesianRegression,
    LeastSquares,
    LeastSquaresClassifier,
    LinearGaussianNB,
    Ridge,
    RidgeCV,
)
from separable.moments.rank_warning import RankWarning


@parametrize_with_checks(
    [
        LDA(),
        LDA(covariance="mle", shrinkage=0.1),
        LDA(shrinkage="oas"),
        LeastSquares(),
        LeastSquares(fit_intercept=False),
        Ridge(),
        Ridge(1e-3, fit_intercept=False),
        RidgeCV(),
        RidgeCV(cv=3),
        BayesianRegression(),
        BayesianRegression(1.0, 1.0),
        LeastSquaresClassifier(),
        LinearGaussianNB(),
    ],
)
@pytest.mark.filterwarnings("ignore::separable.moments.bayesian_regression.EvidenceWarning")
@pytest.mark.filterwarnings(f"ignore::{RankWarning.__module__}.{RankWarning.__name__}")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
