"""Models are saved with their training state, unless that is large."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LinearSVM, Perceptron, Ridge, VotedPerceptron, load
from separable.cli.io.output import save_noted
from separable.workflow import training_run
from separable.workflow.training_run import save_model

X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2


@pytest.mark.parametrize("learner", [Perceptron, VotedPerceptron, Ridge])
def test_the_state_is_saved(learner, tmp_path):
    estimator = learner()
    estimator.partial_fit(X, Y)
    path = str(tmp_path / "m.safetensors")
    assert save_model(estimator.model_, path)
    learner.from_model(load(path)).partial_fit(X, Y)


def test_a_learner_that_cannot_go_on(tmp_path):
    path = str(tmp_path / "m.safetensors")
    assert not save_model(LinearSVM().fit(X, Y).model_, path)
    assert load(path).state is None


def test_a_large_state_is_left_out_and_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(training_run, "LARGEST_STATE", 10)
    path = str(tmp_path / "m.safetensors")
    save_noted(Ridge().partial_fit(X, Y).model_, path)
    assert load(path).state is None
    assert "separable update cannot continue from it" in capsys.readouterr().err
