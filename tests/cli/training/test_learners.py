from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from separable.workflow.learners import (
    LEARNERS,
    Facts,
    Task,
    learners_of,
    names_of,
    new_learner,
)
from separable.workflow.target import TARGETS, Target


@pytest.mark.parametrize("name", LEARNERS)
def test_every_registered_learner_is_of_its_task(name):
    from sklearn.base import is_classifier, is_regressor

    check = is_classifier if LEARNERS[name].task == "classification" else is_regressor
    assert check(new_learner(name, 3))


def test_the_seed_goes_to_those_that_take_one(regressors):
    assert new_learner("perceptron", 3).random_state == 3
    assert new_learner("descent", 3).random_state == 3
    assert not hasattr(new_learner("plane", 3), "random_state")


def facts(**given) -> Facts:
    usual = {"rows": 1000, "features": 20, "classes": 2, "nonzeros": 20.0}
    return Facts(**{**usual, "nonnegative": False, "text": False, **given})


@pytest.mark.parametrize("task", get_args(Task))
def test_some_learner_suits_any_data(task):
    kinds = [
        facts(),
        facts(rows=10**7),
        facts(features=10**6, nonzeros=100.0, text=True, nonnegative=True),
        facts(rows=5, features=5000, nonzeros=5000.0),
    ]
    for each in kinds:
        assert learners_of(task, each)


def test_who_takes_part_in_auto():
    table = learners_of("classification", facts())
    text = {"features": 100_000, "nonzeros": 50.0, "text": True, "nonnegative": True}
    texts = learners_of("classification", facts(**text))
    assert table[0] == texts[0] == "logistic-regression"
    assert "lda" in table
    assert "multinomial-nb" not in table
    assert "lda" not in texts
    assert {"multinomial-nb", "complement-nb", "linear-svm"} <= set(texts)
    assert "linear-svm" not in learners_of("classification", facts(rows=10**6))
    topics = facts(**text, rows=20_000, classes=100)
    assert "linear-svm" not in learners_of("classification", topics)
    for names in (table, texts):
        assert not {"voted-perceptron", "batch-perceptron", "perceptron"} & set(names)
    assert learners_of("regression", facts(classes=0))[0] == "ridge"
    assert "ridge" in learners_of("regression", facts(classes=0, features=5000))
    assert "bayesian-regression" not in learners_of("regression", facts(classes=0, features=5000))
    assert learners_of("regression", facts(classes=0))[1] == "lasso"
    assert "lasso" not in learners_of("regression", facts(classes=0, features=50_000))
    assert "elastic-net" not in learners_of("regression", facts(classes=0))


def test_alphas_of_the_lasso_follow_the_target():
    strength = LEARNERS["lasso"].regularization
    assert strength.grid(100, 1.0) == strength.grid(10**6, 1.0) == strength.values
    assert strength.grid(100, 802.0)[:2] == (0.08, 0.24)


@pytest.mark.parametrize(("p", "power"), [(0, 2), ("1/2", 1.5), (1, 1), (2, 0), ("inf", 1)])
def test_alphas_of_powers_follow_the_target_and_the_power(p, power):
    strength = LEARNERS["lp-regression"].regularization
    assert strength.grid(100, 10.0, {"p": p}) == pytest.approx(
        np.multiply(strength.values, 10.0**power), rel=0.05
    )


def test_a_strength_is_a_parameter_of_its_learner():
    for name, learner in LEARNERS.items():
        if learner.regularization is not None:
            for value in learner.regularization.grid(100):
                made = new_learner(name, **{learner.regularization.name: value})
                made.check_parameters()


def test_a_learner_is_one_entry(regressors):
    """Help, the choice of --model and the names of a task follow from it."""
    assert {"plane", "descent"} <= set(names_of("regression"))
    assert "plane" not in names_of("classification")
    assert "plane" not in learners_of("regression", facts())  # only by its name


def test_every_task_has_a_target():
    assert set(TARGETS) == set(get_args(Task))
    for task in TARGETS:
        assert issubclass(TARGETS[task], Target)
        assert TARGETS[task].task == task


def test_the_beginning_of_a_name_is_answered_with_the_whole(separable):
    result = separable("train", "data.csv", "--target", "y", "--model", "logistic")
    assert result.code == 2
    assert "'logistic' is not a learner. Did you mean logistic-regression?" in result.err
