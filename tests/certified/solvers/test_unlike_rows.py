"""Losses with corners on sparse rows of unlike norms: fits converge, as weak duality proves."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LinearSVM, LinearSVR
from separable.certified.preparation import prepare
from separable.certified.solvers.interior_point.kkt import KktSystems
from separable.data.rows import as_rows
from separable.losses.loss import HINGE
from tests.certified.unlike_rows import hinge_objective, unlike_rows
from tests.long_cases import first

pytestmark = pytest.mark.native

#: More rows and columns than are written out, so that passes over sparse rows begin.
SHAPE = (2100, 4500)


def relative_gap(X, y, model, C):
    """Return the gap of a support vector machine over its objective, from what is public."""
    z, w, b = model.dual_coef_[0], model.coef_[0], model.intercept_[0]
    a = (2 * y - 1) * z
    assert (a >= -1e-12 * C).all()
    assert (a <= C * (1 + 1e-12)).all()
    assert abs(z.sum()) <= 1e-12 * np.abs(z).sum()
    primal = hinge_objective(X, y, w, b, C)
    v = X.T @ z
    return (primal - (a.sum() - v @ v / 2)) / primal


@pytest.mark.parametrize("C", first(2, [0.1, 1000.0, 10.0]))
@pytest.mark.parametrize("kind", ["lognormal", "pareto", "long rows"])
def test_support_vector_machines_converge(kind, C):
    X, y = unlike_rows(kind, *SHAPE)
    model = LinearSVM(C=C).fit(X, y)
    assert relative_gap(X, y, model, C) <= 1.001e-4


@pytest.mark.long
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("kind", ["counts", "long columns"])
def test_support_vector_machines_converge_where_passes_do_not(kind, C):
    X, y = unlike_rows(kind, *SHAPE)
    model = LinearSVM(C=C).fit(X, y)
    assert relative_gap(X, y, model, C) <= 1.001e-4


@pytest.mark.parametrize("kind", ["lognormal", "long rows"])
def test_support_vector_regression_converges(kind):
    X, _ = unlike_rows(kind, *SHAPE)
    random = np.random.default_rng(3)
    y = np.sign(X @ random.standard_normal(SHAPE[1])) + 0.1 * random.standard_normal(SHAPE[0])
    model = LinearSVR(C=10.0, epsilon=0.1).fit(X, y)
    z, w, b = np.ravel(model.dual_coef_), np.ravel(model.coef_), np.ravel(model.intercept_)[0]
    primal = w @ w / 2 + 10 * np.maximum(0, np.abs(y - X @ w - b) - 0.1).sum()
    v = X.T @ z
    assert np.abs(z).max() <= 10 * (1 + 1e-12)
    assert abs(z.sum()) <= 1e-12 * np.abs(z).sum()
    assert primal - (y @ z - 0.1 * np.abs(z).sum() - v @ v / 2) <= 1.001e-4 * primal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
def test_equations_are_solved(shape, dense, fit_intercept):
    """By rows or by columns, against the residual of all equations."""
    n, d = shape
    X, _ = unlike_rows("long columns", n, d, nnz=5)
    X = np.asarray(X.todense()) if dense else X
    y = (np.arange(n) % 2).astype(np.int32)
    problem = prepare(as_rows(X), HINGE, y, None, fit_intercept=fit_intercept, standardize=False)
    Z = X - X.mean(axis=0) if dense and fit_intercept else X if dense else np.asarray(X.todense())
    random = np.random.default_rng(0)
    for spread in (1.0, 10.0):
        c = np.exp(spread * random.standard_normal(n) - 4)
        c[::7] = 0.0
        missing, moved, total = random.standard_normal(d), c * random.standard_normal(n), 0.3
        equations = KktSystems(problem.x).equations(c, fit_intercept=fit_intercept)
        dw, db = equations.solve(missing, moved, total)
        dz = moved - c * (Z @ dw + db)
        scale = np.sqrt(1 + c @ Z**2)  # the equations of dw, and the size of their terms
        left = (dw - Z.T @ dz - missing) / scale
        size = np.linalg.norm((missing + Z.T @ moved) / scale)
        assert np.linalg.norm(left) <= 1e-6 * size
        if fit_intercept:
            assert abs(dz.sum() + total) <= 1e-6 * np.sqrt(c.sum()) * size
        else:
            assert db == 0


@pytest.mark.parametrize(
    "kind", ["long rows", pytest.param("long columns", marks=pytest.mark.long)]
)
def test_threads_give_the_same_bits(kind):
    X, y = unlike_rows(kind, 600, 1700)
    y = y + 2 * (np.arange(len(y)) % 2)
    one, two = (LinearSVM(C=10.0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert (one.coef_ == two.coef_).all()
    assert (one.intercept_ == two.intercept_).all()
