"""BernoulliNB: thresholds, and a model that makes its own indicators."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB as Peer

from separable import BernoulliNB, load
from tests.moments.leaving_out import refits, short_cut

pytestmark = pytest.mark.native


def test_by_hand():
    # class 0: yes in 1 of 1 rows and 0 of 1; class 1: 1 of 2 and 2 of 2; alpha = 1
    fitted = BernoulliNB().fit([[5, 0], [0.1, 3], [-2, 1]], [0, 1, 1])
    p = np.array([[2 / 3, 1 / 3], [2 / 4, 3 / 4]])
    np.testing.assert_array_equal(fitted.feature_count_, [[1, 0], [1, 2]])
    np.testing.assert_allclose(np.exp(fitted.feature_log_prob_), p)
    odds = p / (1 - p)
    np.testing.assert_allclose(fitted.coef_, [np.log(odds[1] / odds[0])])
    np.testing.assert_allclose(
        fitted.intercept_, [np.log(2) + np.log((1 - p[1]) / (1 - p[0])).sum()]
    )


@pytest.mark.parametrize("binarize", [-0.5, 0.0, 0.7])
@pytest.mark.parametrize("classes", [2, 3])
def test_thresholds(binarize, classes, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.arange(60) % classes
    ours, peer = BernoulliNB(binarize=binarize).fit(X, y), Peer().fit(X - binarize, y)
    expected = peer.predict_proba(X - binarize)
    np.testing.assert_allclose(ours.predict_proba(X), expected, rtol=1e-10)
    ours.model_.save(tmp_path / "model")
    model = load(tmp_path / "model")
    assert model.threshold == binarize
    np.testing.assert_array_equal(model.predict_proba(X), ours.predict_proba(X))
    values = model.explain(X).contributions(model.classes[-1]).values
    assert (values[~np.greater(X, binarize)] == 0).all()
    if binarize < 0:
        for act in (ours.predict, BernoulliNB(binarize=binarize).fit):
            with pytest.raises(
                ValueError, match="negative, so every implicit zero of a sparse matrix"
            ):
                act(*((sp.csr_array(X), y)[: 1 + (act != ours.predict)]))
    else:
        sparse = BernoulliNB(binarize=binarize).fit(sp.csr_array(X), y)
        np.testing.assert_array_equal(sparse.coef_, ours.coef_)
        np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), ours.predict_proba(X))


def test_values_as_they_are():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 4)).round(1), np.arange(40) % 2
    ours, peer = (make(binarize=None).fit(X, y) for make in (BernoulliNB, Peer))
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-9)
    assert ours.model_.threshold is None
    X[7, 2] = 1.5
    with pytest.raises(ValueError, match=r"Values above 1 .* row 7, column 2 .* binarize=0\.0"):
        BernoulliNB(binarize=None).fit(X, y)
    X[7, 2] = -0.5
    with pytest.raises(ValueError, match=r"Negative values .* row 7, column 2"):
        BernoulliNB(binarize=None).fit(X, y)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in row 7, column 2"):
        BernoulliNB(binarize=None).fit(X, y)
    with pytest.raises(ValueError, match="'binarize' parameter of BernoulliNB must be None or a"):
        BernoulliNB(binarize=np.inf).fit(X, y)


def test_leaving_out_values_between_0_and_1():
    rng = np.random.default_rng(1)
    X, y = rng.random((20, 4)).round(1), np.arange(20) % 2
    learner = BernoulliNB(binarize=None)
    np.testing.assert_allclose(short_cut(learner, X, y), refits(learner, X, y), rtol=0, atol=1e-10)


def test_columns_that_all_or_none_have():
    X = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]])
    fitted = BernoulliNB(alpha=1e-9).fit(X, [0, 0, 1, 1])
    assert np.isfinite(fitted.coef_).all()
    np.testing.assert_allclose(fitted.coef_[0, :2], 0, atol=1e-12)
