"""Standard errors of curves, against dense algebra and against simulated rows."""

from __future__ import annotations

import numpy as np
import pytest

from separable import (
    Lasso,
    LogisticRegression,
    Ridge,
    TableClassifier,
    TableEncoder,
    TableRegressor,
)
from separable.data.rows import as_rows
from separable.fitting.penalty_basis import basis_of
from separable.model.explain.effects import ERRORS, curve_effects

rng = np.random.default_rng(0)
X = {"x": rng.uniform(-3, 3, 300), "c": rng.choice(["a", "b"], 300)}
Y = np.sin(X["x"]) + rng.normal(size=300)


def parts(learner, y, classes):
    """Return the columns in the basis, centred with weights, and the map to values at knots."""
    encoder = TableEncoder(curves=True).fit(X)
    rows = np.asarray(encoder.transform(X))
    B = basis_of(encoder, learner, as_rows(rows), y).matrix.toarray()
    column = encoder.column_encoders[0]
    T = B[: len(column.knots)]
    return rows @ B, T - np.average(T, axis=0, weights=column.rows)


def test_ridge_regression_has_the_posterior_of_its_prior():
    model = TableRegressor(Ridge(alpha=0.5), TableEncoder(curves=True)).fit(X, Y).model_
    Z, T = parts(Ridge(), Y, classes=False)
    Z = Z - Z.mean(axis=0)
    A = np.linalg.inv(Z.T @ Z + 0.5 * np.eye(Z.shape[1]))
    left = Y - model.predict(X)
    variance = left @ left / (300 - np.trace(A @ Z.T @ Z) - 1)
    expected = np.sqrt(variance * np.diag(T @ A @ T.T))
    np.testing.assert_allclose(curve_effects(model)["x"].errors, expected, rtol=1e-3)


def test_logistic_regression_has_that_of_its_curvature():
    y = (Y > 0.3).astype(int)
    model = TableClassifier(LogisticRegression(C=2.0), TableEncoder(curves=True)).fit(X, y).model_
    Z, T = parts(LogisticRegression(), y, classes=True)
    p = model.predict_proba(X)[:, 1]
    w = p * (1 - p)
    Z = Z - np.average(Z, axis=0, weights=w)
    A = np.linalg.inv(Z.T @ (w[:, None] * Z) + 0.5 * np.eye(Z.shape[1]))
    expected = np.sqrt(np.diag(T @ A @ T.T))
    np.testing.assert_allclose(curve_effects(model)["x"].errors, expected, rtol=1e-2)


def test_two_standard_errors_cover_the_truth():
    inside = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        x = random.uniform(0, 6, 200)
        y = np.sin(x) + random.normal(size=200)
        model = TableRegressor(Ridge(), TableEncoder(curves=True)).fit({"x": x}, y).model_
        effect = curve_effects(model)["x"]
        truth = np.sin(effect.knots)
        truth = truth - np.average(truth, weights=effect.rows)
        inside += (np.abs(effect.values[0] - truth) <= 2 * effect.errors).tolist()
    assert 0.9 < np.mean(inside) <= 1.0
    assert effect.errors.max() < 1.0


@pytest.mark.parametrize(
    ("learner", "encoder"),
    [
        (Lasso(alpha=0.01), TableEncoder(curves=True)),
        (None, TableEncoder(curves=True, increasing=["x"])),
        (Ridge(), TableEncoder()),
    ],
)
def test_other_problems_have_none(learner, encoder):
    model = TableRegressor(learner, encoder).fit(X, Y).model_
    assert ERRORS not in model.evidence
    assert all(effect.errors is None for effect in curve_effects(model).values())
