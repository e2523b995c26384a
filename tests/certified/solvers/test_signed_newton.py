"""Ridge penalties with weights of one sign: Clarabel's optimum, and certificates from NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable import ElasticNet, LinearSVM, LogisticRegression, LogisticRegressionCV
from separable.model.parameters import ParameterError
from tests.reference import conic

pytestmark = pytest.mark.native

LOSSES = {
    "logistic": lambda C, s: LogisticRegression(C=C, monotonic_cst=s),
    "hinge": lambda C, s: LinearSVM(C=C, monotonic_cst=s),
    "squared_hinge": lambda C, s: LinearSVM(C=C, loss="squared_hinge", monotonic_cst=s),
    "squared_error": lambda C, s: ElasticNet(alpha=1 / C, l1_ratio=0, monotonic_cst=s),
}


def problem(seed: int, n: int, d: int):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    y = (X @ rng.normal(size=d) + rng.normal(size=n) > 0).astype(int)
    y[:2] = 0, 1
    return X, y, rng.integers(-1, 2, d), rng


@pytest.mark.parametrize("loss", LOSSES)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 60),
    d=st.integers(1, 12),
    C=st.sampled_from([0.01, 1, 100]),
)
def test_it_is_the_optimum_of_an_independent_solver(loss, seed, n, d, C):
    X, y, signs, rng = problem(seed, n, d)
    is_number = loss == "squared_error"
    target = rng.normal(size=n) if is_number else y
    c = np.full(n, 1 / n if is_number else C)
    model = LOSSES[loss](C, signs).fit(X, target)
    assert (model.coef_.ravel() * signs >= 0).all()
    assert model.certificate_.converged
    signed = target if is_number else 2 * y - 1
    l2 = 1 / C if is_number else 1.0
    best, _ = conic.optimum(loss, X, signed, c, conic.Penalty(l2=l2, signs=signs.tolist()))
    assert model.certificate_.dual <= best * (1 + 1e-9)
    assert model.certificate_.primal <= best * (1 + 2e-6) + 1e-9


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_the_certificate_can_be_recomputed(loss):
    X, y, signs, _ = problem(0, 200, 8)
    model = LOSSES[loss](2.0, signs).fit(X, y)
    w, b, z, t = model.coef_[0], model.intercept_[0], model.dual_coef_[0], 2 * y - 1
    a, v = z * t, X.T @ z
    v = np.where(signs * v < 0, 0.0, v)
    assert abs(z.sum()) < 1e-9
    row = conic.row_losses(loss, t, X @ w + b)
    primal = w @ w / 2 + 2.0 * float(row.sum())
    if loss == "logistic":
        u = a / 2.0
        dual = -2.0 * (u * np.log(u) + (1 - u) * np.log1p(-u)).sum()
    else:
        dual = a.sum() - ((a**2).sum() / 8.0 if loss == "squared_hinge" else 0.0)
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(primal, rel=1e-9)
    assert certificate.dual == pytest.approx(dual - v @ v / 2, rel=1e-9)


def test_sparse_rows_weights_and_names():
    import pandas as pd

    X, y, _, rng = problem(1, 120, 5)
    X *= rng.random(X.shape) < 0.4
    weight = rng.integers(0, 3, 120).astype(float)
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = LogisticRegression(monotonic_cst={"b": 1, "e": -1}).fit(frame, y, weight)
    listed = LogisticRegression(monotonic_cst=[0, 1, 0, 0, -1]).fit(sp.csr_array(X), y, weight)
    repeated = np.repeat(np.arange(120), weight.astype(int))
    again = LogisticRegression(monotonic_cst=[0, 1, 0, 0, -1]).fit(X[repeated], y[repeated])
    for other in (listed, again):
        np.testing.assert_allclose(other.coef_, named.coef_, atol=1e-6)
    assert named.coef_[0, 1] >= 0 >= named.coef_[0, 4]


def test_many_columns_by_conjugate_gradients():
    from dataclasses import replace

    from separable.certified.solvers.options import SignedNewtonOptions, SolverOptions

    class Few(LogisticRegression):
        _default_options = replace(SolverOptions(), signed_newton=SignedNewtonOptions(max_dense=3))

    X, y, signs, _ = problem(2, 150, 20)
    dense = LogisticRegression(monotonic_cst=signs).fit(X, y)
    few = Few(monotonic_cst=signs).fit(X, y)
    assert few.certificate_.converged
    np.testing.assert_allclose(few.coef_, dense.coef_, atol=1e-4)


def test_searches_keep_the_signs():
    X, y, signs, _ = problem(3, 150, 6)
    search = LogisticRegressionCV([1e-5, 1e-3, 0.1, 10.0, 1e4], monotonic_cst=signs).fit(X, y)
    assert (search.coef_[0] * signs >= 0).all()
    assert search.coef_[0, signs == 0].all()
    whole = LogisticRegression(search.C_, monotonic_cst=signs).fit(X, y)
    np.testing.assert_allclose(search.coef_, whole.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (LogisticRegression(monotonic_cst=[1]), "has 1 values, but X has 4 columns"),
        (LogisticRegression(monotonic_cst=[2, 0, 0, 0]), "1, -1 or 0"),
        (LogisticRegression(monotonic_cst={"z": 1}), "names the column 'z'"),
        (LogisticRegression(C=np.inf, monotonic_cst=[1, 0, 0, 0]), "l1_ratio=0 and a finite C"),
        (LogisticRegression(l1_ratio=0.5, monotonic_cst=[1, 0, 0, 0]), "l2 penalty alone"),
        (LinearSVM(loss="squared_hinge", penalty="l1", monotonic_cst=[1, 0, 0, 0]), "penalty='l2'"),
        (ElasticNet(monotonic_cst=[1, 0, 0, 0]), "l1_ratio=0"),
    ],
)
def test_what_is_refused(learner, words):
    X, y, *_ = problem(4, 30, 4)
    with pytest.raises(ParameterError, match=words):
        learner.fit(X, y)


def test_three_classes_are_refused():
    X, y, *_ = problem(5, 30, 4)
    y[:5] = 2
    with pytest.raises(ParameterError, match="needs two classes, and y has 3"):
        LogisticRegression(monotonic_cst=[1, 0, 0, 0]).fit(X, y)
