"""The threshold of the least cost or the largest metric, against a search over all thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from separable.model.predict.decision import Costs
from separable.select.decision_threshold import OutOfFold, decision_of


def drawn(seed: int, n: int = 60, digits: int = 2, folds: int = 3, **more) -> OutOfFold:
    """Probabilities with ties."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 2.0, size=n).round(digits)
    positive = rng.random(n) < p
    positive[:2] = [True, False]
    parts = np.array_split(rng.permutation(n), folds)
    return OutOfFold(p, positive, rng.integers(1, 4, n).astype(float), parts, **more)


def cost(data: OutOfFold, threshold, fp: float, fn: float) -> np.ndarray:
    says = data.probability >= threshold if data.closed else data.probability > threshold
    return np.where(says & ~data.is_positive, fp, 0.0) + np.where(~says & data.is_positive, fn, 0.0)


#: Between any two probabilities with two digits, and beyond them.
EVERY = np.arange(0.0025, 1, 0.005)


@given(st.integers(0, 10_000), st.floats(0.1, 50), st.floats(0.1, 50), st.booleans())
def test_least_cost(seed, fp, fn, closed):
    data = drawn(seed, closed=closed)
    rule = decision_of(1, data, Costs(fp, fn))
    every = [np.average(cost(data, t, fp, fn), weights=data.weight) for t in EVERY]
    own = np.average(cost(data, rule.threshold, fp, fn), weights=data.weight)
    assert own == pytest.approx(min(every), rel=1e-12, abs=1e-12)
    assert (rule.chosen_by, rule.rows) == ("cost", 60)


SCORES = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": lambda *given, **weight: metrics.f1_score(*given, **weight, zero_division=0),
    "mcc": metrics.matthews_corrcoef,
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", range(3))
def test_largest_metric(name, seed):
    data, score = drawn(seed), SCORES[name]

    def at(threshold):
        says = data.probability > threshold
        return score(data.is_positive, says, sample_weight=data.weight)

    rule = decision_of(1, data, threshold=name)
    assert at(rule.threshold) == pytest.approx(max(map(at, EVERY)), rel=1e-12)
    assert rule.at_half == pytest.approx(at(0.5), rel=1e-12)
    assert (rule.chosen_by, rule.standard_error) == (name, None)


def test_the_expected_cost_is_that_of_thresholds_of_other_folds():
    data, fp, fn = drawn(5), 1.0, 7.0
    rule = decision_of(0, data, Costs(fp, fn))
    values = np.empty(60)
    for fold in data.folds:
        others = np.array(sorted(set(range(60)) - set(fold.tolist())))
        own = decision_of(0, data.take(others), Costs(fp, fn)).threshold
        values[fold] = cost(data, own, fp, fn)[fold]
    w = data.weight / data.weight.sum()
    mean = w @ values
    assert rule.expected == pytest.approx(mean, rel=1e-12)
    assert rule.standard_error == pytest.approx(np.sqrt((w**2) @ (values - mean) ** 2), rel=1e-12)
    assert rule.at_half == pytest.approx(w @ cost(data, 0.5, fp, fn), rel=1e-12)


def test_of_equal_thresholds_the_nearest_to_that_of_exact_probabilities():
    p = np.array([0.1, 0.2, 0.8, 0.9])
    data = OutOfFold(p, p > 0.5, np.ones(4), [np.arange(2), np.arange(2, 4)])
    assert decision_of(1, data, Costs(1, 1)).threshold == 0.5
    weak = OutOfFold(p, np.zeros(4, bool), np.ones(4), [np.arange(4)])
    assert decision_of(1, weak, Costs(1, 1)).threshold == pytest.approx(0.95)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_certain_probabilities_are_beyond_every_threshold(value):
    data = OutOfFold(np.full(4, value), np.arange(4) < 2, np.ones(4), [np.arange(4)])
    for costs in (Costs(1, 100), Costs(100, 1)):
        rule = decision_of(1, data, costs)
        assert 0 < rule.threshold < 1
        assert data.predicted(rule.threshold).tolist() == [value == 1.0] * 4


def test_a_given_threshold():
    data = drawn(1)
    rule = decision_of(1, data, Costs(2, 3), 0.25)
    assert (rule.threshold, rule.chosen_by) == (0.25, "given")
    assert rule.expected == pytest.approx(
        np.average(cost(data, 0.25, 2, 3), weights=data.weight), rel=1e-12
    )
    assert decision_of(1, None, None, 0.25).expected is None
