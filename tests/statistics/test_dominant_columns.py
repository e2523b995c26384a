"""Values beside which float64 does not see the others of their column."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from separable import (
    LDA,
    BayesianRegression,
    BernoulliNB,
    ComplementNB,
    LeastSquares,
    LeastSquaresClassifier,
    LinearGaussianNB,
    MultinomialNB,
    Ridge,
    RidgeCV,
)
from separable.data.rows import as_rows
from separable.statistics.dominant_columns import SQUARES, DominantValueWarning, dominant_values

pytestmark = pytest.mark.native

REGRESSORS = [Ridge, RidgeCV, LeastSquares, BayesianRegression]
OF_SQUARES = [*REGRESSORS, LDA, LinearGaussianNB, LeastSquaresClassifier]
FORMS = {"dense": np.ascontiguousarray, "sparse": sp.csr_array}


def problem(learner, seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n, 4)))
    y = X @ [1.0, -2.0, 3.0, 0.5] + 0.1 * rng.normal(size=n)
    return X, y if learner in REGRESSORS else (y > np.median(y)).astype(int)


def warned(learner, X, y, weight=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner().fit(X, y, weight)
    return [str(w.message) for w in caught if w.category is DominantValueWarning]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner", [*OF_SQUARES, MultinomialNB, ComplementNB])
def test_one_cell_of_1e20_is_named(learner, form):
    X, y = problem(learner)
    assert warned(learner, FORMS[form](X), y) == []
    X[17, 2] = 1e20
    (message,) = warned(learner, FORMS[form](X), y)
    assert message.startswith("column 2 holds 1e+20 in row 17: so large that in float64")
    assert "leave out the row" in message
    weight = np.ones(60)
    weight[3:9] = 0.0
    weight[20] = 2.5
    (message,) = warned(learner, FORMS[form](X), y, weight)
    assert "column 2 holds 1e+20 in row 17" in message
    weight[17] = 0.0
    assert warned(learner, FORMS[form](X), y, weight) == []


@pytest.mark.parametrize("learner", OF_SQUARES)
def test_the_warning_is_true(learner):
    """What stands in the other rows of the column changes the model by nothing."""
    X, y = problem(learner)
    other = X.copy()
    other[:, 2] = X[np.random.default_rng(9).permutation(60), 2]
    X[17, 2] = other[17, 2] = 1e20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = learner().fit(X, y), learner().fit(other, y)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("learner", OF_SQUARES)
def test_a_cell_that_float64_sees_past_is_not_named(learner):
    X, y = problem(learner)
    X[17, 2] = 1e6
    assert warned(learner, X, y) == []
    assert warned(learner, X + 1e9, y) == []
    assert warned(BernoulliNB, np.where(X > 1e5, 1e200, X), y > 0) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cells", [[1e20], [1e20, -3e19], [1e20, 1e20, 5e18]])
def test_up_to_three_cells_in_a_stream_and_in_wide_rows(form, cells):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    X[5 : 5 + len(cells), 7] = cells
    more = f" (and {len(cells) - 1} more of its size)" if len(cells) > 1 else ""
    expected = f"column 7 holds 1e+20 in row 5{more}:"
    (message,) = warned(Ridge, FORMS[form](X), y)
    assert message.startswith(expected)
    with pytest.warns(DominantValueWarning, match="column 7 holds 1e\\+20 in row 5"):
        Ridge().partial_fit(FORMS[form](X), y)


def test_a_target_is_named():
    X, y = problem(Ridge)
    y[4] = -1e20
    for learner in REGRESSORS:
        (message,) = warned(learner, X, y)
        assert message.startswith("y holds -1e+20 in row 4")
    (message,) = warned(Ridge, X, np.column_stack([X[:, 0], y]))
    assert message.startswith("target 1 holds -1e+20 in row 4")


@pytest.mark.parametrize("n", [5, 30, 3000])
@pytest.mark.parametrize("form", FORMS)
def test_ordinary_and_heavy_tailed_columns_are_not_named(n, form):
    rng = np.random.default_rng(n)
    columns = {
        "cauchy": rng.standard_cauchy(n),
        "pareto": rng.pareto(0.8, n),
        "lognormal": rng.lognormal(0, 4, n),
        "far": rng.normal(size=n) + 1e9,
        "seconds": 1.7e9 + rng.integers(0, 10**8, n),
        "identifier": np.arange(n) + 1e12,
        "one hot": (np.arange(n) == 1) * 1.0,
        "large one hot": (np.arange(n) == 1) * 1e20,
        "rare": (rng.random(n) < 0.01) * rng.normal(size=n),
        "tiny": rng.normal(size=n) * 1e-200,
        "large": rng.normal(size=n) * 1e200,
        "constant": np.full(n, 1e15),
        "counts": rng.poisson(0.2, n) * 1.0,
        "sentinel": np.where(np.arange(n) % 4 == 0, -9999.0, rng.random(n)),
    }
    X = np.column_stack(list(columns.values()))
    y = rng.normal(size=n)
    found = [list(columns)[one.column] for one in dominant_values(as_rows(FORMS[form](X)), SQUARES)]
    assert found == []
    assert warned(LinearGaussianNB, FORMS[form](X), np.arange(n) % 2) == []
    assert warned(Ridge, FORMS[form](X[:, :4]), y) == []


def test_the_short_way_equals_the_look_at_all_rows():
    rng = np.random.default_rng(2)
    for _ in range(60):
        n = int(rng.integers(5, 400))
        X = rng.normal(size=(n, 5)) * 10.0 ** rng.integers(-9, 10, 5) + rng.integers(0, 2, 5) * 1e3
        for _ in range(int(rng.integers(0, 6))):
            X[rng.integers(n), rng.integers(5)] = 10.0 ** rng.integers(-5, 22)
        X[rng.random(X.shape) < 0.2] = 0
        rows = as_rows(X)
        length = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=0))
        short = dominant_values(rows, SQUARES, length, X.mean(axis=0), float(n))
        whole = dominant_values(rows, SQUARES)
        assert [(a.column, a.row) for a in short] == [(a.column, a.row) for a in whole]
        for one in whole:
            away = np.sort(np.abs(X[:, one.column] - np.median(X[:, one.column])))
            assert away[-4] <= SQUARES * away[-1] * 2
            assert X[one.row, one.column] == one.value
