"""What adaptive steps promise: units, zeros, formats and lanes do not matter.

Tolerances are those that docs/learners/sgd_classifier.md states.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separable import SGDClassifier, SGDRegressor
from separable.online.base_sgd import LOSSES
from tests.online.problems import FORMATS

pytestmark = [
    pytest.mark.native,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # one set of options, all modes
]

REGRESSION = [name for name, traits in LOSSES.items() if not traits.classes_only]
TWICE = {"max_iter": 2, "tol": None}
N, D = 300, 8


def mixed_columns(classes=2):
    """Return columns that all rows have, some, few, and labels that depend on all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    X[:, 3:6] *= rng.random((N, 3)) < [0.05, 0.3, 0.7]
    X[:, 6:] = rng.random((N, 2)) < [0.05, 0.4]
    scores = X @ rng.normal(size=(D, classes - 1)) + 0.3 * rng.normal(size=(N, classes - 1))
    return X, (scores > 0).sum(axis=1)


def scores_of(loss, X, y, **settings):
    return SGDClassifier(loss, **TWICE, **settings).fit(X, y).decision_function(X)


@pytest.mark.parametrize("factor", [1e6, 1e-6, 1e30, 1e-30, -3.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", LOSSES)
def test_scale_of_a_column_does_not_matter(loss, dtype, factor):
    X, y = mixed_columns()
    X = X.astype(dtype)
    base = scores_of(loss, X, y)
    for j in range(D):
        other = X.copy()
        other[:, j] *= dtype(factor)
        scores = scores_of(loss, other, y)
        tolerance = 1e-9 if dtype == np.float64 else 1e-4
        assert np.abs(scores - base).max() <= tolerance * np.abs(base).max()


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_powers_of_two_change_no_bit(loss, average):
    X, y = mixed_columns()
    factor = 2.0 ** np.array([90, -90, 1, -1, 300, -300, 17, 0])
    base = SGDClassifier(loss, average=average, **TWICE).fit(X, y)
    other = SGDClassifier(loss, average=average, **TWICE).fit(X * factor, y)
    np.testing.assert_array_equal(other.coef_ * factor, base.coef_)
    np.testing.assert_array_equal(other.intercept_, base.intercept_)


def probabilities(X, y, epochs=1):
    learner = SGDClassifier("log_loss", max_iter=epochs, tol=None)
    return learner.fit(X, y).predict_proba(X)[:, 1]


@pytest.mark.parametrize("epochs", [1, 10])
@pytest.mark.parametrize("shift", [1.0, -1e3])
def test_shift_of_a_column_that_most_rows_have_does_not_matter(shift, epochs):
    X, y = mixed_columns()
    base = probabilities(X, y, epochs)
    for j in (0, 1, 2, 5):  # 5: seven rows of ten have it
        other = X.copy()
        other[:, j] += shift
        np.testing.assert_allclose(probabilities(other, y, epochs), base, rtol=0, atol=1e-9)


def test_shift_of_a_rare_column_matters_little():
    """Shifted it is dense, and centred: another way to the same optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    X[:, 3:] = rng.random((2000, 3)) < 0.05
    y = (X @ [1, -1, 0.5, 1, -1, 0.5] + 0.5 * rng.logistic(size=2000) > 0).astype(int)
    other = X.copy()
    other[:, 3] += 1e3
    difference = np.abs(probabilities(other, y) - probabilities(X, y))
    assert difference.max() > 1e-6  # the two are not the same, so the page must not say so
    assert difference.mean() < 0.02
    assert np.quantile(difference, 0.95) < 0.05
    settled = np.abs(probabilities(other, y, 30) - probabilities(X, y, 30))
    assert settled.mean() < 0.005


@pytest.mark.parametrize("loss", REGRESSION)
def test_units_and_zero_of_the_numbers_do_not_matter(loss):
    X, _ = mixed_columns()
    y = X @ np.arange(D) + np.random.default_rng(1).normal(size=N)
    base = SGDRegressor(loss, epsilon=0.5, **TWICE).fit(X, y).predict(X)
    size = np.abs(base).max()
    for factor in (1e6, 1e-6):
        other = SGDRegressor(loss, epsilon=0.5 * factor, **TWICE).fit(X, factor * y).predict(X)
        np.testing.assert_allclose(other / factor, base, rtol=0, atol=1e-9 * size)
    other = SGDRegressor(loss, epsilon=0.5, **TWICE).fit(X, y + 1e3).predict(X)
    np.testing.assert_allclose(other - 1e3, base, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3])
def test_formats_and_types_agree(form, dtype, classes):
    X, y = mixed_columns(classes)
    settings = {"penalty": "elasticnet", "alpha": 1e-3, **TWICE}
    base = SGDClassifier("log_loss", **settings).fit(X, y)
    other = SGDClassifier("log_loss", **settings).fit(FORMATS[form](X.astype(dtype)), y)
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(other.coef_, base.coef_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(other.intercept_, base.intercept_, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "settings", [{}, {"penalty": "l2"}, {"penalty": "l1"}, {"average": True}], ids=str
)
@pytest.mark.parametrize("classes", [3, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_model_alone_has_the_bits_of_its_lane(dtype, classes, settings):
    X, y = mixed_columns(classes)
    y = np.where(np.arange(N) < classes, np.arange(N), y)  # every class is there
    X = X.astype(dtype)
    lanes = SGDClassifier("log_loss", **settings, **TWICE).fit(X, y)
    for k in range(classes):
        alone = SGDClassifier("log_loss", **settings, **TWICE).fit(X, (y == k).astype(int))
        np.testing.assert_array_equal(lanes.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(lanes.intercept_[k], alone.intercept_[0])


def test_columns_that_stand_twice_in_a_row_are_added_up():
    index = np.array([2, 0, 2, 1, 1, 2, 0, 0, 1], dtype=np.int32)
    value = np.array([1.0, 2.0, 3.0, 1.0, -1.0, 5.0, 0.5, 0.25, 7.0])
    rows = sp.csr_array((value, index, np.array([0, 3, 6, 9], dtype=np.int32)), shape=(3, 3))
    assert not rows.has_canonical_format
    dense, y = rows.toarray(), [0, 1, 1]
    assert dense.tolist() == [[2, 0, 4], [0, 0, 5], [0.75, 7, 0]]
    twice, once = (SGDClassifier("log_loss", **TWICE).fit(X, y) for X in (rows, dense))
    np.testing.assert_allclose(twice.coef_, once.coef_, rtol=1e-14)
    np.testing.assert_allclose(twice.intercept_, once.intercept_, rtol=1e-14)
