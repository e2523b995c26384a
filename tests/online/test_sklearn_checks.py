"""scikit-learn's own checks on every estimator."""

from __future__ import annotations

import pytest

from separable import (
    AveragedPerceptron,
    BatchPerceptron,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    VotedPerceptron,
    WidrowHoff,
)
from tests.sklearn_checks import parametrize_with_checks

SCHEDULES = ("adaptive", "constant", "invscaling", "optimal")
ORDER = "an online learner depends on the order of rows, and this check shuffles them"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}


@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron(multi_class="argmax", pocket=True, max_iter=50),
        AveragedPerceptron(),
        AveragedPerceptron(multi_class="argmax"),
        VotedPerceptron(),
        VotedPerceptron(max_voters=20),
        BatchPerceptron(),
        SGDClassifier("log_loss"),
        *(SGDClassifier(learning_rate=schedule) for schedule in SCHEDULES),
        SGDClassifier(
            "log_loss", penalty="elasticnet", early_stopping=True, validation_fraction=0.3
        ),
        SGDClassifier("hinge", average=True),
        SGDRegressor(),
        SGDRegressor("huber", penalty="l1"),
        SGDRegressor("epsilon_insensitive", average=True),
        SGDRegressor(learning_rate="constant", eta0=5e-5, tol=1e-4),  # as long as rows allow
        SGDRegressor("huber", learning_rate="invscaling", epsilon=2.0),
        WidrowHoff(eta0=5e-5),  # some checks have rows so long that 0.01 is too large, and refused
    ],
    long=[SGDClassifier("log_loss", learning_rate=schedule) for schedule in SCHEDULES[1:]],
    expected_failed_checks=lambda learner: {} if type(learner) is BatchPerceptron else EXPECTED,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
