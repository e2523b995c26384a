"""Decision thresholds: predicted classes depend on them, probabilities and scores do not."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from separable import LinearModel, LogisticRegression, TableClassifier, load
from separable.model.predict.decision import Costs, Decision

SCORES = np.linspace(-6, 6, 121)


def model(**more) -> LinearModel:
    return LinearModel([[1.0]], [0.0], ["no", "yes"], **{"link": "logistic", **more})


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.77])
@pytest.mark.parametrize("calibration", [None, [[0.6, -1.0]], [[0.0, -1.0]]])
def test_the_class_follows_from_the_probability(positive, threshold, calibration):
    link = "logistic" if calibration is None else "score"
    plain = model(link=link, calibration=calibration)
    rule = replace(plain, decision=Decision(positive, threshold))
    X = SCORES[:, None]
    np.testing.assert_array_equal(rule.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(rule.decision_function(X), plain.decision_function(X))
    p = plain.predict_proba(X)[:, positive]
    label, other = ("yes", "no") if positive else ("no", "yes")
    np.testing.assert_array_equal(rule.predict(X), np.where(p > threshold, label, other))
    np.testing.assert_array_equal(rule.explain(X).predicted, rule.predict(X))


def test_half_is_the_default():
    rule = model(decision=Decision(1, 0.5))
    assert rule.score_threshold == 0.0 == model().score_threshold
    X = np.array([[-0.0], [0.0], [5e-324], [-5e-324]])
    np.testing.assert_array_equal(rule.predict(X), model().predict(X))


def test_one_record_and_its_explanation():
    table = {"x": [1.0, 2.0, 3.0, 4.0]}
    whole = TableClassifier(LogisticRegression()).fit(table, ["no", "no", "yes", "yes"]).model_
    rule = replace(whole, decision=Decision(1, 0.99))
    assert whole.predict_one({"x": 4.0}) == "yes"
    assert rule.predict_one({"x": 4.0}) == rule.predict([{"x": 4.0}])[0] == "no"
    assert "(> 4.59512 is yes)" in str(rule.explain([{"x": 4.0}]))


def test_files(tmp_path):
    rule = Decision(0, 0.2, "f1", None, 0.4, None, 0.1, rows=9)
    costs = Decision(1, 0.1, "cost", Costs(1, 9), 0.25, 0.01, 0.5, rows=9)
    for each in (rule, costs, Decision(1, 0.3)):
        path, again = tmp_path / "a", tmp_path / "b"
        model(decision=each).save(path)
        loaded = load(path)
        assert loaded.decision == each
        loaded.save(again)
        assert path.read_bytes() == again.read_bytes()
        assert copy.deepcopy(loaded).decision == each


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threshold": 0.0}, "threshold must be a number between 0 and 1. Got 0.0"),
        ({"threshold": 1}, "threshold must be a number between 0 and 1"),
        ({"threshold": float("nan")}, "threshold must be a number between 0 and 1"),
        ({"positive": 2}, "positive must be 0 or 1"),
        ({"positive": True}, "positive must be 0 or 1"),
        ({"chosen_by": "roc_auc"}, "chosen_by must be one of given, cost, accuracy"),
        ({"expected": float("inf")}, "expected must be a finite number or None"),
        ({"rows": -1}, "rows must be an int >= 0"),
    ],
)
def test_wrong_rules(given, message):
    with pytest.raises(ValueError, match=message):
        Decision(**{"positive": 1, "threshold": 0.5, **given})


@pytest.mark.parametrize(
    ("fp", "fn", "message"),
    [
        (-1, 2, "false_positive must be a finite number >= 0. Got -1"),
        (1, float("inf"), "false_negative must be a finite number >= 0"),
        (0, 0, "both 0"),
    ],
)
def test_wrong_costs(fp, fn, message):
    with pytest.raises(ValueError, match=message):
        Costs(fp, fn)


def test_models_that_cannot_apply_it():
    rule = Decision(1, 0.3)
    with pytest.raises(ValueError, match=r"needs two classes\. The model has 3"):
        LinearModel(np.eye(3), [0, 0, 0], [1, 2, 3], "softmax", decision=rule)
    with pytest.raises(ValueError, match=r"needs two classes\. The model has 0"):
        LinearModel([[1.0]], [0.0], None, "identity", decision=rule)
    with pytest.raises(ValueError, match="needs probabilities"):
        model(link="score", decision=rule)
    online = model(decision=rule, family="online")
    with pytest.raises(ValueError, match="decision threshold cannot be merged"):
        online.merge(online, weights=[1, 1])


def test_evaluation_has_the_cost():
    X, y = SCORES[:, None], np.where(SCORES > 2, "yes", "no")
    rule = model(decision=Decision(1, 0.2, costs=Costs(2, 5)))
    weight = np.arange(1.0, 122.0)
    result = rule.evaluate(X, y, weight)
    says = rule.predict(X)
    each = np.where((says == "yes") & (y == "no"), 2.0, 0) + np.where(
        (says == "no") & (y == "yes"), 5.0, 0
    )
    w = weight / weight.sum()
    assert result.cost.mean == pytest.approx(w @ each)
    assert result.cost.standard_error == pytest.approx(np.sqrt(w**2 @ (each - w @ each) ** 2))
    always = np.where(y == result.constant, 0.0, 5.0 if result.constant == "no" else 2.0)
    assert result.cost.constant == pytest.approx(w @ always)
    assert "cost (fp 2, fn 5)" in str(result)
    assert type(result).from_dict(result.to_dict()).cost == result.cost
    assert model().evaluate(X, y).cost is None
    assert "cost" not in model().evaluate(X, y).to_dict()
