"""scikit-learn's own checks on every moment learner."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from separable import (
    BernoulliNB,
    ComplementNB,
    MultinomialNB,
)

#: The check has negative values, although the learner says that it takes none.
NEGATIVE = {"check_decision_proba_consistency": "this check has negative values"}
EXPECTED = {
    ComplementNB: NEGATIVE,
    MultinomialNB: NEGATIVE,
}


@parametrize_with_checks(
    [
        BernoulliNB(),
        ComplementNB(),
        ComplementNB(norm=True),
        MultinomialNB(),
    ],
    expected_failed_checks=lambda learner: EXPECTED.get(type(learner), {}),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
