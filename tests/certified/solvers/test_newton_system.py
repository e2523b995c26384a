"""Every way to solve the system of a Newton step: exact ones against NumPy, all to one optimum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from separable import LogisticRegression
from separable.certified.preparation import prepare
from separable.certified.problem import TOGETHER, Lane
from separable.certified.solvers.newton_system import full_system
from separable.certified.solvers.objective import Objective
from separable.certified.solvers.options import NewtonOptions
from separable.data.rows import as_rows
from separable.losses.loss import LOGISTIC
from tests.certified.engine_problems import use_options, use_solvers

pytestmark = pytest.mark.native


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("solver", "limits"),
    [("newton", {}), ("newton_cg", {}), ("newton_cg", {"max_gram_columns": 0})],
    ids=["full", "class by class", "diagonal"],
)
def test_any_system(solver, limits, fit_intercept, monkeypatch):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    expected = LogisticRegression(C=2.0, fit_intercept=fit_intercept).fit(X, y)
    use_solvers(monkeypatch, solver)
    use_options(monkeypatch, newton=NewtonOptions(**limits))
    found = LogisticRegression(C=2.0, fit_intercept=fit_intercept).fit(X, y)
    assert found.evidence_["engine"] == solver.replace("_", "-")
    assert found.certificate_.converged
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-3)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_full_hessian(fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30, dtype=np.int32) % 3
    made = prepare(as_rows(X), LOGISTIC, y, None, fit_intercept=fit_intercept, standardize=False)
    object.__setattr__(made, "n_classes", 3)
    objective = Objective(made, Lane(2.0, TOGETHER))
    s = rng.normal(size=(30, 3))
    model = objective.rows.expand(s)
    Z = X - X.mean(axis=0) if fit_intercept else X
    Z = np.column_stack([Z, np.ones(30)]) if fit_intercept else Z
    hessian = np.diag(np.tile(np.append(np.ones(4), np.zeros(int(fit_intercept))), 3))
    for z, q in zip(Z, model.q, strict=True):
        hessian += 2.0 * np.kron(np.diag(q) - np.outer(q, q), np.outer(z, z))
    right, total = rng.normal(size=(4, 3)), rng.normal(size=3)
    right -= right.mean(axis=1, keepdims=True)
    total -= total.mean()
    du, db = full_system(made.x, objective, model)(right, total)
    step = np.vstack([du, db]) if fit_intercept else du
    wanted = np.vstack([right, total]) if fit_intercept else right
    np.testing.assert_allclose((hessian @ step.T.ravel()), wanted.T.ravel(), atol=1e-9)
