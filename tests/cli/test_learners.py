from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from separable.cli.learners import DEFAULT_LEARNERS, LEARNERS, Task, new_learner, options_for
from separable.cli.target import TARGETS, Target, target_class
from separable.cli.train import _learners_help


@pytest.mark.parametrize("name", LEARNERS)
def test_every_registered_learner_is_of_its_task(name):
    from sklearn.base import is_classifier, is_regressor

    check = is_classifier if LEARNERS[name].task == "classification" else is_regressor
    assert check(new_learner(name, 3))


def test_the_seed_goes_to_those_that_take_one(regressors):
    assert new_learner("perceptron", 3).random_state == 3
    assert new_learner("descent", 3).random_state == 3
    assert not hasattr(new_learner("plane", 3), "random_state")


def test_every_task_has_a_default():
    assert set(DEFAULT_LEARNERS) == set(get_args(Task))
    for task, name in DEFAULT_LEARNERS.items():
        assert LEARNERS[name].task == task


def test_too_few_rows_for_folds_are_learned_without_search():
    few, enough = np.array(["a", "b", "b"]), np.array(["a", "b", "b", "a"])
    assert type(new_learner("logistic-regression-cv", 3, few)).__name__ == "LogisticRegression"
    assert type(new_learner("linear-svm-cv", 3, few)).__name__ == "LinearSVM"
    assert type(new_learner("linear-svm-cv", 3, enough)).__name__ == "LinearSVMCV"


def test_options_and_help_tell_the_tasks_apart(regressors):
    assert "--model plane or --model descent" in options_for("regression")
    assert "perceptron" not in options_for("regression")
    assert options_for("classification").startswith("--model averaged-perceptron or --model")
    told = _learners_help()
    assert "for classification averaged-perceptron, batch-perceptron, " in told
    assert "; for regression " in told


def test_one_task_needs_no_word(monkeypatch):
    for name in [name for name, learner in LEARNERS.items() if learner.task == "regression"]:
        monkeypatch.delitem(LEARNERS, name)
    assert _learners_help() == "The learner."
    assert options_for("regression") == ""


def test_every_task_has_a_target():
    assert set(TARGETS) == set(get_args(Task))
    for task in TARGETS:
        assert issubclass(target_class(task), Target)
        assert target_class(task).task == task
