from __future__ import annotations

from typing import get_args

import pytest

from separable.cli.learners import DEFAULT_LEARNER, LEARNERS, Task, new_learner, options_for
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


def test_the_default_is_a_registered_classifier():
    assert LEARNERS[DEFAULT_LEARNER].task == "classification"


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
