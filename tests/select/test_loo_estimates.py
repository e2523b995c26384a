"""``leave_one_out(approximate=True)``: certified learners, from one fit, against n fits."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as TheirNet
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

from separable import ElasticNet, Lasso, LinearSVM, LinearSVR, LogisticRegression
from separable.certified.loo import certified_loo, piecewise_linear_loo
from separable.select import leave_one_out

LONG = pytest.mark.long
HINGE = LinearSVM(loss="hinge")
SQUARED = LinearSVM(loss="squared_hinge")
CLASSIFIERS = [
    LogisticRegression(),
    LogisticRegression(C=np.inf),
    LogisticRegression(l1_ratio=0.5, C=0.3),
    SQUARED,
    LinearSVM(loss="squared_hinge", penalty="l1"),
    HINGE,
]
REGRESSORS = [
    ElasticNet(0.1, l1_ratio=0.0),
    ElasticNet(0.1),
    Lasso(0.3),
    Lasso(0.3, positive=True),
    LinearSVR(),
    LinearSVR(epsilon=0.4),
]


def numbers(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.9) + 0.2
    return X, X @ np.linspace(1, -1, d) + 0.7 * rng.normal(size=n)


def classes(n=60, d=4, seed=0, k=2):
    X, y = numbers(n, d, seed)
    return X, np.array(["a", "b", "c", "d"])[np.argsort(np.argsort(y)) * k // n]


def data(learner, **sizes):
    return (
        numbers(**sizes)
        if hasattr(learner, "epsilon") or hasattr(learner, "alpha")
        else classes(**sizes)
    )


def scores(found):
    return found.predictions if found.decision_scores is None else found.decision_scores


def without_each(learner, X, y, weight=None):
    """Brute force: the score of each row by a fit to a copy of the others."""
    found = []
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        more = {} if weight is None else {"sample_weight": weight[others]}
        model = clone(learner).fit(X[others], y[others], **more)
        score = getattr(model, "decision_function", model.predict)
        found.append(score(X[row : row + 1])[0])
    return np.array(found)


# ---------------------------------------------------------------------- against brute force


HOWS = ["plain", "weights", "no intercept", "scaled"]


@pytest.mark.parametrize(
    ("learner", "how"),
    [
        pytest.param(learner, how, id=f"{learner!r}-{how}", marks=LONG if (i + k) % 2 else ())
        for i, learner in enumerate(CLASSIFIERS + REGRESSORS)
        for k, how in enumerate(HOWS)
    ],
)
def test_equals_brute_force(learner, how):
    X, y = data(learner, n=40)
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, len(y)) / 2 if how == "weights" else None
    if how == "weights":
        X = sp.csr_array(X)
    elif how == "no intercept":
        X = X.astype(np.float32)
    # Weights of a smooth loss are as near to the optimum as the root of the gap.
    tol = 1e-13 if isinstance(learner, LogisticRegression) else 1e-11
    learner = clone(learner).set_params(
        standardize=how == "scaled", fit_intercept=how != "no intercept", tol=tol
    )
    expected = without_each(learner, X, y, weight)
    found = leave_one_out(learner, X, y, sample_weight=weight, approximate=True)
    off = np.abs(scores(found) - expected)
    sure = np.setdiff1d(np.arange(len(y)), found.estimated)
    assert off[sure].max(initial=0) < 2e-6
    assert np.median(off) < 1e-3
    assert off.max() < (0.03 if how == "scaled" else 5e-3)
    assert len(found.doubtful) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "multi_class"),
    [
        ("plain", "ovr"),
        pytest.param("weights", "multinomial", marks=LONG),
        ("no intercept", "ovr"),
        ("scaled", "multinomial"),
        ("balanced", "ovr"),
        pytest.param("plain", "multinomial", marks=LONG),
        ("weights", "ovr"),
        pytest.param("no intercept", "multinomial", marks=LONG),
        pytest.param("scaled", "ovr", marks=LONG),
        pytest.param("balanced", "multinomial", marks=LONG),
    ],
)
def test_three_classes(how, multi_class):
    X, y = classes(n=40, k=3)
    weight = np.random.default_rng(1).integers(1, 3, 40) + 0.0 if how == "weights" else None
    learner = LogisticRegression(
        multi_class=multi_class,
        standardize=how == "scaled",
        fit_intercept=how != "no intercept",
        class_weight="balanced" if how == "balanced" else None,
    )
    expected = without_each(learner, X, y, weight)
    found = leave_one_out(learner, X, y, sample_weight=weight, approximate=True)
    off = np.abs(found.decision_scores - expected).max(axis=1)
    assert np.median(off) < 2e-3
    assert off.max() < 0.05
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("learner", [LogisticRegression(), SQUARED], ids=repr)
def test_balanced_classes(learner):
    X, y = numbers(n=50)
    y = (y > 1).astype(int)
    learner = clone(learner).set_params(class_weight="balanced")
    for standardize in (False, True):
        learner.set_params(standardize=standardize)
        found = leave_one_out(learner, X, y, approximate=True)
        off = np.abs(found.decision_scores - without_each(learner, X, y))
        assert np.median(off) < 1e-3
        assert off.max() < 0.03


def test_equals_scikit_learn():
    X, y = load_iris(return_X_y=True)
    X, y = X[50::4], y[50::4]
    mine = leave_one_out(LogisticRegression(), X, y, approximate=True)
    theirs = without_each(TheirLogistic(tol=1e-10, solver="newton-cholesky"), X, y)
    np.testing.assert_allclose(mine.decision_scores, theirs, atol=1e-3)
    mine = leave_one_out(LinearSVM(), X, y, approximate=True)
    theirs = without_each(SVC(kernel="linear", tol=1e-10), X, y)
    assert not mine.approximate
    np.testing.assert_allclose(
        mine.decision_scores, theirs, atol=2e-4
    )  # theirs are float32 products
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:50] * 20, y[:50]
    mine = leave_one_out(ElasticNet(0.5), X, y, approximate=True)
    theirs = without_each(TheirNet(0.5, tol=1e-12, max_iter=100000), X, y)
    assert not mine.approximate
    np.testing.assert_allclose(mine.predictions, theirs, atol=1e-6)


#: Data set, learner, and the typical and the largest error of a score that is allowed.
CASES = [
    ("breast cancer", LogisticRegression(standardize=True), 1e-6, 1e-3),
    ("breast cancer", LinearSVM(loss="squared_hinge", standardize=True), 1e-9, 1e-3),
    ("digits 3 and 8", LogisticRegression(C=0.1, tol=1e-12), 1e-4, 1e-3),
    ("digits 3 and 8", LinearSVM(C=0.1, loss="squared_hinge"), 1e-9, 5e-3),
    ("digits 3 and 8", LinearSVM(C=0.1, tol=1e-12), 1e-7, 1e-6),
]


@pytest.mark.parametrize(("name", "learner", "typical", "largest"), CASES, ids=str)
def test_real_data(name, learner, typical, largest):
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y = load_digits(return_X_y=True)
        X, y = X[(y == 3) | (y == 8)] / 16, y[(y == 3) | (y == 8)]
    found = leave_one_out(learner, X, y, approximate=True, check=12)
    error = found.brute_force_error
    assert len(error.rows) == 12
    assert error.typical < typical
    assert error.largest < largest
    assert error.changed == 0


@pytest.mark.slow
def test_the_error_falls_with_the_number_of_rows():
    """One step is off by about 1 / n^2, where its effect is about 1 / n."""
    largest = []
    for n in (200, 800, 2400):
        X, y = classes(n=n, d=6)
        found = leave_one_out(LogisticRegression(), X, y, approximate=True, check=15)
        effect = np.abs(LogisticRegression().fit(X, y).decision_function(X) - scores(found))
        largest.append(found.brute_force_error.largest)
        assert largest[-1] < 0.02 * effect.max()
    assert largest[2] < largest[0] / 3


# ---------------------------------------------------------------------- where it is exact


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weigh", [False, True])
def test_squared_errors_with_a_smooth_penalty_are_exact(standardize, weigh):
    X, y = numbers(n=40)
    weight = np.random.default_rng(3).random(40) + 0.2 if weigh else None
    learner = ElasticNet(0.3, l1_ratio=0.0, standardize=standardize, tol=1e-14)
    found = leave_one_out(learner, X, y, sample_weight=weight, approximate=True)
    assert not found.approximate
    assert found.n_refits == 0
    np.testing.assert_allclose(
        found.predictions, without_each(learner, X, y, weight), rtol=1e-9, atol=1e-9
    )


def test_rows_outside_the_margin_do_not_move():
    X, y = classes()
    for learner in (HINGE, SQUARED):
        fit = clone(learner).fit(X, y)
        found = leave_one_out(learner, X, y, approximate=True)
        outside = fit.dual_coef_[0] == 0
        assert 5 < outside.sum() < 55
        np.testing.assert_allclose(
            found.decision_scores[outside], fit.decision_function(X)[outside], atol=1e-9
        )


def test_squared_hinge_is_exact_while_the_same_rows_are_inside():
    X, y = classes(n=50)
    sign = np.where(y == "b", 1.0, -1.0)
    fit = clone(SQUARED).fit(X, y)
    inside = sign * fit.decision_function(X) < 1
    found = leave_one_out(SQUARED, X, y, approximate=True)
    seen = 0
    for row in np.flatnonzero(inside):
        others = np.arange(50) != row
        again = clone(SQUARED).fit(X[others], y[others])
        same = inside[others] == (sign[others] * again.decision_function(X[others]) < 1)
        if same.all():
            seen += 1
            expected = again.decision_function(X[row : row + 1])[0]
            assert found.decision_scores[row] == pytest.approx(expected, abs=1e-9)
    assert seen > 5


def test_leverage_formula():
    """The score moves by g h / (1 - k h), written out."""
    X, y = classes(n=300, d=3)
    fit = LogisticRegression().fit(X, y)
    Z, sign = np.column_stack([X, np.ones(300)]), np.where(y == "b", 1.0, -1.0)
    s = fit.decision_function(X)
    p = 1 / (1 + np.exp(sign * s))
    g, k = -sign * p, p * (1 - p)
    h = np.einsum(
        "ij,jk,ik->i", Z, np.linalg.inv(Z.T @ (k[:, None] * Z) + np.diag([1, 1, 1, 0])), Z
    )
    found = leave_one_out(LogisticRegression(), X, y, approximate=True)
    np.testing.assert_allclose(found.decision_scores, s + g * h / (1 - k * h), atol=1e-2)


# ---------------------------------------------------------------------- rows in doubt


def test_a_row_that_decides_alone_is_refitted():
    X, y = classes(n=80)
    X[7] = [60.0, -40.0, 50.0, 30.0]
    expected = without_each(LogisticRegression(C=100), X, y)
    found = leave_one_out(LogisticRegression(C=100), X, y, approximate=True)
    assert 7 in found.refitted
    assert found.n_refits == len(found.refitted)
    assert found.decision_scores[7] == pytest.approx(expected[7], rel=1e-6)
    assert "refits" in found.to_text()
    left = leave_one_out(LogisticRegression(C=100), X, y, approximate=True, max_refits=0)
    assert set(found.refitted) == set(left.doubtful)
    assert left.n_refits == 0
    assert f"{len(left.doubtful)} rows have a doubtful estimate" in left.to_text()


def test_the_most_doubtful_come_first():
    X, y = load_diabetes(return_X_y=True)
    every = leave_one_out(Lasso(0.01), X, y, approximate=True)
    some = leave_one_out(Lasso(0.01), X, y, approximate=True, max_refits=20)
    assert len(every.refitted) > 20 == len(some.refitted)
    assert set(some.refitted) < set(every.refitted)
    assert len(some.doubtful) == len(every.refitted) - 20
    assert not every.approximate
    assert some.estimated.tolist() == some.doubtful.tolist()
    off = np.abs(some.predictions - every.predictions)
    assert off[np.setdiff1d(np.arange(len(y)), some.doubtful)].max() < 1e-8
    assert off.max() < 0.1 * np.std(y)


def test_the_only_row_of_a_class():
    X, y = classes(n=40, k=2)
    y = y.copy()
    y[3] = "c"
    found = leave_one_out(LogisticRegression(), X, y, approximate=True, max_refits=0)
    assert found.refitted.tolist()[0] == 3 or 3 in found.refitted
    assert found.decision_scores[3, 2] == -np.inf
    assert found.probabilities[3, 2] == 0
    with pytest.raises(ValueError, match="needs at least two classes"):
        leave_one_out(LogisticRegression(), X[:20], np.arange(20) == 4, approximate=True)


def test_rows_of_weight_zero_are_predicted():
    X, y = classes(n=50)
    weight = np.ones(50)
    weight[[2, 30]] = 0
    found = leave_one_out(LogisticRegression(), X, y, sample_weight=weight, approximate=True)
    fit = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        found.decision_scores[[2, 30]], fit.decision_function(X[[2, 30]]), atol=1e-9
    )
    assert not {2, 30} & set(found.estimated)


def test_weights_without_a_column():
    X, y = numbers(n=40)
    found = leave_one_out(Lasso(100.0), X, y, approximate=True)
    np.testing.assert_allclose(found.predictions, (y.sum() - y) / 39)


@pytest.mark.parametrize(
    ("form", "standardize"),
    [
        (np.asarray, True),
        (sp.csr_array, False),
        pytest.param(np.asarray, False, marks=LONG),
        pytest.param(sp.csr_array, True, marks=LONG),
    ],
)
@pytest.mark.parametrize("learner", [LogisticRegression(0.1), HINGE, ElasticNet(1.0, l1_ratio=0.0)])
def test_more_columns_than_rows(learner, form, standardize):
    X, y = data(learner, n=24, d=40)
    learner = clone(learner).set_params(standardize=standardize)
    expected = without_each(learner, X, y)
    found = leave_one_out(learner, form(X), y, approximate=True)
    off = np.abs(scores(found) - expected)
    assert off.max() < (0.05 if standardize else 2e-3) * expected.std()
    assert found.approximate == isinstance(learner, LogisticRegression)


def test_deviations_of_many_columns(monkeypatch):
    """Beyond a number of columns the space of the rows is taken, with scales to first order."""
    X, y = numbers(n=40, d=60)
    learner = ElasticNet(1.0, l1_ratio=0.0, standardize=True)
    exact = leave_one_out(learner, X, y, approximate=True)
    monkeypatch.setattr(certified_loo, "MAX_COLUMN_SPACE", 50)
    first = leave_one_out(learner, X, y, approximate=True)
    assert not exact.approximate
    assert first.approximate
    assert np.abs(first.predictions - exact.predictions).max() < 0.2 * y.std()


# ---------------------------------------------------------------------- laws


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(range(len(CLASSIFIERS))))
def test_laws(seed, which):
    """Order of rows, format, names of classes and units of weight do not matter."""
    learner = CLASSIFIERS[which]
    X, y = classes(n=30, d=3, seed=seed)
    if which == 1:
        learner = LogisticRegression(C=10.0)  # some of these are separable
    found = leave_one_out(learner, X, y, approximate=True)
    order = np.random.default_rng(seed).permutation(30)
    moved = leave_one_out(learner, X[order], y[order], approximate=True)
    np.testing.assert_allclose(moved.decision_scores, found.decision_scores[order], atol=2e-5)
    turned = leave_one_out(learner, X, np.where(y == "a", "z", y), approximate=True)
    np.testing.assert_allclose(turned.decision_scores, -found.decision_scores, atol=2e-5)
    half = clone(learner).set_params(C=learner.C / 2)
    heavy = leave_one_out(
        half, sp.csr_array(X), y, sample_weight=np.full(30, 2.0), approximate=True
    )
    np.testing.assert_allclose(heavy.decision_scores, found.decision_scores, atol=2e-5)


# ---------------------------------------------------------------------- the call


@pytest.mark.slow
def test_when_it_is_approximate():
    X, y = classes(n=60)
    assert not leave_one_out(LogisticRegression(), X, y).approximate
    assert leave_one_out(LogisticRegression(), X, y).n_refits == 60
    many = leave_one_out(LogisticRegression(), X, y, max_refits=50)
    assert many.approximate
    with pytest.raises(ValueError, match=r"needs 60 fits, one a row, .* max_refits=50"):
        leave_one_out(LogisticRegression(), X, y, max_refits=50, approximate=False)


@pytest.mark.parametrize(
    "learner",
    [
        SGDClassifier(),
        LinearSVM(probability=True),
        LinearSVM(class_weight="balanced"),
        LogisticRegression(l1_ratio=1.0),
    ],
    ids=repr,
)
def test_learners_that_cannot(learner):
    X, y = classes(n=30, k=3)
    with pytest.raises(ValueError, match=r"cannot estimate leave-one-out.*cross_validate"):
        leave_one_out(learner, X, y, approximate=True)


@pytest.mark.parametrize("learner", [LogisticRegression(), HINGE, Lasso(0.01)], ids=repr)
def test_too_large(learner, monkeypatch):
    X, y = data(learner, n=30)
    monkeypatch.setattr(certified_loo, "MAX_SIZE", 3)
    with pytest.raises(ValueError, match=r"at most 3 rows or 3 weights.*Use cross_validate"):
        leave_one_out(learner, X, y, approximate=True)


@pytest.mark.slow
@pytest.mark.parametrize("learner", [LogisticRegression(), HINGE, SQUARED], ids=repr)
def test_extreme_data(learner):
    """Repeated rows and columns, huge columns, and one that a single row has."""
    X, y = classes(n=30)
    alone = np.column_stack([X, np.arange(30) == 5, X[:, 0], np.ones(30)])
    huge = X * (1e4 if learner is SQUARED else 1e8)
    for each, scaled in (
        (np.vstack([X, X]), False),
        (huge, False),
        (alone, True),
        (alone, False),
    ):
        t = np.tile(y, len(each) // 30)
        learner = clone(learner).set_params(standardize=scaled)
        with warnings.catch_warnings():
            if each is huge:  # |w|^2 is as small as what rounding of margins costs
                warnings.filterwarnings("ignore", ".*float64 cannot hold", ConvergenceWarning)
            found = leave_one_out(learner, each, t, approximate=True)
            expected = leave_one_out(learner, each, t, approximate=False).decision_scores
        assert np.abs(found.decision_scores - expected).max() < 2e-3 * np.abs(expected).max()


def test_too_much_work(monkeypatch):
    X, y = numbers(n=30)
    monkeypatch.setattr(certified_loo, "MAX_WORK", 100)
    with pytest.raises(ValueError, match=r"4 columns and \d weights through 30 rows.*cross_valid"):
        leave_one_out(Lasso(0.01), X, y, approximate=True)


def test_kinks_that_are_far_at_first(monkeypatch):
    X, y = classes(n=80)
    expected = leave_one_out(HINGE, X, y, approximate=True)
    for first in (1, 10):
        monkeypatch.setattr(piecewise_linear_loo, "FIRST_NEAR", first)
        monkeypatch.setattr(piecewise_linear_loo, "NEAR_PER_COLUMN", 0)
        found = leave_one_out(HINGE, X, y, approximate=True)
        np.testing.assert_allclose(found.decision_scores, expected.decision_scores, atol=1e-9)
        assert found.n_refits == 0


@pytest.mark.parametrize(
    "wrong", [{"check": -1}, {"check": None}, {"max_refits": 1.5}, {"max_refits": True}]
)
def test_wrong_numbers(wrong):
    X, y = classes()
    name = next(iter(wrong))
    with pytest.raises(ValueError, match=f"{name} must be a whole number >= 0"):
        leave_one_out(LogisticRegression(), X, y, **wrong)


def test_bad_rows_are_refused():
    X, y = classes()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        leave_one_out(LogisticRegression(), X, y, approximate=True)
    X[3, 1] = 0
    with pytest.raises(ValueError, match="only one class"):
        leave_one_out(LogisticRegression(), X, np.full(60, "a"), approximate=True)


def test_the_result_as_text_and_dict():
    X, y = classes(n=60)
    found = leave_one_out(LogisticRegression(), X, y, approximate=True, check=5)
    lines = found.to_text().splitlines()
    many, again = len(found.estimated), len(found.refitted)
    assert lines[0] == (
        f"LogisticRegression, each of 60 rows left out once, {many} of them estimated from one "
        f"fit, {again} refits"
    )
    assert lines[-1].startswith("Compared with refits for 5 rows: median error ")
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["approximate"]
    assert plain["brute_force_error"]["rows"] == found.brute_force_error.rows.tolist()
    same = leave_one_out(LogisticRegression(), X, y, approximate=True, check=5)
    assert same.brute_force_error.rows.tolist() == plain["brute_force_error"]["rows"]
    assert leave_one_out(LogisticRegression(), X, y, check=5).brute_force_error is None


def test_approximate_is_yes_or_no():
    with pytest.raises(ValueError, match=r"approximate must be True, False or None\. Got 'yes'"):
        leave_one_out(LogisticRegression(), [[0.0], [1.0]], [0, 1], approximate="yes")


@pytest.mark.parametrize("approximate", [True, False])
def test_a_class_of_one_row_is_named(approximate):
    X, _ = numbers(n=20)
    y = np.where(np.arange(20) == 13, "rare", "usual")
    with pytest.raises(ValueError, match="needs at least two classes") as caught:
        leave_one_out(LogisticRegression(), X, y, approximate=approximate)
    assert any("Row 13 is the only one of class 'rare'" in note for note in caught.value.__notes__)
