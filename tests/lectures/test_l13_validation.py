"""L13: hold-out, k-fold and leave-one-out; a degree as something to choose."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from separable import LeastSquares, LogisticRegression, Ridge
from separable.select import cross_validate, hold_out, leave_one_out, search

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
    result = cross_validate(LeastSquares(), [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0], 3, MSE)
    np.testing.assert_allclose(result.predictions, [-3, 1.5, 0], atol=1e-12)
    np.testing.assert_allclose(result.scores[MSE], [-9, -2.25, -9], rtol=1e-12)
    assert result.mean[MSE] == pytest.approx(-6.75)


def test_every_row_validates_and_trains_k_minus_1_times():
    x, t = curve(50)
    result = cross_validate(LeastSquares(), x, t, KFold(5, shuffle=True, random_state=0))
    np.testing.assert_array_equal(result.rows, np.arange(50))
    assert result.n_train.tolist() == [40] * 5


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
    own, held_out, on_new_rows = [], [], []
    for degree in degrees:
        model = LeastSquares().fit(powers(x, degree), t)
        own.append(np.mean((model.predict(powers(x, degree)) - t) ** 2))
        on_new_rows.append(np.mean((model.predict(powers(new_x, degree)) - new_t) ** 2))
        result = cross_validate(LeastSquares(), powers(x, degree), t, folds, MSE)
        held_out.append(-result.mean[MSE])
    assert all(np.diff(own) <= 1e-12)  # the own rows always ask for more
    best = int(np.argmin(held_out))
    assert 3 <= degrees[best] <= 8
    assert on_new_rows[best] < 1.15 * min(on_new_rows)
    assert held_out[-1] > 1.5 * held_out[best]


def by_degree(learner, degrees, X, y, cv, scoring, **more):
    """Search the degree of powers before a learner; return the search and the errors held out."""
    pipe = make_pipeline(PolynomialFeatures(include_bias=False), learner)
    result = search(pipe, {"polynomialfeatures__degree": degrees, **more}, X, y, cv, scoring)
    return result, -result.cv_results_["mean_test_score"]


def test_the_degree_of_a_regression_is_searched():
    x, t = curve(60)
    new_x, new_t = curve(5000, seed=1)
    folds = KFold(10, shuffle=True, random_state=0)
    result, held_out = by_degree(Ridge(1e-9), range(1, 13), x, t, folds, MSE)
    best = result.best_params_["polynomialfeatures__degree"]
    assert 3 <= best <= 8
    assert held_out[0] > 4 * min(held_out)  # a line is too little
    assert held_out[-1] > 1.5 * min(held_out)  # and 12 too much
    # what was chosen is trained again on all rows; the least of twelve errors flatters a little
    np.testing.assert_array_equal(
        result.predict(new_x), Ridge(1e-9).fit(powers(x, best), t).predict(powers(new_x, best))
    )
    assert np.mean((result.predict(new_x) - new_t) ** 2) < 1.3 * min(held_out)
    # the same errors as fold by fold
    for degree in (1, best, 12):
        same = cross_validate(Ridge(1e-9), powers(x, degree), t, folds, MSE)
        assert held_out[degree - 1] == pytest.approx(-same.mean[MSE], rel=1e-6)


def test_a_penalty_holds_a_large_degree():
    x, t = curve(60)
    folds = KFold(10, shuffle=True, random_state=0)
    result, held_out = by_degree(Ridge(), [12], x, t, folds, MSE, ridge__alpha=[1e-9, 0.1, 10.0])
    assert result.best_params_["ridge__alpha"] == 0.1
    assert held_out[0] > 1.5 * held_out[1] < held_out[2]


def ring(n, seed=0):
    """Two classes, one around the other, with noise where they meet."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    chance = 1 / (1 + np.exp(-4 * ((X**2).sum(axis=1) - 1.5)))
    return X, (rng.random(n) < chance).astype(int)


def test_the_degree_of_a_classifier_is_searched():
    X, y = ring(150)
    new_X, new_y = ring(5000, seed=1)
    learner = LogisticRegression(100.0, standardize=True)
    result, held_out = by_degree(learner, [1, 2, 3, 4, 6, 8], X, y, 5, "neg_log_loss")
    assert result.best_params_ == {"polynomialfeatures__degree": 2}  # a circle
    assert held_out[0] > 2 * held_out[1]  # no line goes around
    assert held_out[-1] > 1.1 * held_out[1]
    assert set(result.how_) == {"lanes"}
    assert result.best_estimator_[-1].certificate_.converged
    assert np.mean(result.predict(new_X) != new_y) < 0.1
