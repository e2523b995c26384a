"""Certificates of elastic nets from residuals: against sums of fractions."""

from fractions import Fraction

import numpy as np
import pytest

from separable import ElasticNet


def exact(numbers):
    """Return numbers as fractions, in nested lists."""
    if np.ndim(numbers) == 0:
        return Fraction(float(numbers))
    return [exact(each) for each in numbers]


def dot(a, b):
    """Return the sum of products."""
    return sum(u * v for u, v in zip(a, b, strict=True))


def objectives(model, X, y, weight):
    """Return the objective at the weights, and the dual at the dual point, as fractions."""
    X, y, c = exact(X), exact(y), exact(weight)
    total, w, b = sum(c), exact(model.coef_), exact(model.intercept_)
    c = [each / total for each in c]
    l1 = Fraction(model.alpha) * Fraction(model.l1_ratio)
    l2 = Fraction(model.alpha) * (1 - Fraction(model.l1_ratio))
    rest = [
        t - b - sum(u * v for u, v in zip(w, x, strict=True)) for x, t in zip(X, y, strict=True)
    ]
    primal = sum(k * r * r for k, r in zip(c, rest, strict=True)) / 2
    primal += l1 * sum(map(abs, w)) + l2 * sum(u * u for u in w) / 2
    z = exact(model.dual_coef_[0])
    dual = sum(t * v - v * v / (2 * k) for t, v, k in zip(y, z, c, strict=True))
    columns = zip(*X, strict=True)
    for v in (dot(z, column) for column in columns):
        over = max(0, (v if model.positive else abs(v)) - l1)
        dual -= over * over / (2 * l2)
    return primal, dual, sum(z)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("n", [7, 50])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_gap_holds_for_the_published_numbers(n, positive, is_weighted):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4)) * [1.0, 30.0, 0.01, 1.0] + [0.0, 100.0, 0.0, 5.0]
    y = X @ [1.0, -0.1, 20.0, 0.0] + rng.normal(size=n) + 40.0
    weight = rng.integers(1, 5, n) / 4 if is_weighted else np.ones(n)
    model = ElasticNet(0.1, l1_ratio=0.5, positive=positive)
    model.fit(X, y, weight if is_weighted else None)
    assert model.evidence_["engine"] == "sums"
    found = model.certificate_
    primal, dual, total = objectives(model, X, y, weight)
    assert found.converged
    assert float(primal) == pytest.approx(found.primal, rel=1e-13)
    # z is rounded to float64, so that its sum is 0 but for rounding, worth b times that sum
    slack = abs(total * Fraction(float(np.abs(y).max()))) + Fraction(1, 2**40) * primal
    assert primal - dual <= Fraction(found.gap) + slack


def test_many_rows_and_columns_beyond_one_tile():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(75, 6)) + 3.0
    y = X[:, 0] - 2 * X[:, 1] + rng.normal(size=75)
    model = ElasticNet(0.05, l1_ratio=0.25).fit(X, y)
    primal, dual, _ = objectives(model, X, y, np.ones(75))
    assert -1e-9 * primal <= primal - dual <= 1e-6 * primal
