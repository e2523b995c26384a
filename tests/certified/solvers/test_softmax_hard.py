"""Classes together where steps by each weight alone do not end: rare columns, large strengths."""

import numpy as np
import pytest

from separable import LogisticRegression


def objective(C, X, y, model):
    scores = X @ model.coef_.T + model.intercept_
    top = scores.max(axis=1)
    sums = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return 0.5 * (model.coef_**2).sum() + C * (sums - scores[np.arange(len(y)), y]).sum()


@pytest.mark.parametrize("C", [0.1, 1000.0])
def test_rare_columns_of_many_rows(rng, C, monkeypatch):
    monkeypatch.setattr("separable.certified.problem.SMALL", 0)  # many rows
    n, rare = 12_000, 20
    X = rng.standard_normal((n, 26))
    X[:, :rare] = rng.random((n, rare)) < 0.001 * (1 + np.arange(rare))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = X @ rng.standard_normal((26, 4)) + rng.gumbel(size=(n, 4))
    y = scores.argmax(axis=1)
    model = LogisticRegression(C).fit(X, y)
    proof = model.certificate_
    assert proof.converged
    assert model.n_iter_.max() < 400  # by each weight alone it takes thousands
    assert objective(C, X, y, model) == pytest.approx(proof.primal, rel=1e-9)


@pytest.fixture
def rng():
    return np.random.default_rng(20)
