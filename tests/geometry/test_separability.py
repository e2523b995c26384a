"""Verdicts on sets whose answer is known, and on many small ones by a linear program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris

from separable.geometry import separability


def signed(X, y, fit_intercept):
    X = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    return X * np.where(np.asarray(y) == np.max(y), 1.0, -1.0)[:, None]


def kind_by_program(X, y, fit_intercept=True):
    """Maximise sum t, t <= Zu, 0 <= t <= 1: all 1, all 0, or both."""
    Z = signed(X, y, fit_intercept)
    n, d = Z.shape
    result = linprog(
        np.r_[np.zeros(d), -np.ones(n)],
        A_ub=np.hstack([-Z, np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * d + [(0, 1)] * n,
    )
    t = result.x[d:]
    return "separable" if t.min() > 0.5 else "overlap" if t.max() < 0.5 else "quasi-separable"


def small_sets(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d = int(rng.integers(3, 25)), int(rng.integers(1, 5))
        X = rng.standard_normal((n, d))
        match int(rng.integers(4)):
            case 0:
                X = rng.integers(-2, 3, (n, d)).astype(float)
            case 1:
                X = rng.integers(0, 2, (n, d)).astype(float)
            case 2:
                X = np.repeat(np.round(X, 1), 2, axis=0)
        y = (X @ rng.standard_normal(d) > 0).astype(int)
        flips = rng.integers(0, 3)
        y[rng.integers(0, len(y), flips)] ^= 1
        if 0 < y.sum() < len(y):
            yield X, y, bool(rng.random() < 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("count", [70, pytest.param(250, marks=pytest.mark.long)])
def test_agrees_with_a_linear_program(count):
    kinds = []
    for X, y, fit_intercept in small_sets(count, 0):
        verdict = separability(X, y, fit_intercept=fit_intercept)
        assert verdict.kind == kind_by_program(X, y, fit_intercept)
        assert verdict.verify(X, y)
        assert verdict.verify(X, y, exact=True)
        kinds.append(verdict.kind)
    assert {"separable", "quasi-separable", "overlap"} == set(kinds)


@pytest.mark.parametrize(
    ("inputs", "separable"), [(2, 14), pytest.param(3, 104, marks=pytest.mark.long)]
)
def test_boolean_functions(inputs, separable):
    X = np.array(list(itertools.product([0.0, 1.0], repeat=inputs)))
    functions = itertools.product([0, 1], repeat=len(X))
    result = 2  # the constants, which have one class only
    for y in functions:
        if 0 < sum(y) < len(y):
            result += separability(X, y).separable
    assert result == separable


def test_breast_cancer_is_separable_as_it_came():
    X, y = load_breast_cancer(return_X_y=True)
    verdict = separability(X, y)
    assert verdict.separable
    assert verdict.margin <= verdict.margin_bound
    assert verdict.margin >= 0.99 * verdict.margin_bound
    u = np.append(verdict.proof.weights, verdict.proof.intercept)
    assert (signed(X, y, True) @ u > 0).all()


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [(0, 1, "separable"), (0, 2, "separable"), (1, 2, "overlap")],
)
def test_iris(first, second, kind):
    X, y = load_iris(return_X_y=True)
    chosen = (y == first) | (y == second)
    assert separability(X[chosen], y[chosen]).kind == kind


def test_margin_of_two_points_is_half_their_distance():
    verdict = separability([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert verdict.margin == pytest.approx(2.5, rel=1e-12)
    assert verdict.margin_bound == pytest.approx(2.5, rel=1e-12)
    assert verdict.proof.weights[0] > 0


def test_margin_without_intercept_is_that_of_the_nearest_point_of_the_hull():
    X, y = [[1.0, 1.0], [1.0, -1.0]], [1, 1]
    X, y = [*X, [-3.0, 0.0]], [*y, 0]
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.margin == pytest.approx(1.0)
    assert verdict.proof.intercept == 0.0


@pytest.mark.parametrize("kind", ["separable", "quasi-separable", "overlap"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_and_shifts_do_not_matter(kind, unit):
    rng = np.random.default_rng(1)
    X = np.round(rng.standard_normal((60, 3)), 3)
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 0.5, -0.5)
    if kind != "separable":
        y[:30] = rng.integers(0, 2, 30)
    if kind == "quasi-separable":
        X[:, 2] = 0.0
        X[y == 1, 2] = np.arange(y.sum()) % 2
    assert separability(X, y).kind == kind
    scaled = X * [1.0, unit, 1.0]
    verdict = separability(scaled, y)
    assert verdict.kind == kind
    assert verdict.verify(scaled, y, exact=True)
    shifted = X * 1024 + 1e9  # without rounding that would make it another set
    if np.array_equal((shifted - 1e9) / 1024, X):
        assert separability(shifted, y).kind == kind


def test_far_from_the_origin():
    rng = np.random.default_rng(2)
    X = rng.integers(-50, 50, (80, 2)).astype(float)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 2, -2)
    verdict = separability(X + 1e9, y)
    assert verdict.separable
    assert verdict.verify(X + 1e9, y, exact=True)
    assert verdict.margin == pytest.approx(separability(X, y).margin, rel=1e-3)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_is_as_dense(make):
    for X, y, fit_intercept in small_sets(20, 3):
        verdict = separability(make(X), y, fit_intercept=fit_intercept)
        assert verdict.kind == separability(X, y, fit_intercept=fit_intercept).kind
        assert verdict.verify(X, y, exact=True)


def test_float32_is_read_as_it_is():
    X, y = load_iris(return_X_y=True)
    X = X[:100].astype(np.float32)
    assert separability(X, y[:100]).verify(X, y[:100], exact=True)


def test_one_hot_columns_depend_on_each_other():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, (200, 2))
    X = np.hstack([np.eye(4)[codes[:, 0]], np.eye(4)[codes[:, 1]]])
    verdict = separability(X, rng.integers(0, 2, 200))
    assert verdict.kind == "overlap"
    assert verdict.proof.rank == 7  # of 9: each code adds up to the intercept
    rare = (codes[:, 0] == 3).astype(int) | rng.integers(0, 2, 200)
    verdict = separability(X, rare, feature_names=[f"{c}{k}" for c in "ab" for k in range(4)])
    assert verdict.kind == "quasi-separable"
    assert verdict.proof.columns == ("a3",)
    assert verdict.proof.boundary.tolist() == np.flatnonzero(codes[:, 0] != 3).tolist()


def test_more_columns_than_rows_separate_unless_rows_repeat():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 60)), np.arange(20) % 2
    assert separability(X, y).separable
    X[1] = X[0]
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.proof.boundary.tolist() == [0, 1]
    assert verdict.verify(X, y, exact=True)


def test_many_rows_are_settled_by_some():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((40_000, 5))
    y = (X[:, 0] + 0.1 * rng.standard_normal(len(X)) > 0).astype(int)
    verdict = separability(X, y)
    assert verdict.kind == "overlap"
    assert len(verdict.proof.rows) < 4000
    assert verdict.verify(X, y, exact=True)
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 1e-3, -1e-3)
    verdict = separability(X, y)
    assert verdict.separable
    assert verdict.margin >= 0.99 * verdict.margin_bound


def test_many_columns_are_passed_over():
    rng = np.random.default_rng(7)
    X = sparse.random_array((2000, 4000), density=0.01, rng=rng, format="csr")
    y = (X @ rng.standard_normal(4000) > 0).astype(int)
    verdict = separability(X, y, precision=0.05)
    assert verdict.separable
    assert verdict.verify(X, y)


def test_undecided_says_why():
    X = sparse.block_diag([np.array([[1.0], [1.0]])] * 1600, format="csr")
    y = np.arange(3200) % 2
    verdict = separability(X, y)
    assert verdict.separable is None
    assert "no separating hyperplane" in verdict.reason
    assert not verdict.verify(X, y)
    assert verdict.margin_bound == np.inf


def test_text_and_dict():
    verdict = separability([[0.0], [1.0]], ["no", "yes"])
    assert "margin 0.5" in verdict.to_text()
    assert repr(verdict) == verdict.to_text()
    assert verdict.to_text().endswith("without a penalty has no finite solution")
    plain = verdict.to_dict()
    assert plain["kind"] == "separable"
    assert plain["classes"] == ["no", "yes"]
    assert plain["proof"]["weights"][0] > 0


def test_proofs_of_many_numbers_are_shown_short():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 50))
    shown = repr(separability(X, X[:, 0] > 0).proof)
    assert "margins=<200 values>" in shown
    assert len(shown) < 400
    assert "rows=[0, 1, 2, 3]" in repr(
        separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).proof
    )


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "NaN"),
        ([[1.0], [np.inf]], [0, 1], "infinity"),
        ([[1.0], [2.0]], [1, 1], "only one"),
        ([[1.0], [2.0]], [0, 1, 1], "inconsistent"),
        (np.empty((0, 2)), [], "0 sample"),
        ([[1.0], [2.0]], None, "y is None"),
    ],
)
def test_bad_input_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        separability(X, y)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        separability([[1.0], [2.0]], [0, 1], feature_names=["a", "b"])
    with pytest.raises(ValueError, match="precision"):
        separability([[1.0], [2.0]], [0, 1], precision=0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_stay_as_they_are(dtype):
    data, indices = np.arange(1, 13, dtype=dtype), np.tile([3, 0, 2], 4).astype(np.int32)
    X = sparse.csr_array((data, indices, np.arange(0, 13, 3)), shape=(4, 5))  # in no order
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    result = separability(X, [0, 1, 1, 0])
    result.verify(X, [0, 1, 1, 0], exact=True)
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)
