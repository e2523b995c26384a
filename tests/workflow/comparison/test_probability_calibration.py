"""Learners without probabilities compete by calibrated ones, from out-of-fold scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import separable
from separable.datasets import PENGUINS
from separable.workflow.comparison.probability_calibration import sigmoids_of


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def two_classes(rng, n=400):
    X = rng.normal(size=(n, 3))
    y = X @ [2.0, -1.0, 0.5] + rng.logistic(size=n) > 0
    return {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "c": X[:, 2].tolist(), "y": y.tolist()}


def test_sigmoids_are_platts(rng):
    """The oracle: logistic regression without a penalty on the scores; the targets of Platt."""
    scores = rng.normal(size=(3000, 1))
    codes = (rng.random(3000) < 1 / (1 + np.exp(-(1.7 * scores[:, 0] - 0.4)))).astype(int)
    oracle = LogisticRegression(C=np.inf, tol=1e-10).fit(scores, codes)
    expected = [[oracle.coef_[0, 0], oracle.intercept_[0]]]
    assert sigmoids_of(scores, codes) == pytest.approx(np.array(expected), rel=5e-3)


@pytest.mark.parametrize("target", ["species", "sex"])
@pytest.mark.parametrize("model", ["linear-svm", "averaged-perceptron"])
def test_the_model_has_the_probabilities_it_was_compared_by(model, target):
    run = separable.train(str(PENGUINS), target, model=model)
    assert run.leaderboard.metric == "log_loss"
    assert run.leaderboard.best.how == "calibrated on out-of-fold scores"
    assert run.model.calibration.shape == (run.model.n_scores, 2)
    proba = run.model.predict_proba(run.problem.features)
    assert proba.sum(axis=1) == pytest.approx(1)
    figures = run.evaluation.figures
    assert figures["log_loss"] < run.evaluation.constant_figures["log_loss"]
    assert figures["log_loss"] == pytest.approx(run.leaderboard.best.mean, abs=0.15)


def test_a_fold_is_not_calibrated_on_itself(rng):
    """On labels that mean nothing no learner beats the constant by calibrating on its own rows."""
    data = {"x": rng.normal(size=60).tolist(), "y": rng.permutation([0, 1] * 30).tolist()}
    run = separable.train(data, "y", model="linear-svm", test_size=0)
    assert run.leaderboard.best.mean >= np.log(2) - 0.01


def test_an_svm_competes_with_logistic_regression(rng):
    data = two_classes(rng)
    run = separable.train(data, "y", model=["logistic-regression", "linear-svm"])
    logistic, svm = (run.leaderboard[name] for name in ("logistic-regression", "linear-svm"))
    assert svm.mean == pytest.approx(logistic.mean, abs=0.02)


def test_a_rare_class_ends_in_probabilities(rng):
    """A model that always says no is not preferred for its accuracy."""
    n = 3000
    x = rng.normal(size=n)
    y = rng.random(n) < 0.012 * np.exp(0.9 * x) / np.exp(0.4)
    run = separable.train({"x": x.tolist(), "y": y.tolist()}, "y")
    assert hasattr(run.model, "predict_proba")
    assert run.evaluation.figures["log_loss"] < run.evaluation.constant_figures["log_loss"]
    assert run.evaluation.figures["roc_auc"] > 0.6


def test_votes_have_no_probabilities():
    run = separable.train(str(PENGUINS), "species", model="voted-perceptron")
    assert run.leaderboard.metric == "accuracy"
    both = separable.train(str(PENGUINS), "species", model=["lda", "voted-perceptron"])
    assert both.leaderboard.metric == "accuracy"


def test_weights_count_in_calibration(rng):
    """A row of weight 2 counts as two rows."""
    scores, codes = rng.normal(size=(50, 1)), np.arange(50) % 2
    weight = rng.integers(1, 3, 50)
    twice = np.repeat(np.arange(50), weight)
    assert sigmoids_of(scores, codes, weight.astype(float)) == pytest.approx(
        sigmoids_of(scores[twice], codes[twice]), rel=1e-6
    )
