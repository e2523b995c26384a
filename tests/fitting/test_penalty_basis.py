"""Learning in the basis of curves, against dense NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from separable import BernoulliNB, LogisticRegression, Ridge, TableEncoder, TableRegressor
from separable.data.rows import as_rows
from separable.features.spline.smooth_basis import smooth_basis
from separable.fitting.penalty_basis import are_smoothed, basis_of
from separable.fitting.smoothing import SmoothingOptions

rng = np.random.default_rng(0)
X = {"x": rng.uniform(-3, 3, 400), "c": rng.choice(["a", "b"], 400)}
Y = np.sin(2 * X["x"]) + (X["c"] == "a") + 0.1 * rng.normal(size=400)


def test_published_weights_minimize_the_penalty_of_the_basis():
    encoder = TableEncoder(curves=True).fit(X)
    rows = np.asarray(encoder.transform(X))
    B = np.eye(rows.shape[1])
    (curve, _) = encoder.column_encoders
    k = len(curve.knots)
    B[:k, :k] = smooth_basis(curve.knots, curve.rows)
    basis_of(encoder, Ridge(), as_rows(rows), Y)
    widths = [each.width for each in encoder.terms]
    B *= np.repeat(encoder.term_scales_, widths)  # of each term its level, tested beside
    model = TableRegressor(Ridge(alpha=0.5), TableEncoder(curves=True)).fit(X, Y).model_
    Z = rows @ B - (rows @ B).mean(axis=0)
    g = np.linalg.solve(Z.T @ Z + 0.5 * np.eye(Z.shape[1]), Z.T @ (Y - Y.mean()))
    np.testing.assert_allclose(model.weights[0], B @ g, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), Z @ g + Y.mean(), atol=1e-8)


@pytest.mark.parametrize("n", [4, 5, 16, 32, 33, 40])
def test_the_basis_spans_all_curves(n):
    knots, rows = np.sort(rng.normal(size=n)), rng.uniform(1, 9, n)
    basis = smooth_basis(knots, rows)
    assert basis.shape == (n, n)
    curves = np.column_stack([np.ones(n), basis])
    assert np.linalg.matrix_rank(curves) == n
    np.testing.assert_allclose(rows @ basis[:, :2], 0, atol=1e-9)
    np.testing.assert_allclose(rows @ basis[:, :2] ** 2 / rows.sum(), 1)


def test_smooth_curves_cost_less_than_rough_ones():
    knots, rows = np.arange(32.0), np.ones(32)
    basis = np.column_stack([np.full(32, 100.0), smooth_basis(knots, rows)])
    smooth, rough = np.sin(knots / 5), np.sin(knots * 2)
    cost = [np.linalg.norm(np.linalg.pinv(basis) @ each) for each in (smooth, rough)]
    assert cost[0] < cost[1] / 2


def test_extreme_knots_stay_finite():
    for knots in (np.array([-1e308, 0, 1, 1e307]), 1e9 + np.arange(4.0), np.arange(4) * 1e-300):
        assert np.isfinite(smooth_basis(knots, np.ones(4))).all()


def test_learners_of_indicators_and_tables_of_lines_have_no_basis():
    encoder = TableEncoder(curves=True).fit(X)
    y = Y > 0
    rows = as_rows(encoder.transform(X))
    assert basis_of(encoder, LogisticRegression(), rows, y) is not None
    assert basis_of(encoder, BernoulliNB(), rows, y) is None
    lines = TableEncoder().fit(X)
    assert basis_of(lines, LogisticRegression(), as_rows(lines.transform(X)), y) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_curve_of_noise_gets_a_larger_penalty(seed):
    rng = np.random.default_rng(seed)
    data = {"x": rng.uniform(-3, 3, 400), "z": rng.normal(size=400)}
    y = np.sin(2 * data["x"]) + 0.1 * rng.normal(size=400)
    encoder = TableEncoder(curves=True).fit(data)
    basis_of(encoder, Ridge(), encoder.encode(data), y)
    assert encoder.term_scales_[0] > 10 * encoder.term_scales_[1]


def test_too_many_features_have_no_levels(monkeypatch):
    monkeypatch.setattr(
        "separable.fitting.penalty_basis.DEFAULT_OPTIONS", SmoothingOptions(features=10)
    )
    encoder = TableEncoder(curves=True).fit(X)
    assert not are_smoothed(encoder)
    basis_of(encoder, Ridge(), encoder.encode(X), Y)
    assert (encoder.term_scales_ == 1).all()
