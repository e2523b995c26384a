"""AveragedPerceptron against the brute-force mean of all intermediate weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable import AveragedPerceptron
from separable.learn import plain as reference
from tests.online.problems import DTYPES, FORMATS, integer_problems

pytestmark = [pytest.mark.native, pytest.mark.kernel]


def assert_close(actual, expected):
    scale = np.abs(expected).max() + 1
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@given(integer_problems())
def test_binary_mean(form, dtype, problem):
    X, y = problem
    *_, history = reference.perceptron(X, 2 * y - 1, 6)
    ours = AveragedPerceptron(shuffle=False, max_iter=6).fit(FORMATS[form](X.astype(dtype)), y)
    mean = history.mean(axis=0)
    assert_close(ours.coef_, [mean[:-1]])
    assert_close(ours.intercept_, [mean[-1]])


@given(st.integers(0, 10**6))
def test_mean_of_real_numbers(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 7)) * 10.0 ** rng.integers(-3, 4, 7), rng.integers(0, 2, 40)
    y[:2] = 0, 1
    *_, history = reference.perceptron(X, 2 * y - 1, 4)
    ours = AveragedPerceptron(shuffle=False, max_iter=4).fit(X, y)
    assert_close(np.append(ours.coef_[0], ours.intercept_), history.mean(axis=0))


def test_float32_mean_is_that_of_the_rounded_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 9)).astype(np.float32)
    y = rng.integers(0, 2, 300)
    w = np.zeros(10, dtype=np.float32)
    Z = np.hstack([X, np.ones((300, 1), dtype=np.float32)])
    history = []
    for _ in range(3):
        for x, target in zip(Z, 2 * y - 1, strict=True):
            if target * float(w.astype(np.float64) @ x.astype(np.float64)) <= 0:
                w = w + np.float32(target) * x
            history.append(w.astype(np.float64))
    ours = AveragedPerceptron(shuffle=False, max_iter=3).fit(X, y)
    assert_close(np.append(ours.coef_[0], ours.intercept_), np.mean(history, axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.integers(3, 18).flatmap(lambda k: integer_problems(classes=k)))
def test_many_classes(dtype, problem):
    X, y = problem
    k = y.max() + 1
    ovr = AveragedPerceptron(shuffle=False, max_iter=3).fit(X.astype(dtype), y)
    # The classes are presented the same number of times: the longest run of epochs counts.
    epochs = ovr.n_iter_
    for c in range(k):
        w, b, _, history = reference.perceptron(X, np.where(y == c, 1, -1), 3)
        still = np.repeat(np.append(w, b)[None], epochs * len(X) - len(history), axis=0)
        mean = np.concatenate([history, still]).mean(axis=0)
        assert_close(np.append(ovr.coef_[c], ovr.intercept_[c]), mean)
    argmax = AveragedPerceptron(shuffle=False, max_iter=3, multi_class="argmax")
    argmax.fit(X.astype(dtype), y)
    *_, history = reference.argmax_perceptron(X, y, k, 3)
    assert_close(np.hstack([argmax.coef_, argmax.intercept_[:, None]]), history.mean(axis=0))


def test_averaging_beats_the_last_weights_on_noise():
    from separable import Perceptron

    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 20))
    y = (X @ rng.normal(size=20) + 2 * rng.normal(size=2000) > 0).astype(int)
    train, test = slice(0, 1000), slice(1000, 2000)
    mean = AveragedPerceptron().fit(X[train], y[train]).score(X[test], y[test])
    with pytest.warns(UserWarning, match="separable"):
        last = Perceptron(max_iter=10).fit(X[train], y[train]).score(X[test], y[test])
    assert mean > last + 0.02
