"""Working sets of the lasso and the elastic net with more columns than a Gram matrix is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack
from sklearn.model_selection import KFold

from separable import ElasticNet, Lasso
from separable.certified.solvers.options import GramOptions
from separable.fitting.splits import Split
from separable.select import search
from tests.certified.engine_problems import use_options

pytestmark = pytest.mark.native


def many_columns(n=2600, levels=2050, seed=0):
    """Return sparse rows with more columns than a Gram matrix is computed for, and targets."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, levels, n)
    one_hot = csr_array((np.ones(n), (np.arange(n), level)), shape=(n, levels))
    numbers = rng.normal((0.0, 5.0, 0.0), size=(n, 3))
    effects = np.where(rng.random(levels) < 0.02, 6.0, 0.0)
    y = numbers @ [1.0, -1.0, 0.0] + effects[level] + 0.3 * rng.normal(size=n)
    return csr_array(hstack([csr_array(numbers), one_hot], format="csr")), y


@pytest.mark.parametrize("learner", [Lasso(), Lasso(positive=True), ElasticNet(l1_ratio=0.7)])
def test_working_sets_certify_all_columns(learner, monkeypatch):
    gram = GramOptions(min_rows=1000, first_columns=20)  # so that other columns have to join
    use_options(monkeypatch, gram=gram)
    X, y = many_columns()
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    data = learner.fold_data(X, y, weight)
    splits = [Split(len(y), test) for _, test in KFold(2).split(X)]
    alphas = np.array([0.3, 0.03, 0.003])
    paths = list(learner.path_solver(data, splits).solve(alphas))
    assert [path.models.solvers for path in paths] == [["sums"] * 3] * 2
    for path, split in zip(paths, splits, strict=True):
        Z, z, c = X.toarray()[split.train], y[split.train], weight[split.train]
        c = c / c.sum()
        for k, alpha in enumerate(alphas):
            w, b = path.weights[k, 0], path.intercept[k, 0]
            residual = z - Z @ w - b
            ratio = learner._penalty().l1_ratio
            objective = 0.5 * c @ residual**2 + alpha * (
                ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * w @ w
            )
            certificate = path.certificates[k][0]
            assert certificate.primal == pytest.approx(objective, rel=1e-9)
            assert certificate.relative_gap <= 1e-6
            # the optimality conditions of all columns, within what the gap allows
            slope = Z.T @ (c * residual) - alpha * (1 - ratio) * w
            size = slope if learner.positive else np.abs(slope)
            assert size.max() <= alpha * ratio * (1 + 1e-3)
            np.testing.assert_allclose(slope[w != 0], alpha * ratio * np.sign(w[w != 0]), rtol=1e-2)
        assert path.squared_errors().shape == (3,)
    by_rows = list(learner.path_solver(data, splits)._solve_rows(alphas, certified=True, tol=None))
    for ours, theirs in zip(paths, by_rows, strict=True):
        np.testing.assert_allclose(ours.squared_errors(), theirs.squared_errors(), rtol=1e-3)
        for a, b in zip(ours.certificates, theirs.certificates, strict=True):
            assert a[0].primal <= b[0].primal * (1 + 1e-6)
            assert b[0].primal <= a[0].primal * (1 + 1e-6)


def test_a_working_set_that_grows_too_large_leaves_the_rows_to_be_asked(monkeypatch):
    use_options(monkeypatch, gram=GramOptions(min_rows=1000, first_columns=20, max_columns=30))
    X, y = many_columns()
    found = search(Lasso(), {"alpha": [0.1, 0.003]}, X, y, cv=2)
    monkeypatch.undo()
    expected = search(Lasso(), {"alpha": [0.1, 0.003]}, X, y, cv=2)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-3
    )
