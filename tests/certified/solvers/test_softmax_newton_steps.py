"""Every preconditioner of conjugate gradients leads to the same optimum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from separable import LogisticRegression
from separable.certified.solvers import softmax_l2_driver, softmax_newton_steps
from separable.certified.solvers.dense_logistic import DenseLogisticSolver

pytestmark = pytest.mark.native


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("_Together", {}),
        ("_ClassByClass", {"MAX_HESSIAN_SIZE": 0}),
        ("_Diagonal", {"MAX_GRAM_COLUMNS": 0}),
        ("_Together", {"ROWS_PER_WEIGHT": 1}),
        ("_ClassByClass", {"MAX_HESSIAN_SIZE": 0, "ROWS_PER_WEIGHT": 1}),
    ],
)
def test_any_preconditioner(kind, limits, fit_intercept, monkeypatch):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    expected = LogisticRegression(C=2.0, fit_intercept=fit_intercept).fit(X, y)
    monkeypatch.setattr(DenseLogisticSolver, "takes", staticmethod(lambda problem: False))
    monkeypatch.setattr(softmax_l2_driver, "MAX_HESSIAN_SIZE", 0)
    for name, value in limits.items():
        monkeypatch.setattr(softmax_newton_steps, name, value)
    used = []
    made = getattr(softmax_newton_steps, kind)
    monkeypatch.setattr(
        softmax_newton_steps, kind, lambda *given: used.append(kind) or made(*given)
    )
    found = LogisticRegression(C=2.0, fit_intercept=fit_intercept).fit(X, y)
    assert found.evidence_["engine"] == "newton-cg"
    assert used
    assert found.certificate_.converged
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-3)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-3)
