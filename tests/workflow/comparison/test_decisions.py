"""Costs, thresholds and class weights of `separable.train`."""

from __future__ import annotations

import re

import numpy as np
import pytest

import separable
from separable.datasets import PENGUINS
from separable.errors import OptionError
from separable.workflow.holdout_splits import folds_of


@pytest.fixture(scope="module")
def rare() -> dict[str, list]:
    """One row in twenty is yes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = rng.random(1200) < 1 / (1 + np.exp(3.6 - 1.2 * X[:, 0] + 0.8 * X[:, 1]))
    assert 40 < y.sum() < 120
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": np.where(y, "yes", "no").tolist()}


COST = {"fp": 1, "fn": 20}


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_threshold_of_the_least_cost(rare, positive):
    """The oracle: fits on the same folds by hand, and a search over all thresholds."""
    given = {"model": "logistic-regression", "set": {"C": 0.5}, "positive": positive}
    run = separable.train(rare, "y", cost=COST, **given)
    encoded = run.kept.compared
    problem, chosen = run.problem, encoded.chosen
    X = encoded(counts=False)[1].to_matrix()
    y = problem.target.values[chosen]
    p = np.full(len(y), np.nan)
    for train, test in folds_of(problem, chosen, 5, 0):
        fitted = separable.LogisticRegression(C=0.5).fit(X[train], y[train])
        p[test] = fitted.predict_proba(X[test])[:, fitted.classes_.tolist().index(positive)]
    assert len(chosen) == 900  # without the held-out rows

    def cost(t):
        says = p > t
        return np.mean(1.0 * (says & (y != positive)) + 20.0 * (~says & (y == positive)))

    values = np.sort(p)
    every = np.concatenate([[0], (values[1:] + values[:-1]) / 2, [1]])
    rule = run.model.decision
    assert cost(rule.threshold) == pytest.approx(min(map(cost, every)), abs=1e-12)
    assert rule.at_half == pytest.approx(cost(0.5))
    assert run.model.classes[rule.positive] == positive
    assert rule.expected >= cost(rule.threshold)
    held_out = run.evaluation
    assert held_out.cost.false_negative == 20
    assert "cost (fp 1, fn 20)" in run.summary()
    assert f"Threshold: {positive} above probability" in run.summary()
    assert len(run.summary().splitlines()) + 5 <= 40


def test_nothing_changes_without_them(rare):
    run = separable.train(rare, "y", model="lda")
    assert run.model.decision is None
    assert run.to_dict()["decision"] is None
    X = {name: rare[name] for name in "abc"}
    p = run.model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(run.model.predict(X) == "yes", p > 0.5)


def test_the_summary_names_a_class_that_is_hardly_predicted(rare):
    run = separable.train(rare, "y", model="lda")
    said = re.search(
        r"At the threshold 0.5, yes is predicted for (\d+) rows; (\d+) are\.", run.summary()
    )
    of_class = next(each for each in run.evaluation.classes if each.label == "yes")
    assert (int(said[1]), int(said[2])) == (of_class.predicted, of_class.rows)
    assert "cost={'fp': 1, 'fn': 20}, threshold='f1'" in run.summary()
    assert any("threshold='f1'" in str(each) for each in run.warnings)
    again = separable.train(rare, "y", model="lda", threshold="f1")
    assert "At the threshold 0.5" not in again.summary()
    assert not any("threshold" in str(each) for each in again.warnings)
    assert again.evaluation.figures["f1"] > run.evaluation.figures["f1"]


@pytest.mark.parametrize("model", ["linear-svm", "averaged-perceptron"])
@pytest.mark.parametrize("metric", [None, "accuracy"])
def test_scores_are_calibrated(rare, model, metric):
    run = separable.train(rare, "y", model=model, metric=metric, cost=COST)
    assert run.model.calibration is not None
    X = {name: rare[name] for name in "abc"}
    p = run.model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(run.model.predict(X) == "yes", p > run.model.decision.threshold)


def test_costs_by_class_are_the_same(rare):
    one = separable.train(rare, "y", model="lda", cost="fp=1,fn=20").model
    other = separable.train(rare, "y", model="lda", cost={"no": 1, "yes": 20}).model
    assert one.decision == other.decision
    swapped = separable.train(rare, "y", model="lda", cost="yes=20,no=1", positive="no").model
    assert (swapped.decision.costs.false_positive, swapped.decision.costs.false_negative) == (20, 1)
    assert swapped.decision.threshold == pytest.approx(1 - one.decision.threshold)


def test_a_given_threshold(rare):
    run = separable.train(rare, "y", model="lda", threshold=0.2, cost=COST)
    assert (run.model.decision.threshold, run.model.decision.chosen_by) == (0.2, "given")
    assert "as given; cost (fp 1, fn 20): " in run.summary()
    few = {"x": [1.0, 2.0, 3.0, 4.0, 5.0], "y": [0, 0, 0, 0, 1]}
    run = separable.train(few, "y", model="logistic-regression", threshold=0.3, test_size=0)
    assert (run.comparison.board, run.model.decision.threshold) == (None, 0.3)
    with pytest.raises(ValueError, match=r"too few for cross-validation.*threshold=0.2"):
        separable.train(few, "y", model="logistic-regression", threshold="f1", test_size=0)


@pytest.mark.parametrize("weight", ["balanced", {"yes": 19, "no": 1}])
def test_class_weights(rare, weight):
    run = separable.train(rare, "y", class_weight=weight, test_size=0)
    named = {each.name for each in run.leaderboard}
    assert "logistic-regression" in named
    assert not named & {"lda", "linear-gaussian-nb"}
    assert any("lda" in str(each) and "class_weight" in str(each) for each in run.notes)
    given = {"model": "logistic-regression", "set": {"C": 1}, "test_size": 0}
    run = separable.train(rare, "y", class_weight=weight, **given)
    plain = separable.LogisticRegression(C=1, class_weight=weight, tol=1e-10)
    X = np.column_stack([rare[name] for name in "abc"])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = plain.fit(X, np.array(rare["y"])).coef_
    assert run.model.weights == pytest.approx(expected, rel=1e-3)


def test_class_weights_of_three_classes():
    weight = {"Adelie": 1, "Gentoo": 5}
    given = {"model": "linear-svm", "set": {"C": 1}, "class_weight": weight}
    run = separable.train(str(PENGUINS), "species", **given)
    assert run.model.parameters["class_weight"] == [["Adelie", 1], ["Gentoo", 5]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cost": "fp=1"}, r"cost=.*give two costs"),
        ({"cost": "fp=-1,fn=2"}, r"cost=\{'fp': '-1'\}: '-1' is not a finite number >= 0"),
        ({"cost": "fp=1,fn"}, r"write NAME=NUMBER, separated by commas: fp=1,fn=20"),
        ({"cost": {"fp": 0, "fn": 0}}, r"both are 0"),
        ({"cost": {"no": 1, "maybe": 2}}, r"there is no class 'maybe'.*There are 'no', 'yes'"),
        ({"threshold": 0}, r"threshold=0: give a probability between 0 and 1, or a metric"),
        ({"threshold": 1.5}, r"threshold=1.5: give a probability"),
        ({"threshold": "roc_auc"}, r"accuracy, balanced_accuracy, f1, mcc"),
        ({"threshold": 0.2, "model": "voted-perceptron"}, r"neither probabilities nor scores"),
        ({"class_weight": "equal"}, r"write NAME=NUMBER.*balanced"),
        ({"class_weight": {"maybe": 2}}, r"there is no class 'maybe'"),
        ({"class_weight": {"yes": 0}}, r"a class of weight 0 is never learned"),
        ({"class_weight": "balanced", "model": "lda"}, r"lda has no class weights"),
        ({"class_weight": "balanced", "set": {"class_weight": "balanced"}}, r"say the same"),
    ],
)
def test_mistakes(rare, given, message):
    with pytest.raises(OptionError, match=message):
        separable.train(rare, "y", **given)


def test_mistakes_about_the_target(rare):
    for given in ({"cost": COST}, {"threshold": 0.2}, {"class_weight": "balanced"}):
        with pytest.raises(OptionError, match="the task is regression"):
            separable.train(str(PENGUINS), "body_mass_g", **given)
    with pytest.raises(OptionError, match=r"needs two classes, and 'species' has 3 .*class_weight"):
        separable.train(str(PENGUINS), "species", cost=COST)
    with pytest.raises(OptionError, match="cannot be used with a stream"):
        separable.train(str(PENGUINS), "sex", stream=True, cost=COST)
