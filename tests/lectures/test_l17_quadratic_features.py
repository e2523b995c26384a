"""L17: quadratic features bend the boundary: a x1^2 + b x1 + c x2^2 + d x2 + e x1 x2 + f = 0."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from separable import LogisticRegression, Perceptron, PolynomialEncoder

pytestmark = pytest.mark.native

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)


def test_the_features_of_the_slide():
    encoder = PolynomialEncoder().fit([[3.0, 5.0]])
    assert encoder.feature_names == ("x0", "x1", "x0^2", "x0*x1", "x1^2")
    assert encoder.transform([[3.0, 5.0]]).tolist() == [[3, 5, 9, 15, 25]]


def test_xor_is_separable_with_the_product_and_not_without():
    y = [0, 1, 1, 0]
    product = PolynomialEncoder(interaction_only=True)
    assert make_pipeline(product, Perceptron(max_iter=200)).fit(XOR, y).score(XOR, y) == 1
    with pytest.warns(ConvergenceWarning, match="may not be linearly separable"):
        assert Perceptron(max_iter=200).fit(XOR, y).score(XOR, y) < 1


def test_the_boundary_in_the_original_plane_is_the_conic_of_the_weights():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 2))
    inside = (X[:, 0] - 0.5) ** 2 / 4 + (X[:, 1] + 0.5) ** 2 < 1  # an ellipse
    encoder = PolynomialEncoder()
    model = make_pipeline(encoder, LogisticRegression(C=1e4)).fit(X, inside)
    weight = dict(zip(encoder.feature_names, model[-1].coef_[0], strict=True))
    b, d, a, e, c = (weight[name] for name in ("x0", "x1", "x0^2", "x0*x1", "x1^2"))
    f = model[-1].intercept_[0]
    x1, x2 = X.T
    conic = a * x1**2 + b * x1 + c * x2**2 + d * x2 + e * x1 * x2 + f
    np.testing.assert_allclose(model.decision_function(X), conic, rtol=1e-9, atol=1e-9)
    assert e**2 - 4 * a * c < 0  # the conic is an ellipse
    assert model.score(X, inside) > 0.99
    centre = np.linalg.solve([[2 * a, e], [e, 2 * c]], [-b, -d])
    np.testing.assert_allclose(centre, [0.5, -0.5], atol=0.1)
