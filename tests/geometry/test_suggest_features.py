"""Features that separate: small sets that cannot be made smaller, and the error beside them."""

import json
import re
from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles
from sklearn.linear_model import RidgeClassifier

from separable import LinearSVM
from separable.geometry import separability, suggest_features
from separable.geometry.held_out_errors import PairedErrors, RidgeClasses


def xor(n=80, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    X += 0.05 * np.sign(X)
    return X, X[:, 0] * X[:, 1] > 0


def test_exclusive_or_needs_the_product():
    X, y = xor()
    suggestion = suggest_features(X, y)
    assert suggestion.features == ("x0*x1",)
    assert suggestion.separable
    assert suggestion.verdict.verify(
        suggestion.transform(X) / abs(suggestion.transform(X)).max(axis=0), y
    )
    assert suggestion.error < 0.1 < suggestion.error_before
    assert "overfitting" not in suggestion.reason
    assert set(suggestion.in_folds) == {("x0*x1",)}


def test_the_four_rows_of_exclusive_or():
    suggestion = suggest_features([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert suggestion.features == ("x0*x1",)
    assert suggestion.separable


@pytest.mark.slow
def test_circles_need_both_squares():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    suggestion = suggest_features(pd.DataFrame(X, columns=["east", "north"]), y)
    assert suggestion.features == ("east^2", "north^2")
    assert suggestion.error < 0.02
    assert suggestion.error_before > 0.3
    assert suggestion.n_candidates == 3


@pytest.mark.slow
def test_no_member_can_be_dropped():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] * X[:, 1] + X[:, 2] ** 2 - 0.5 * X[:, 3] * X[:, 0] > 0.5).astype(int)
    suggestion = suggest_features(X, y)
    assert suggestion.separable
    whole = suggestion.transform(X)
    assert separability(whole, y).separable
    for j in range(len(suggestion.features)):
        rest = np.delete(whole, 4 + j, axis=1)
        assert separability(rest, y).separable is False


def test_random_labels_are_separable_and_not_learned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 12)), rng.integers(0, 2, 60)
    suggestion = suggest_features(X, y, cv=2)
    assert suggestion.separable
    assert suggestion.features
    assert suggestion.error > 0.3  # the features are chosen without the rows held out
    assert "This is overfitting." in suggestion.reason


def test_noise_is_said_to_be_noise():
    rng = np.random.default_rng(0)
    suggestion = suggest_features(rng.normal(size=(200, 3)), rng.integers(0, 2, 200))
    assert suggestion.outcome == "does not help"
    assert "separates these rows" not in suggestion.reason
    assert ("with those named" in suggestion.reason) == bool(suggestion.features)


@pytest.mark.parametrize("n", [7, 8, 9])
def test_few_rows_are_too_few_to_tell_and_not_overfitting(n):
    x = np.linspace(-3.1, 2.9, n).reshape(-1, 1)
    suggestion = suggest_features(x, abs(x[:, 0]) > 1.7, cv=n)
    assert suggestion.separable
    assert suggestion.features == ("x0^2",)
    assert suggestion.outcome == "too few rows"
    assert "overfitting" not in suggestion.reason
    assert f"{n} rows are too few to tell" in suggestion.reason
    needed = int(re.search(r"About (\d+) rows might", suggestion.reason)[1])
    x = np.linspace(-3.1, 2.9, 3 * needed).reshape(-1, 1)
    assert suggest_features(x, abs(x[:, 0]) > 1.7).outcome == "helps"


def by_counting(before, after, guess):
    """Return the outcome against the error before, and against guessing, by sums over outcomes."""

    def tail(k, n, p):  # at least k of n
        return sum(Fraction(comb(n, i)) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

    n, better, worse = len(before), int((before & ~after).sum()), int((~before & after).sum())
    m, half, small = better + worse, Fraction(1, 2), Fraction(1, 40)
    one = "too few rows"
    if m and tail(better, m, half) <= small:
        one = "helps"
    elif (m and tail(worse, m, half) <= small) or (
        (better - worse + 2 * sqrt(m + 1)) / n < before.mean() / 2
    ):
        one = "does not help"
    wrong, guess_rate = int(after.sum()), Fraction(guess)
    two = "too few rows"
    if tail(n - wrong, n, 1 - guess_rate) <= small:
        two = "helps"
    elif tail(wrong, n, guess_rate / 2) <= small:
        two = "does not help"
    return one, two


@pytest.mark.parametrize("seed", range(60))
def test_outcomes_are_those_of_exact_tests(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 90))
    before, after = rng.random((2, n)) < rng.random((2, 1))
    guess = float(rng.choice([0.25, 0.5, 0.375]))
    both = by_counting(before, after, guess)
    order = ["helps", "too few rows", "does not help"]  # the worst counts
    errors = PairedErrors(before, after)
    assert errors.compare(guess, True) == max(both, key=order.index)
    assert errors.compare(guess, False) == both[1]


def test_outcomes_of_labels_without_a_rule_are_seldom_help():
    rng = np.random.default_rng(5)
    suggestion = [
        PairedErrors(rng.random(40) < 0.5, rng.random(40) < 0.5).compare(0.5, True)
        for _ in range(400)
    ]
    assert suggestion.count("helps") <= 10  # 2.5 % of 400
    assert suggestion.count("does not help") > 200


def test_many_columns_and_random_labels_need_nothing_and_say_nothing():
    rng = np.random.default_rng(1)
    suggestion = suggest_features(rng.normal(size=(40, 50)), np.arange(40) % 2, cv=4)
    assert suggestion.features == ()
    assert "separable as they are" in suggestion.reason
    assert suggestion.error == suggestion.error_before
    assert suggestion.error > 0.3


def test_already_separable():
    X, _ = xor()
    suggestion = suggest_features(X, X[:, 0] > 0)
    assert suggestion.features == ()
    assert suggestion.separable
    assert suggestion.reason == "The rows are separable as they are: nothing has to be added."


def test_what_cannot_be_reached():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = (np.sin(3 * X[:, 0]) + rng.normal(size=150) * 0.3 > 0).astype(int)
    suggestion = suggest_features(X, y)
    assert suggestion.separable is False
    assert "do not separate these rows" in suggestion.reason
    contradiction = suggest_features([[1.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert contradiction.separable is False


@pytest.mark.slow
def test_three_classes_and_sparse_rows():
    X, _ = make_circles(80, noise=0.02, factor=0.4, random_state=0)
    y = np.digitize((X**2).sum(axis=1), [0.3, 0.99])
    suggestion = suggest_features(sp.csr_array(X), np.array(["in", "mid", "out"])[y], cv=2)
    assert suggestion.separable
    assert set(suggestion.features) <= {"x0^2", "x0*x1", "x1^2"}
    assert sp.issparse(suggestion.transform(sp.csr_array(X)))


def test_a_higher_degree():
    X = np.linspace(-1, 1, 41).reshape(-1, 1)
    y = (X[:, 0] * (X[:, 0] - 0.51) * (X[:, 0] + 0.49) > 0).astype(int)
    assert suggest_features(X, y).separable is False
    suggestion = suggest_features(X, y, degree=3)
    assert suggestion.separable
    assert suggestion.features == ("x0^2", "x0^3") or suggestion.features == ("x0^3",)


def test_another_learner_and_folds():
    X, y = xor()
    suggestion = suggest_features(
        X, y, estimator=LinearSVM(), cv=[(np.arange(40), np.arange(40, 80))]
    )
    assert len(suggestion.in_folds) == 1
    assert suggestion.error < suggestion.error_before


def test_a_class_of_one_row_has_no_error():
    suggestion = suggest_features([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert suggestion.error is None
    assert "one row only" in suggestion.reason
    assert "unknown" in suggestion.to_text()


def test_shown():
    X, y = xor()
    suggestion = suggest_features(X, y, feature_names=["a", "b"])
    text = suggestion.to_text()
    assert text == repr(suggestion)
    assert "a*b" in text
    plain = json.loads(json.dumps(suggestion.to_dict()))
    assert plain["features"] == ["a*b"]


def test_what_is_refused():
    X, y = xor(10)
    with pytest.raises(ValueError, match="'degree' parameter of suggest_features must be an int"):
        suggest_features(X, y, degree=1)
    with pytest.raises(ValueError, match="'cv' parameter of suggest_features must be"):
        suggest_features(X, y, cv=1)
    with pytest.raises(ValueError, match="y holds only one: True"):
        suggest_features(X, np.full(10, True))
    with pytest.raises(ValueError, match="NaN"):
        suggest_features([[np.nan]], [1])
    with pytest.raises(ValueError, match="Choose fewer columns"):
        suggest_features(np.zeros((100_000, 100)), np.arange(100_000) % 2)


@pytest.mark.parametrize("shape", [(60, 4), (20, 40)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_light_classifier_is_a_ridge(shape, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * rng.uniform(0.1, 10, shape[1]) + 1
    y = np.arange(shape[0]) % 3
    scaled = X / np.sqrt((X**2).mean(axis=0))
    peer = RidgeClassifier(alpha=1.0).fit(scaled, y)
    ours = RidgeClasses().fit(form(X), y)
    np.testing.assert_array_equal(ours.predict(form(X)), peer.predict(scaled))
