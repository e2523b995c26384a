"""Ridge against rational arithmetic, scikit-learn and refits; leave-one-out of least squares."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge as PeerRidge

import separable
from separable import BayesianRegression, LeastSquares, Ridge, RidgeCV
from separable.model.parameters import ParameterError
from separable.moments.regression.rank_warning import DependentColumns, RankWarning
from tests.data_files import data_file
from tests.moments.leaving_out import refits, short_cut
from tests.reference import ridge as reference

pytestmark = pytest.mark.native


def problem(n=60, d=4, seed=0, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, d) + rng.normal(size=d)
    shape = (d,) if targets is None else (d, targets)
    return X, X @ rng.normal(size=shape) + rng.normal(size=(n, *shape[1:])) + 3


@given(
    seed=st.integers(0, 10_000),
    exponent=st.integers(-12, 6),
    intercept=st.booleans(),
    weighted=st.booleans(),
    wide=st.booleans(),
)
def test_equals_exact_rational_arithmetic(seed, exponent, intercept, weighted, wide):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X, y = problem(n, n + d, seed) if wide else problem(n + d, d, seed)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    w, b = reference.exact_ridge(X, y, 10.0**exponent, weight, intercept)
    learner = Ridge(10.0**exponent, intercept).fit(X, y, weight)
    scale = np.abs(w).max()
    np.testing.assert_allclose(learner.coef_, w, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(learner.intercept_, [b], rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("alpha", [1e-24, 1e-18, 1e-12, 1e-8, 1e-3])
@pytest.mark.parametrize("sparse", [False, True])
def test_tiny_penalties_of_nearly_dependent_columns(alpha, sparse):
    # a column of noise 1e-6 off another: products have condition number 1e12, and 1e16 in raw units
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4)) * [1.0, 1.0, 100.0, 1.0]
    X[:, 3] = X[:, 0] + 1e-6 * rng.normal(size=30)
    y = X @ [1.0, 2.0, 3.0, 4.0] + 0.1 * rng.normal(size=30)
    w, b = reference.exact_ridge(X, y, alpha)
    learner = Ridge(alpha).fit(csr_array(X) if sparse else X, y)
    np.testing.assert_allclose(learner.coef_, w, rtol=1e-10)
    np.testing.assert_allclose(learner.intercept_, [b], rtol=1e-8)
    assert learner.evidence_["digits"] > 10


@pytest.mark.parametrize("alpha", [1e-30, 1e-10, 1e-2])
def test_a_column_that_stands_twice_shares_its_weight(alpha):
    X, y = problem(40, 3)
    twice = np.column_stack([X, X[:, 0]])
    learner = Ridge(alpha).fit(twice, y)  # no warning: the penalty makes the weights unique
    assert learner.coef_[0] == pytest.approx(learner.coef_[3], rel=1e-7)
    halved = X * [np.sqrt(2), 1, 1]  # one column of sqrt(2) x is the same penalty
    expected = Ridge(alpha).fit(halved, y)
    np.testing.assert_allclose(learner.predict(twice), expected.predict(halved), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("shape", [(60, 4), (12, 30)])
def test_equals_scikit_learn(dtype, sparse, targets, shape):
    X, y = problem(*shape, targets=targets)
    X = X.astype(dtype)
    learner = Ridge(2.5).fit(csr_array(X) if sparse else X, y)
    peer = PeerRidge(2.5, solver="svd").fit(X.astype(np.float64), y)
    np.testing.assert_allclose(learner.coef_, peer.coef_, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(np.squeeze(learner.intercept_), peer.intercept_, rtol=1e-8)
    left = ((y - peer.predict(X.astype(np.float64))) ** 2).sum(axis=0)
    np.testing.assert_allclose(learner.evidence_["residual_squares"], left, rtol=1e-7)


def test_without_penalty_it_is_least_squares_with_its_warnings():
    X, y = problem(40, 3)
    ours, expected = Ridge(0).fit(X, y), LeastSquares().fit(X, y)
    np.testing.assert_array_equal(ours.coef_, expected.coef_)
    assert ours.evidence_ == expected.evidence_
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.warns(DependentColumns, match="column 2 is a linear combination of"):
        Ridge(0).fit(X, y)
    with pytest.warns(RankWarning, match="40 columns and 3 rows"):
        Ridge(0).fit(X.T, np.arange(3.0))


def test_a_constant_column_gets_no_weight_and_no_warning():
    X, y = problem(40, 3)
    learner = Ridge(1.0).fit(np.column_stack([X, np.full(40, 1e6)]), y)
    np.testing.assert_allclose(learner.coef_, [*Ridge(1.0).fit(X, y).coef_, 0.0], rtol=1e-10)


def test_streams_merges_and_files_are_one_fit(tmp_path):
    X, y = problem(200)
    whole = Ridge(3.0).fit(X, y)
    stream = Ridge(3.0).partial_fit(X[:70], y[:70]).partial_fit(X[70:], y[70:])
    merged = Ridge(3.0).fit(X[:90], y[:90]).merge(Ridge(3.0).fit(csr_array(X[90:]), y[90:]))
    whole.model_.save(tmp_path / "ridge.st", include_state=True)
    resumed = Ridge.from_model(separable.load(tmp_path / "ridge.st"))
    for other in (stream, merged, resumed):
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-11)
    resumed.partial_fit(X[:5], y[:5])
    again = Ridge(3.0).fit(np.vstack([X, X[:5]]), np.concatenate([y, y[:5]]))
    np.testing.assert_allclose(resumed.coef_, again.coef_, rtol=1e-11)
    terms = whole.model_.explain(X[:3])
    assert terms.to_dict()
    with pytest.raises(ValueError, match=r"differs in alpha: 4\.0, the first has 3\.0"):
        whole.merge(Ridge(4.0).fit(X, y))


def test_a_stream_may_have_fewer_rows_than_columns():
    X, y = problem(10, 30)
    stream = Ridge(0.5).partial_fit(X, y)
    np.testing.assert_allclose(stream.coef_, Ridge(0.5).fit(X, y).coef_, rtol=1e-8, atol=1e-12)
    with pytest.raises(ValueError, match="fewer rows than features"):
        Ridge(0.5).fit(X, y).partial_fit(X, y)


def test_sums_that_lack_the_digits_are_refused_with_the_remedy():
    X, y = problem(40, 3)
    X[:, 2] = X[:, 0] + 1e-7 * np.random.default_rng(0).normal(size=40)
    for alpha in (1e-16, 1e-10):
        stream = Ridge(alpha).partial_fit(X, y)
        with pytest.raises(ValueError, match=r"no correct digits.*Call fit.*larger alpha"):
            stream.coef_  # noqa: B018
    Ridge(1e-16).fit(X, y)
    Ridge(1e-3).partial_fit(X, y).coef_  # noqa: B018


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("sparse", [False, True])
def test_extreme_columns(size, sparse):
    X, y = problem(40, 3)
    X[:, 1] *= size
    learner = Ridge(1.0).fit(csr_array(X) if sparse else X, y)
    assert np.isfinite(learner.coef_).all()
    if size < 1:  # so short a column has nothing to say beside the penalty
        expected = Ridge(1.0).fit(X[:, [0, 2]], y).predict(X[:, [0, 2]])
        np.testing.assert_allclose(learner.predict(X), expected, rtol=1e-9)
    else:  # so long a column is not penalised
        long = X / [1, size, 1] * [1, 1e8, 1]
        np.testing.assert_allclose(
            learner.predict(X), Ridge(1.0).fit(long, y).predict(long), rtol=1e-9
        )


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_targets(size):
    X, y = problem(40, 3)
    expected = Ridge(1.0).fit(X, y).coef_
    np.testing.assert_allclose(Ridge(1.0).fit(X, y * size).coef_ / size, expected, rtol=1e-9)


def test_extreme_rows_of_wide_problems_are_refused_by_name():
    X, y = problem(5, 9)
    with pytest.raises(ValueError, match=r"Products of rows overflow float64.*Scale"):
        Ridge().fit(X * 1e200, y)
    assert np.abs(Ridge().fit(X * 1e-200, y).coef_).max() < 1e-150


def test_products_of_rows_that_do_not_fit_are_refused_before(monkeypatch):
    X, y = problem(50, 90)
    monkeypatch.setattr("separable.data.resources.UNCHECKED_BYTES", 0)
    monkeypatch.setattr("separable.data.resources.available_bytes", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"products of all 50 rows.*Instead, use SGDRegressor"):
        Ridge().fit(X, y)


def test_bad_parameters_and_data_are_named():
    X, y = problem(10, 2)
    with pytest.raises(ParameterError, match=r"'alpha' parameter of Ridge must be .*>= 0. Got -1"):
        Ridge(-1).fit(X, y)
    with pytest.raises(ParameterError, match="'alpha' parameter of Ridge"):
        Ridge(np.nan).fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 3"):
        Ridge().fit(X, y)
    with pytest.raises(ValueError, match=r"NaN.*row 3"):
        Ridge().fit(X[:, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], y)


def test_rows_of_weight_zero_are_absent_and_weights_are_repetitions():
    X, y = problem(12, 3)
    weight = np.array([0.0, 1, 2, 3] * 3)
    learner = Ridge(0.7).fit(X, y, weight)
    repeated = np.repeat(np.arange(12), weight.astype(int))
    expected = Ridge(0.7).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(learner.coef_, expected.coef_, rtol=1e-12)
    wide = problem(12, 40)[0]
    learner, expected = Ridge(0.7).fit(wide, y, weight), Ridge(0.7).fit(wide[repeated], y[repeated])
    np.testing.assert_allclose(learner.coef_, expected.coef_, rtol=1e-9)


# ------------------------------------------------------------------ leave-one-out


LEARNERS = [
    LeastSquares(),
    LeastSquares(fit_intercept=False),
    Ridge(1e-9),
    Ridge(0.5),
    Ridge(0.5, fit_intercept=False),
    BayesianRegression(2.0, 3.0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("shape", [(40, 3), (7, 5), (6, 5), (5, 5), (4, 5), (9, 20)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_left_out_scores_equal_refits(learner, shape, weighted, sparse):
    X, y = problem(*shape, seed=5)
    weight = np.arange(len(y)) % 3 + 0.5 if weighted else None
    if weighted and len(y) > 8:
        weight[4] = 0.0  # absent from every fit
    expected = refits(learner, X, y, weight)
    found = short_cut(learner, csr_array(X) if sparse else X, y, weight)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_left_out_scores_equal_the_formula():
    X, y = problem(30, 4)
    weight = np.arange(30) % 4 + 0.25
    for intercept in (True, False):
        expected = reference.left_out(X, y, 0.3, weight, intercept)
        found = short_cut(Ridge(0.3, intercept), X, y, weight)
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("learner", [LeastSquares(), Ridge(1e-3)], ids=repr)
def test_left_out_scores_of_several_targets_and_dependent_columns(learner):
    X, y = problem(25, 3, targets=2)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(25, 4.0)])
    found, expected = short_cut(learner, X, y), refits(learner, X, y)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_a_row_that_alone_fills_a_column_is_refitted():
    X, y = problem(20, 3)
    X = np.column_stack([X, np.eye(20)[7]])  # its leverage is 1
    found, expected = short_cut(LeastSquares(), X, y), refits(LeastSquares(), X, y)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-8)


def test_sparse_columns_far_from_0_keep_their_digits():
    X, y = problem(30, 3)
    X[:, 1] += 1e7
    found, expected = short_cut(Ridge(0.1), csr_array(X), y), refits(Ridge(0.1), X, y)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-7)


def test_sparse_columns_far_from_0_keep_their_digits_with_fewer_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)) + 1e9, rng.normal(size=20)
    expected = short_cut(Ridge(), X - 1e9, y)
    np.testing.assert_allclose(short_cut(Ridge(), csr_array(X), y), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.RankWarning")
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("learner", [LeastSquares(), Ridge(1e-8)])
@pytest.mark.parametrize("shift", [1e3, 1e6])
def test_fewer_rows_than_columns_far_from_0(form, learner, shift):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(25, 60)) + shift, rng.normal(size=(5, 60)) + shift
    y = rng.normal(size=25)
    expected = learner.fit(X - shift, y).predict(new - shift)  # these differences are exact
    np.testing.assert_allclose(learner.fit(form(X), y).predict(new), expected, atol=shift * 1e-14)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_equal_rows_with_other_targets_leave_no_rounding(form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 32)) + 1e6, rng.normal(size=16)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[3] = X[0]
    once = np.delete(X, 3, axis=0), np.delete(np.where(np.arange(16) == 0, (y[0] + y[3]) / 2, y), 3)
    weight = np.where(np.arange(15) == 0, 2.0, 1.0)  # the same problem without the equal rows
    expected = Ridge(0.1).fit(*once, sample_weight=weight).coef_
    found = Ridge(0.1).fit(form(X), y).coef_
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def test_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="needs at least two rows"):
        short_cut(Ridge(), np.ones((3, 1)), np.ones(3), np.array([0, 1, 0]))


# ------------------------------------------------------------------ a book's figures


def prostate():
    lines = data_file("esl-prostate", "prostate.data").read_text().splitlines()
    table = np.array([line.split("\t") for line in lines[1:]])
    X, y = table[:, 1:9].astype(float), table[:, 9].astype(float)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y, table[:, 10] == "T"


def test_prostate_figures_of_the_elements_of_statistical_learning():
    X, y, train = prostate()
    least = LeastSquares().fit(X[train], y[train])
    expected = [0.680, 0.263, -0.141, 0.210, 0.305, -0.288, -0.021, 0.267]
    np.testing.assert_allclose(least.coef_, expected, atol=1e-3)
    assert least.intercept_ == pytest.approx(2.465, abs=1e-3)
    # Table 3.3's ridge has 5 effective degrees of freedom: sum s / (s + alpha) = 5.0
    Z = X[train] - X[train].mean(axis=0)
    s = np.linalg.svd(Z, compute_uv=False) ** 2
    low, high = 0.0, 1e4
    for _ in range(100):
        alpha = (low + high) / 2
        low, high = (alpha, high) if (s / (s + alpha)).sum() > 5 else (low, alpha)
    shrunk = Ridge(alpha).fit(X[train], y[train])
    error = ((shrunk.predict(X[~train]) - y[~train]) ** 2).mean()
    assert error == pytest.approx(0.492, abs=2e-3)
    expected = [0.420, 0.238, -0.046, 0.162, 0.227, 0.000, 0.040, 0.133]
    np.testing.assert_allclose(shrunk.coef_, expected, atol=2.5e-3)


@pytest.mark.parametrize("make", [Ridge, RidgeCV, LeastSquares])
@pytest.mark.parametrize("shape", [(40, 3), (6, 10)])
def test_several_targets_are_fits_of_their_own(make, shape):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=shape), rng.normal(size=(shape[0], 2))
    options = {"alphas": [0.7]} if make is RidgeCV else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that rows do not determine, and of grids
        both = make(**options).fit(X, Y)
        each = [make(**options).fit(X, y) for y in Y.T]
    assert both.coef_.shape == (2, shape[1])
    np.testing.assert_allclose(both.coef_, [one.coef_ for one in each], rtol=1e-9, atol=1e-11)
    expected = np.column_stack([one.predict(X) for one in each])
    np.testing.assert_allclose(both.predict(X), expected, rtol=1e-9, atol=1e-11)
    if make is not LeastSquares:
        alpha = 0.7 if make is RidgeCV else 1.0
        A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
        formula = np.linalg.solve(A.T @ A + alpha * np.eye(shape[1]), A.T @ B).T
        np.testing.assert_allclose(both.coef_, formula, rtol=1e-8, atol=1e-10)
