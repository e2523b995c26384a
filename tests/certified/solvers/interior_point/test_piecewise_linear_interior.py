"""The interior point method: corners met exactly, whatever the strength."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from tests.certified.engine_problems import check, data, lane, problem, run


@pytest.mark.parametrize("C", [1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])
def test_raw_breast_cancer(C):
    X, t = load_breast_cancer(return_X_y=True)
    y = 2.0 * t - 1.0
    made = problem("hinge", X, y, centred=True)
    solution, steps = run(made, lane(C), tol=1e-6, max_iter=100, to_rounding=True)
    check("hinge", X, y, made, lane(C), solution, tol=1e-11)
    assert steps <= 50


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_raw_diabetes(C):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    made = problem("epsilon_insensitive", X, y, centred=True)
    solution, _ = run(made, lane(C), tol=1e-6, max_iter=100, to_rounding=True)
    check("epsilon_insensitive", X, y, made, lane(C), solution, tol=1e-10)


def test_support_vectors_are_on_the_margin():
    X, y = data(3, n=60)
    solution, _ = run(problem("hinge", X, y), lane(0.7), tol=1e-6, max_iter=100, to_rounding=True)
    a, m = y * solution.dual[:, 0], y * solution.scores[:, 0]
    free = (a > 1e-9) & (a < 0.7 - 1e-9)
    np.testing.assert_allclose(m[free], 1.0, atol=1e-12)
    assert (m[a <= 1e-9] >= 1 - 1e-12).all()
    assert (m[a >= 0.7 - 1e-9] <= 1 + 1e-12).all()


def test_targets_that_no_weights_can_miss():
    X, _ = data(4)
    y = np.full(len(X), 3.25)
    solution, _ = run(
        problem("epsilon_insensitive", X, y), lane(1.0), tol=1e-6, max_iter=100, to_rounding=True
    )
    np.testing.assert_allclose(solution.weights, 0.0, atol=1e-9)
    np.testing.assert_allclose(solution.scores, 3.25, atol=0.1 + 1e-9)


def test_two_rows_and_one_column():
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    solution, _ = run(problem("hinge", X, y), lane(1e3), tol=1e-6, max_iter=100, to_rounding=True)
    np.testing.assert_allclose(solution.weights, [[2.0]], rtol=1e-9)
    np.testing.assert_allclose(solution.intercept, [-1.0], rtol=1e-9)
