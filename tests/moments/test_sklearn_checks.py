"""scikit-learn's own checks on every moment learner."""

from __future__ import annotations

import pytest

from separable import (
    LDA,
    BayesianRegression,
    BernoulliNB,
    ComplementNB,
    LeastSquares,
    LeastSquaresClassifier,
    LinearGaussianNB,
    MultinomialNB,
    Ridge,
    RidgeCV,
)
from separable.moments.regression.rank_warning import RankWarning
from tests.sklearn_checks import parametrize_with_checks

#: The check has negative values, although the learner says that it takes none.
NEGATIVE = {"check_decision_proba_consistency": "this check has negative values"}
EXPECTED = {
    ComplementNB: NEGATIVE,
    MultinomialNB: NEGATIVE,
}


@parametrize_with_checks(
    [
        BayesianRegression(),
        BayesianRegression(1.0, 1.0),
        BernoulliNB(),
        ComplementNB(),
        ComplementNB(norm=True),
        LDA(),
        LDA(covariance="mle", shrinkage=0.1),
        LDA(shrinkage="oas"),
        LeastSquares(),
        LeastSquares(fit_intercept=False),
        LeastSquaresClassifier(),
        LinearGaussianNB(),
        MultinomialNB(),
        Ridge(),
        Ridge(1e-3, fit_intercept=False),
        RidgeCV(),
        RidgeCV(cv=3),
    ],
    expected_failed_checks=lambda learner: EXPECTED.get(type(learner), {}),
)
@pytest.mark.filterwarnings("ignore::separable.fitting.splits.OrderedRowsWarning")
@pytest.mark.filterwarnings(
    "ignore::separable.moments.regression.bayesian_regression.EvidenceWarning"
)
@pytest.mark.filterwarnings(f"ignore::{RankWarning.__module__}.{RankWarning.__name__}")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
