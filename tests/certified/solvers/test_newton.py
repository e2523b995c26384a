"""Newton's method: raw columns, and the optimum to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

from tests.certified.engine_problems import check, data, lane, problem, run
from tests.reference.objective import primal

SMOOTH = pytest.mark.parametrize("name", ["log_loss", "squared_hinge"])


@SMOOTH
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])
def test_raw_breast_cancer(name, C):
    X, t = load_breast_cancer(return_X_y=True)
    y = 2.0 * t - 1.0
    made = problem(name, X, y, centred=True)
    solution, steps = run(made, lane(C), tol=1e-6, max_iter=100, to_rounding=True)
    check(name, X, y, made, lane(C), solution, tol=1e-12)
    assert steps <= 30


@SMOOTH
@pytest.mark.parametrize("seed", range(5))
def test_against_scipy(name, seed):
    X, y = data(seed)
    C = 10.0 ** (seed - 2)
    c = np.full(len(y), C)
    best = minimize(
        lambda v: primal(name, X, y, c, v[:4], v[4]), np.zeros(5), method="BFGS",
        options={"gtol": 1e-8 * C},
    )  # fmt: skip
    solution, _ = run(problem(name, X, y), lane(C), tol=1e-9, max_iter=100, to_rounding=True)
    assert solution.certificates[0].primal <= best.fun * (1 + 1e-12)
    np.testing.assert_allclose(solution.weights[:, 0], best.x[:4], rtol=1e-3, atol=1e-4)


def test_separable_rows_and_a_large_strength():
    X, y = data(1, noise=0.0)
    for C in (1e4, 1e8, 1e12):
        made = problem("log_loss", X, y)
        solution, steps = run(made, lane(C), tol=1e-6, max_iter=200, to_rounding=True)
        assert solution.certificates[0].relative_gap < 1e-8
        assert steps < 100
