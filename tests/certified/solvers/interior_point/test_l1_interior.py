"""Where sweeps over columns do not end: an interior point, and a dual point that fits weights."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from separable import ElasticNet, Lasso, LinearSVM, LogisticRegression
from separable.certified.solvers.coordinate_descent import fitted_dual
from separable.certified.solvers.interior_point.l1_interior import (
    PenalizedColumns,
    interior_points,
)
from separable.losses.loss import LOGISTIC, SQUARED_ERROR, SQUARED_HINGE
from separable.losses.row_losses import BinaryLosses, SoftmaxLosses
from tests.reference import losses

LOSSES = {"squared_error": SQUARED_ERROR, "log_loss": LOGISTIC, "squared_hinge": SQUARED_HINGE}


def derivatives(loss, y, s):
    """Return the derivatives of losses by their scores."""
    if loss == "squared_error":
        return s - y
    return -y / (1 + np.exp(y * s)) if loss == "log_loss" else -2 * y * np.maximum(0, 1 - y * s)


def violation(w, correlation, l1, l2, positive):
    """Return how far each weight is from optimal."""
    uphill = l2 * w - correlation
    at_zero = np.maximum((-uphill if positive else np.abs(uphill)) - l1, 0)
    return np.where(np.abs(w) > 1e-7, np.abs(uphill + l1 * np.sign(w)), at_zero)


@pytest.mark.parametrize("shape", [(60, 15), (15, 60)])
@pytest.mark.parametrize(
    ("loss", "ratio", "positive"),
    [
        *((loss, ratio, positive) for loss in LOSSES for ratio in (0.1, 1) for positive in (0, 1)),
        *((loss, 0, 1) for loss in LOSSES),
        ("squared_error", 0, 0),  # other losses with a smooth penalty are Newton's
    ],
)
def test_ends_where_each_weight_is_optimal(loss, ratio, positive, shape):
    rng = np.random.default_rng(4)
    X = rng.normal(size=shape)
    number = X[:, :3].sum(axis=1) + rng.normal(size=len(X))
    y = number if loss == "squared_error" else np.where(number > 0, 1.0, -1.0)
    c = rng.uniform(1, 3, len(y))
    d = X.shape[1]
    for x in (np.ascontiguousarray(X.T), sp.csr_array(X.T)):
        columns = PenalizedColumns(
            x, np.full(d, float(ratio)), np.full(d, 1.0 - ratio), bool(positive)
        )
        rows = BinaryLosses(LOSSES[loss], y, c)
        points = interior_points(columns, rows, fit_intercept=True, start=np.zeros((d, 1)))
        last = next(
            (point for k, point in enumerate(points) if (point[2] < 1e-13 and k > 1) or k == 60)
        )
        w, z, seen = last[0][:, 0], last[1][:, 0], last[2]
        assert seen < 1e-13
        b = losses.of_name(loss).best_intercept(y, X @ w, c)
        correlation = -X.T @ (c * derivatives(loss, y, X @ w + b))
        assert violation(w, correlation, ratio, 1 - ratio, positive).max() < 1e-5
        assert not positive or w.min() >= 0
        np.testing.assert_allclose(X.T @ z, correlation, atol=1e-5)


def gap_of_squared_hinge(X, y, C, w, b):
    """Return the relative gap under the l1 penalty, at the dual point of the slopes."""
    sign = np.where(y == 1, 1.0, -1.0)
    left = np.maximum(0, 1 - sign * (X @ w + b))
    primal = C * (left**2).sum() + np.abs(w).sum()
    a = 2 * C * left
    heavy = sign * (a @ sign) > 0
    a[heavy] *= a[~heavy].sum() / a[heavy].sum()
    a /= max(1.0, np.abs(X.T @ (a * sign)).max())
    return 1 - (a - a**2 / (4 * C)).sum() / primal


@pytest.mark.parametrize("C", [6.0, 30.0])
def test_squared_hinge_with_few_rows_that_hardly_err(C):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(190, 1728)) * rng.lognormal(0, 1, 1728)
    y = (X[:, :3].sum(axis=1) + rng.normal(size=190) > 0).astype(int)
    model = LinearSVM(penalty="l1", loss="squared_hinge", C=C).fit(X, y)
    assert model.certificate_.converged
    assert abs(gap_of_squared_hinge(X, y, C, model.coef_[0], model.intercept_[0])) < 1e-6
    assert np.count_nonzero(model.coef_) <= 190


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("ratio", [1e-4, 1e-2])
def test_an_elastic_net_that_is_nearly_ridge(ratio, alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 400)) + 3 * rng.normal(size=(50, 1))
    y = X[:, :20].sum(axis=1) + rng.normal(size=50)
    model = ElasticNet(alpha, l1_ratio=ratio).fit(X, y)
    assert model.certificate_.converged
    w, (l1, l2) = model.coef_, (alpha * ratio, alpha * (1 - ratio))
    rest = y - model.predict(X)
    primal = rest @ rest / 100 + l1 * np.abs(w).sum() + l2 / 2 * (w @ w)
    over = np.maximum(np.abs((X - X.mean(axis=0)).T @ rest / 50) - l1, 0)
    dual = rest @ (y - y.mean()) / 50 - rest @ rest / 100 - over @ over / (2 * l2)
    assert (primal - dual) / primal < 1e-5


@pytest.mark.parametrize(
    "learner",
    [
        Lasso(0.1, fit_intercept=False),
        ElasticNet(0.1, l1_ratio=0.5, fit_intercept=False),
        LogisticRegression(l1_ratio=1, fit_intercept=False),
        LinearSVM(penalty="l1", loss="squared_hinge", fit_intercept=False),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("shift", [1e3, 1e6])
@pytest.mark.parametrize("shape", [(200, 10), (60, 100)])
def test_columns_far_from_0_and_no_intercept(learner, shift, shape):
    rng = np.random.default_rng(len(shape))
    X = rng.normal(size=shape) + shift
    y = X[:, :3].sum(axis=1) - 3 * shift + rng.normal(size=len(X))
    target = y if hasattr(learner, "alpha") else (y > 0).astype(int)
    assert learner.fit(X, target).certificate_.converged


def test_few_passes_stay_few():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 400)) + 3 * rng.normal(size=(50, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ElasticNet(1e-3, l1_ratio=0.01, max_iter=20).fit(X, X[:, 0])
    assert model.n_iter_ <= 20
    assert not model.certificate_.converged


def test_the_interior_point_can_be_stopped():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 400)) + 3 * rng.normal(size=(50, 1))
    told = []

    def callback(number, gap):
        told.append(number)
        return len(told) > 1 and number < told[-2]  # counted anew: another engine

    with pytest.warns(ConvergenceWarning, match="relative gap"):
        ElasticNet(1e-3, l1_ratio=0.01, max_iter=200, callback=callback).fit(X, X[:, 0] ** 2)
    assert told[-1] == 1 < told[-2]


def test_a_dual_point_with_the_pulls_wanted():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3, 20)) + 1e6
    z = rng.normal(size=20)
    h = rng.uniform(0.5, 1, 20)
    h[3] = 0
    found = fitted_dual(x, h, z, np.array([1.0, -1.0, 0.5]), is_centred=True)
    np.testing.assert_allclose(x @ found, [1.0, -1.0, 0.5], atol=1e-7)
    assert abs(found.sum()) < 1e-12
    assert found[3] == z[3]


@pytest.mark.parametrize("shape", [(40, 8), (8, 40)])
@pytest.mark.parametrize("ratio", [0.3, 1.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_classes_together_end_where_each_weight_is_optimal(fit_intercept, ratio, shape):
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape)
    y = np.argmax(X[:, :3] + rng.normal(size=(len(X), 3)), axis=1).astype(np.int32)
    y[:3] = 0, 1, 2
    c = rng.uniform(1, 3, len(y))
    points = interior_points(
        PenalizedColumns(
            X.T.copy(), np.full(shape[1], ratio), np.full(shape[1], 1.0 - ratio), False
        ),
        SoftmaxLosses(y, c, 3),
        fit_intercept=fit_intercept,
        start=np.zeros((shape[1], 3)),
    )
    u, z, _ = min(itertools.islice(points, 60), key=lambda point: point[2])
    p = np.eye(3)[y] - z / c[:, None]
    assert violation(u, X.T @ z, ratio, 1 - ratio, False).max() < 1e-5
    assert not fit_intercept or np.abs(z.sum(axis=0)).max() < 1e-5
    log_odds = np.log(p) - X @ u  # the same of all rows, but for a number of its own
    away = log_odds - log_odds.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(away, np.broadcast_to(away[0], away.shape), atol=1e-8)


def softmax_bounds(X, y, C, ratio, model):
    """Return the primal, and the dual of the slopes, of an elastic net without intercepts."""
    scores, w = X @ model.coef_.T, model.coef_
    top = scores.max(axis=1, keepdims=True)
    p = np.exp(scores - top)
    p /= p.sum(axis=1, keepdims=True)
    own = np.eye(len(w))[y]
    primal = -C * np.log((p * own).sum(axis=1)).sum()
    primal += ratio * np.abs(w).sum() + (1 - ratio) / 2 * (w**2).sum()
    over = np.maximum(np.abs(C * (own - p).T @ X) - ratio, 0)
    entropy = -np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0).sum()
    return primal, C * entropy - (over**2).sum() / (2 * (1 - ratio))


@pytest.mark.parametrize("shape", [(30, 60), (60, 10)])
def test_classes_together_with_columns_far_from_0_and_no_intercept(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) + 1e3 * rng.normal(size=shape[1])
    y = np.argmax((X - X.mean(axis=0))[:, :3] + rng.normal(size=(len(X), 3)), axis=1)
    model = LogisticRegression(C=30.0, l1_ratio=0.5, fit_intercept=False).fit(X, y)
    assert model.certificate_.converged
    primal, dual = softmax_bounds(X, y, 30.0, 0.5, model)
    np.testing.assert_allclose(model.certificate_.primal, primal, rtol=1e-9)
    assert primal - dual < 1e-4 * primal


def test_weights_that_are_0_at_the_optimum_are_0():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 150)) * 0.05 + rng.normal(size=(80, 1))
    y = X[:, :40].sum(axis=1) + rng.normal(size=80) + 100
    model = ElasticNet(0.004, fit_intercept=False).fit(X, y)
    assert model.certificate_.converged
    correlation = X.T @ (y - X @ model.coef_) / 80
    idle = np.abs(correlation) < 0.99 * 0.002
    assert idle.any()
    assert (model.coef_[idle] == 0).all()
