"""Newton by conjugate gradients: many columns, dense and sparse."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from separable.certified.solvers.options import NewtonOptions
from tests.certified.engine_problems import check, data, lane, problem
from tests.certified.engine_problems import run as run_newton
from tests.long_cases import first

SMOOTH = pytest.mark.parametrize("name", ["log_loss", "squared_hinge"])


@pytest.fixture(params=[True, False])
def run(request):
    """Precondition with the diagonal, or with the Hessian at the mean curvature."""
    return partial(run_newton, newton=NewtonOptions(max_gram_columns=0) if request.param else None)


@SMOOTH
@pytest.mark.parametrize("C", first(2, [1e-4, 1e2, 1e-2, 1.0]))
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (40, 90)])
def test_certified(name, C, sparse, intercept, shape, run):
    X, y = data(0, n=shape[0], d=shape[1])
    made = problem(name, X, y, sparse=sparse, intercept=intercept)
    solution, products = run(made, lane(C), truncated=True, tol=1e-6, max_iter=2000)
    check(name, X, y, made, lane(C), solution, tol=1e-6)
    exact, _ = run(made, lane(C), tol=1e-10, max_iter=100)
    assert solution.certificates[0].primal >= exact.certificates[0].dual * (1 - 1e-12)
    assert 1 <= products <= 2000


@SMOOTH
def test_centred_and_scaled_columns(name, run):
    X, y = data(1, n=80, d=10, scale=np.logspace(-2, 2, 10), shift=50.0)
    made = problem(name, X, y, centred=True)
    solution, _ = run(made, lane(0.1), truncated=True, tol=1e-5, max_iter=5000)
    check(name, X, y, made, lane(0.1), solution, tol=1e-5)


@SMOOTH
def test_start_and_stop(name, run):
    X, y = data(2, n=50, d=80)
    made = problem(name, X, y, sparse=True)
    best, products = run(made, lane(1.0), truncated=True, tol=1e-8, max_iter=2000)
    again, fewer = run(made, lane(1.0), truncated=True, tol=1e-6, max_iter=2000, start=best.weights)
    assert again.certificates[0].converged
    assert fewer < products
    told = []
    stopped, count = run(
        made, lane(1.0), truncated=True, tol=1e-8, max_iter=2000,
        on_step=lambda k, gap: told.append((k, gap)) or k == 3,
    )  # fmt: skip
    assert [k for k, _ in told] == [1, 2, 3]
    assert count == 3
    assert not stopped.certificates[0].converged
    assert stopped.certificates[0].dual <= best.certificates[0].primal
    few, count = run(made, lane(1.0), truncated=True, tol=1e-8, max_iter=2)
    assert count == 2
    assert np.isfinite(few.certificates[0].gap)
