"""Sample and class weights: weight k + f is k presentations in place and one of size f."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable import AveragedPerceptron, Perceptron
from separable.learn import plain as reference
from tests.online.problems import integer_problems

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

# eighths, so that steps stay exact in binary
WEIGHTS = st.integers(0, 40).map(lambda k: k / 8)
LEARNERS = [(cls, rule) for cls in (Perceptron, AveragedPerceptron) for rule in ("ovr", "argmax")]


def draw_weights(data, y):
    weight = np.array(data.draw(st.lists(WEIGHTS, min_size=len(y), max_size=len(y))))
    weight[[np.flatnonzero(y == c)[0] for c in set(y.tolist())]] += 1  # every class is present
    return weight


def params(fitted):
    return np.hstack([fitted.coef_, fitted.intercept_[:, None]])


@given(integer_problems(), st.data())
def test_binary_equals_reference(problem, data):
    X, y = problem
    weight = draw_weights(data, y)
    w, b, mistakes, history = reference.perceptron(X, 2 * y - 1, 4, weights=weight)
    last = Perceptron(shuffle=False, max_iter=4).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(params(last)[0], np.append(w, b))
    assert last.evidence_["mistakes"] == mistakes
    mean = AveragedPerceptron(shuffle=False, max_iter=4).fit(X, y, sample_weight=weight)
    expected = history.mean(axis=0)
    np.testing.assert_allclose(
        params(mean)[0], expected, rtol=0, atol=1e-12 * (1 + abs(expected).max())
    )


@given(integer_problems(classes=4), st.data())
def test_argmax_equals_reference(problem, data):
    X, y = problem
    weight = draw_weights(data, y)
    W, b, mistakes, history = reference.argmax_perceptron(X, y, 4, 3, weights=weight)
    last = Perceptron(shuffle=False, max_iter=3, multi_class="argmax")
    last.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(params(last), np.hstack([W, b[:, None]]))
    assert last.evidence_["mistakes"] == mistakes
    mean = AveragedPerceptron(shuffle=False, max_iter=3, multi_class="argmax")
    expected = history.mean(axis=0)
    np.testing.assert_allclose(
        params(mean.fit(X, y, sample_weight=weight)),
        expected,
        rtol=0,
        atol=1e-12 * (1 + abs(expected).max()),
    )


@pytest.mark.parametrize(("cls", "rule"), LEARNERS)
@given(st.integers(2, 5).flatmap(lambda k: integer_problems(classes=k)), st.data())
def test_whole_weights_are_repetitions_in_place(cls, rule, problem, data):
    X, y = problem
    weight = np.floor(draw_weights(data, y)).astype(int)
    learner = cls(shuffle=False, max_iter=4, multi_class=rule)
    weighted = learner.fit(X, y, sample_weight=weight)
    actual, seen = params(weighted), weighted.evidence_["mistakes"]
    repeated = learner.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(actual, params(repeated), rtol=1e-12, atol=1e-12)
    assert seen == repeated.evidence_["mistakes"]


def test_in_a_shuffled_epoch_a_weight_is_not_copies_of_the_row():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    weight = rng.integers(1, 4, 30)
    copies = np.repeat(np.arange(30), weight)
    for shuffle in (False, True):
        learner = AveragedPerceptron(shuffle=shuffle, max_iter=3)
        weighted = learner.fit(X, y, sample_weight=weight).coef_.copy()
        repeated = learner.fit(X[copies], y[copies]).coef_
        assert np.allclose(weighted, repeated, rtol=1e-9) == (not shuffle)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("cls", "rule"), LEARNERS)
def test_weight_zero_is_absent(cls, rule, shuffle):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 3, 60)
    weight = (rng.random(60) < 0.6).astype(float)
    y[0], weight[0] = 7, 0.0  # a class that only an absent row has
    keep = weight > 0
    learner = cls(shuffle=shuffle, max_iter=5, multi_class=rule)
    weighted = learner.fit(X, y, sample_weight=weight)
    actual, classes = params(weighted), weighted.classes_
    dropped = learner.fit(X[keep], y[keep])
    np.testing.assert_array_equal(actual, params(dropped))
    np.testing.assert_array_equal(classes, dropped.classes_)


def test_class_weight_multiplies_sample_weight():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 2, 50)
    weight = rng.integers(1, 4, 50).astype(float)
    a = Perceptron(class_weight={0: 2.0, 1: 0.5}, max_iter=5).fit(X, y, sample_weight=weight)
    b = Perceptron(max_iter=5).fit(X, y, sample_weight=weight * np.where(y == 0, 2.0, 0.5))
    np.testing.assert_array_equal(params(a), params(b))
    balanced = Perceptron(class_weight="balanced", max_iter=5).fit(X, y)
    factors = 50 / (2 * np.bincount(y))
    same = Perceptron(max_iter=5).fit(X, y, sample_weight=factors[y])
    np.testing.assert_array_equal(params(balanced), params(same))
    present = np.arange(50) >= 20  # absent rows do not count for the balance either
    absent = Perceptron(class_weight="balanced", max_iter=5)
    absent.fit(X, y, sample_weight=present.astype(float))
    gone = Perceptron(class_weight="balanced", max_iter=5).fit(X[present], y[present])
    np.testing.assert_array_equal(params(absent), params(gone))


@pytest.mark.parametrize("rule", ["ovr", "argmax"])
def test_enormous_weight_is_closed_form(rule):
    X = np.array([[1.0, 2.0], [2.0, -1.0], [-3.0, 1.0]])
    for y in ([1, 0, 0], [0, 1, 2]):
        fitted = Perceptron(multi_class=rule).fit(X, y, sample_weight=[1e12, 1e12, 1e12])
        assert fitted.evidence_["converged"]
    # a step that hardly moves the scores, asked for a thousand million million times
    tiny = Perceptron(multi_class=rule, fit_intercept=False, shuffle=False, max_iter=3)
    with pytest.warns(UserWarning, match="separable"):
        tiny.fit([[1e8], [1e-8], [-1e8]], [0, 1, 2], sample_weight=[1, 1e15, 1])
    assert tiny.evidence_["updates"] > 1e15


@given(st.integers(0, 10**6))
def test_argmax_rounds_are_presentations_one_by_one(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    n = int(rng.integers(k, 12))
    X = rng.integers(-3, 4, size=(n, 2)).astype(float)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    weight = rng.integers(1, 100, n) + rng.integers(0, 8, n) / 8
    W, b, mistakes, _ = reference.argmax_perceptron(X, y, k, 2, weights=weight)
    if k == 2:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    ours = Perceptron(multi_class="argmax", shuffle=False, max_iter=2)
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(params(ours), np.hstack([W, b[:, None]]))
    assert ours.evidence_["mistakes"] == mistakes
