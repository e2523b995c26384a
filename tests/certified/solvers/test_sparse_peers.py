"""celer, skglm and glum on the same objective, where they are installed (extra ``bench``)."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from tests.certified.sparse_problems import KINDS, certify

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore"),  # their own, of NumPy and scikit-learn
]


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return np.asfortranarray(X), y


def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), 2 * y - 1


def fitted(module, name, X, y, **given):
    library = pytest.importorskip(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(library, name)(**given).fit(X, y)


def compare(name, strength, X, y, peer, close, **given):
    """Ours is not above the peer's by more than our gap, and the peer is close to our bound."""
    kind = KINDS[name]
    ours = kind.make(strength, **given).fit(X, y)
    mine, other = (
        certify(kind, strength, X, y, np.ravel(each.coef_), float(np.ravel(each.intercept_)[0]))
        for each in (ours, peer)
    )
    proof = ours.certificate_
    assert mine.value <= other.value + proof.gap + 1e-12 * mine.value
    assert proof.dual <= other.value * (1 + 1e-12)
    assert other.value - proof.dual <= close * mine.value


@pytest.mark.parametrize("alpha", [1.0, 0.1, 0.01])
def test_lasso(alpha):
    X, y = numbers()
    peer = fitted("celer", "Lasso", X, y, alpha=alpha, tol=1e-9)
    compare("lasso", alpha, X, y, peer, 1e-7)
    peer = fitted("skglm", "Lasso", X, y, alpha=alpha, tol=1e-8, max_iter=500)
    compare("lasso", alpha, X, y, peer, 1e-7)


def test_elastic_net():
    X, y = numbers()
    peer = fitted("celer", "ElasticNet", X, y, alpha=0.01, l1_ratio=0.3, tol=1e-9)
    compare("elastic net", 0.01, X, y, peer, 1e-7)
    peer = fitted("skglm", "ElasticNet", X, y, alpha=0.01, l1_ratio=0.3, tol=1e-8, max_iter=500)
    compare("elastic net", 0.01, X, y, peer, 1e-7)
    given = {"alpha": 0.01, "l1_ratio": 0.3, "family": "gaussian", "gradient_tol": 1e-8}
    peer = fitted("glum", "GeneralizedLinearRegressor", X, y, **given)
    compare("elastic net", 0.01, X, y, peer, 1e-6)


@pytest.mark.parametrize("C", [0.03, 1.0])
def test_l1_logistic(C):
    X, y = classes()
    peer = fitted("celer", "LogisticRegression", X, y, C=C, tol=1e-8)  # it has no intercept
    compare("logistic, l1", C, X, y, peer, 1e-6, fit_intercept=False)
    alpha = 1 / (C * len(y))
    peer = fitted("skglm", "SparseLogisticRegression", X, y, alpha=alpha, tol=1e-8, max_iter=500)
    compare("logistic, l1", C, X, y, peer, 1e-6)
    given = {"alpha": alpha, "l1_ratio": 1.0, "family": "binomial", "gradient_tol": 1e-8}
    peer = fitted("glum", "GeneralizedLinearRegressor", X, (y > 0).astype(float), **given)
    compare("logistic, l1", C, X, y, peer, 1e-5)
