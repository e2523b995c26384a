"""PolynomialEncoder: the matrix of scikit-learn's PolynomialFeatures, dense and sparse."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import estimator_checks_generator

from separable import LogisticRegression, PolynomialEncoder
from separable._core import portable

pytestmark = pytest.mark.native

DEGREES = (1, 2, 3, 4, (2, 3), (0, 2), (3, 3), (1, 1))


@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", DEGREES, ids=str)
def test_the_matrix_is_that_of_scikit_learn(degree, interaction_only, include_bias):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 5)) < 0.4, 0.0, rng.normal(size=(20, 5)))
    settings = {"interaction_only": interaction_only, "include_bias": include_bias}
    ours = PolynomialEncoder(degree, **settings)
    theirs = PolynomialFeatures(degree, **settings)
    expected = theirs.fit_transform(X)
    np.testing.assert_allclose(ours.fit_transform(X), expected, rtol=1e-14)
    assert ours.n_output_features_ == expected.shape[1]
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    names = [name.replace(" ", "*") for name in theirs.get_feature_names_out()]
    assert list(ours.feature_names) == names
    for make in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        sparse = ours.transform(make(X))
        assert sp.issparse(sparse)
        np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-14)
        assert sparse.has_sorted_indices


@given(st.integers(1, 6), st.integers(1, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_sparse_rows_give_the_dense_matrix(n, degree, interaction_only, seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((4, n)) < 0.5, 0.0, rng.integers(-3, 4, (4, n)).astype(float))
    encoder = PolynomialEncoder((1, degree), interaction_only=interaction_only).fit(X)
    dense, sparse = encoder.transform(X), encoder.transform(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.toarray(), dense)
    products = np.prod(X[:, None, :] ** encoder.powers_, axis=2)
    np.testing.assert_allclose(dense, products)


def test_columns_in_any_order_and_twice_in_a_row():
    X = sp.csr_array((np.array([3.0, 1.0, 1.0]), np.array([2, 0, 2]), np.array([0, 3])), (1, 3))
    expected = PolynomialFeatures(2, include_bias=False).fit_transform(X.toarray())
    np.testing.assert_array_equal(PolynomialEncoder().fit(X).transform(X).toarray(), expected)


def test_wide_sparse_rows_stay_sparse():
    X = sp.random_array((50, 20_000), density=3e-4, rng=np.random.default_rng(1), format="csr")
    matrix = PolynomialEncoder().fit_transform(X)
    theirs = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    assert matrix.shape == theirs.shape == (50, 20_000 + 20_000 * 20_001 // 2)
    assert abs(matrix - theirs).max() < 1e-15
    assert matrix.nnz == theirs.nnz


def test_names_and_float32():
    frame = pd.DataFrame({"age": [2.0, 3.0], "bmi": [4.0, 5.0]}, dtype=np.float32)
    encoder = PolynomialEncoder(3, interaction_only=False).fit(frame)
    assert encoder.feature_names[2:6] == ("age^2", "age*bmi", "bmi^2", "age^3")
    assert encoder.transform(frame).dtype == np.float64
    with pytest.raises(ValueError, match="column 0 is 'bmi', expected 'age'"):
        encoder.transform(frame[["bmi", "age"]])


def test_a_curve_that_no_line_separates():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (200, 2))
    y = (X**2).sum(axis=1) > 0.5
    model = make_pipeline(PolynomialEncoder(), LogisticRegression(C=100.0)).fit(X, y)
    assert model.score(X, y) > 0.98
    assert LogisticRegression(C=100.0).fit(X, y).score(X, y) < 0.75


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", (3, 2), (1, 2, 3), (-1, 2), 65])
def test_wrong_degrees(degree):
    with pytest.raises(ValueError, match="'degree' parameter of PolynomialEncoder must be"):
        PolynomialEncoder(degree).fit([[1.0]])


def test_refusals():
    wide = sp.csr_array((1, 70_000))
    with pytest.raises(
        ValueError, match="are 2450105000 features, more than the maximum of 2147483647"
    ):
        PolynomialEncoder().fit(wide)
    with pytest.raises(ValueError, match="no product of 3 different columns out of 2"):
        PolynomialEncoder((3, 3), interaction_only=True).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="overflows float64"):
        PolynomialEncoder().fit_transform([[1e200]])
    rows = portable.Rows(np.ones((1, 2)), 2)
    with pytest.raises(ValueError, match="row starts do not fit"):
        portable.polynomial_rows(rows, 1, 2, True, False, np.array([0, 4]), np.zeros(4), None)
    with pytest.raises(ValueError, match="too many products"):
        portable.polynomial_counts(10**6, 1, 60, True, False, np.array([1]), np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="too many columns"):
        portable.polynomial_counts(2, 1, 2, True, False, np.array([3]), np.zeros(1, np.int64))


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that it does not inherit from scikit-learn's base class
    CHECKS = list(estimator_checks_generator(PolynomialEncoder()))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda each: getattr(each, "func", type(each)).__name__
)
def test_scikit_learns_checks(estimator, check):
    check(clone(estimator))
