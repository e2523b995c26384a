"""L13: hold-out, k-fold and leave-one-out; a degree as something to choose."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures

from separable import LeastSquares
from separable.select import cross_validate, hold_out, leave_one_out

pytestmark = pytest.mark.native

MSE = "neg_mean_squared_error"


def curve(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, np.sin(3 * x[:, 0]) + 0.2 * rng.normal(size=n)


def powers(x, degree):
    return PolynomialFeatures(degree, include_bias=False).fit_transform(x)


def test_held_out_rows_are_30_percent_and_disjoint():
    X = np.arange(100.0)[:, None]
    X_train, X_test, _, _ = hold_out(X, X[:, 0])
    assert len(X_test) == 30
    assert sorted([*X_train[:, 0], *X_test[:, 0]]) == list(range(100))


def test_k_fold_by_hand():
    # y = 0, 0, 3 at x = 0, 1, 2, in three folds. Through the other two points:
    # without (0, 0): y = 3x - 3, at 0: -3, error 9
    # without (1, 0): y = 1.5x,   at 1: 1.5, error 2.25
    # without (2, 3): y = 0,      at 2: 0, error 9
    found = cross_validate(LeastSquares(), [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0], 3, MSE)
    np.testing.assert_allclose(found.predictions, [-3, 1.5, 0], atol=1e-12)
    np.testing.assert_allclose(found.scores[MSE], [-9, -2.25, -9], rtol=1e-12)
    assert found.mean[MSE] == pytest.approx(-6.75)


def test_every_row_validates_and_trains_k_minus_1_times():
    x, t = curve(50)
    found = cross_validate(LeastSquares(), x, t, KFold(5, shuffle=True, random_state=0))
    np.testing.assert_array_equal(found.rows, np.arange(50))
    assert found.n_train.tolist() == [40] * 5


def test_leave_one_out_is_k_fold_with_k_rows():
    x, t = curve(20)
    one = leave_one_out(LeastSquares(), powers(x, 3), t, MSE)
    many = cross_validate(LeastSquares(), powers(x, 3), t, 20, MSE)
    np.testing.assert_allclose(one.predictions, many.predictions, rtol=1e-9)
    assert one.scores[MSE] == pytest.approx(many.mean[MSE], rel=1e-9)
    assert one.standard_error[MSE] == pytest.approx(many.standard_error[MSE], rel=1e-9)


def test_the_degree_is_chosen_by_the_average_over_folds():
    x, t = curve(60)
    new_x, new_t = curve(5000, seed=1)
    folds = KFold(10, shuffle=True, random_state=0)
    degrees = range(1, 13)
    own, held_out, truth = [], [], []
    for degree in degrees:
        model = LeastSquares().fit(powers(x, degree), t)
        own.append(np.mean((model.predict(powers(x, degree)) - t) ** 2))
        truth.append(np.mean((model.predict(powers(new_x, degree)) - new_t) ** 2))
        found = cross_validate(LeastSquares(), powers(x, degree), t, folds, MSE)
        held_out.append(-found.mean[MSE])
    assert all(np.diff(own) <= 1e-12)  # the own rows always ask for more
    best = int(np.argmin(held_out))
    assert 3 <= degrees[best] <= 8
    assert truth[best] < 1.15 * min(truth)
    assert held_out[-1] > 1.5 * held_out[best]
