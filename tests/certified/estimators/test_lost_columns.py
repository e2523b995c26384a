"""Values that leave a certified learner nothing to learn from the others of their column."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning

from separable import (
    ElasticNet,
    ElasticNetCV,
    GroupLasso,
    GroupLassoClassifier,
    Lasso,
    LassoCV,
    LinearSVM,
    LinearSVMCV,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    LpRegression,
)
from separable.statistics.dominant_columns import DominantValueWarning

N, CELL = 120, 2
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
NUMBERS = X @ [1.0, -2.0, 3.0, 0.5] + 0.3 * rng.normal(size=N)
LABELS = (NUMBERS > 0).astype(int)
GROUPS = [[0, 1], [2, 3]]
LEARNERS = {
    "logistic": LogisticRegression(),
    "logistic standardized": LogisticRegression(standardize=True),
    "logistic l1": LogisticRegression(l1_ratio=1.0, max_iter=50),
    "logistic cv": LogisticRegressionCV(Cs=[0.1, 1.0], cv=3),
    "svm": LinearSVM(),
    "svm standardized": LinearSVM(standardize=True),
    "svm cv": LinearSVMCV(Cs=[0.1, 1.0], cv=3),
    "svr": LinearSVR(),
    "lasso": Lasso(0.01),
    "lasso standardized": Lasso(0.01, standardize=True),
    "lasso cv": LassoCV(alphas=20),
    "elastic net": ElasticNet(0.01),
    "elastic net cv": ElasticNetCV(alphas=20, l1_ratio=0.5),
    "group lasso": GroupLasso(groups=GROUPS, alpha=0.01),
    "group lasso classifier": GroupLassoClassifier(groups=GROUPS, alpha=0.01),
    "lp 3/2": LpRegression("3/2", 0.01),
    "lp 0": LpRegression(0, 0.01),
}
FORMS = {"dense": np.ascontiguousarray, "sparse": sp.csr_array}


def said_of(learner, rows, y, weight=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(rows, y, weight)
    return caught


def dominant(caught):
    return [str(each.message) for each in caught if each.category is DominantValueWarning]


def target_of(learner):
    return LABELS if is_classifier(learner) else NUMBERS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_one_cell_of_1e20_is_named(name, form):
    learner, y = LEARNERS[name], target_of(LEARNERS[name])
    assert dominant(said_of(learner, FORMS[form](X), y)) == []
    for row in (int(NUMBERS.argmax()), int(NUMBERS.argmin())):  # on either side of the boundary
        rows = X.copy()
        rows[row, CELL] = 1e20
        caught = said_of(learner, FORMS[form](rows), y)
        (told,) = dominant(caught)
        assert told.startswith(f"column 2 holds 1e+20 in row {row}: so far from")
        assert "leave out the row" in told
        for each in caught:  # more passes are no remedy
            if each.category is ConvergenceWarning:
                assert f"Column 2 holds 1e+20 in row {row}" in str(each.message)
                assert "passes (max_iter)" not in str(each.message)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_warning_is_true(name):
    """What stands in the other rows of the column changes the model by nothing."""
    learner, y = LEARNERS[name], target_of(LEARNERS[name])
    one, other = X.copy(), X.copy()
    other[:, CELL] = X[np.random.default_rng(1).permutation(N), CELL]
    one[7, CELL] = other[7, CELL] = 1e20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = learner.fit(one, y).coef_.copy(), learner.fit(other, y).coef_
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9)


def test_rows_without_weight_and_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.copy(), columns=["age", "year", "height", "weight"])
    frame.loc[17, "height"] = 1e20
    weight = np.ones(N)
    weight[3:9] = 0.0
    (told,) = dominant(said_of(Lasso(0.01), frame, NUMBERS, weight))
    assert told.startswith("'height' holds 1e+20 in row 17")
    weight[17] = 0.0
    assert dominant(said_of(Lasso(0.01), frame, NUMBERS, weight)) == []


@pytest.mark.parametrize("learner", [Lasso(0.01), LassoCV(alphas=10), ElasticNet(0.01)])
def test_a_number_to_predict_is_named(learner):
    y = NUMBERS.copy()
    y[4] = -1e20
    (told,) = dominant(said_of(learner, X, y))
    assert told.startswith("y holds -1e+20 in row 4")


def test_a_cell_that_the_fit_gets_past_is_not_named():
    """A class that agrees with the cell leaves the others of the column to learn from."""
    rows = X.copy()
    rows[int(NUMBERS.argmax()), CELL] = 1e9
    learner = LogisticRegression()
    assert dominant(said_of(learner, rows, LABELS)) == []
    assert learner.score(X, LABELS) > 0.95


ORDINARY = {
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "diabetes": load_diabetes(return_X_y=True, scaled=False),
    "lognormal": (rng.lognormal(0, 3, size=(N, 4)), NUMBERS),
    "incomes and counts": (
        np.column_stack([rng.pareto(1.2, N) * 3e4, rng.poisson(0.1, N), X[:, 0] + 1e9]),
        NUMBERS,
    ),
    "one large value among zeros": (np.eye(N)[:, :4] * 1e20, LABELS),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", ORDINARY)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "learner", [LogisticRegression(max_iter=20), LinearSVR(max_iter=20), Lasso(0.1)]
)
def test_ordinary_and_heavy_tailed_columns_are_not_named(learner, table, form):
    rows, y = ORDINARY[table]
    y = y > y.mean() if is_classifier(learner) else y.astype(float)
    assert dominant(said_of(learner, FORMS[form](rows), y)) == []
