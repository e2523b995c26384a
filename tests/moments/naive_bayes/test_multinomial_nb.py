"""MultinomialNB by hand, and as a linear model; what all share is in test_naive_bayes.py."""

from __future__ import annotations

import numpy as np
import pytest

from separable import MultinomialNB

pytestmark = pytest.mark.native


def test_by_hand():
    # class 0 has 3, 1 of 4 and weight 1; class 1 has 1, 4 of 5 and weight 3; alpha = 1
    fitted = MultinomialNB().fit([[3, 1], [1, 0], [0, 1]], [0, 1, 1], sample_weight=[1, 1, 4])
    np.testing.assert_array_equal(fitted.class_count_, [1, 5])
    np.testing.assert_array_equal(fitted.feature_count_, [[3, 1], [1, 4]])
    np.testing.assert_allclose(np.exp(fitted.feature_log_prob_), [[4 / 6, 2 / 6], [2 / 7, 5 / 7]])
    np.testing.assert_allclose(np.exp(fitted.class_log_prior_), [1 / 6, 5 / 6])
    np.testing.assert_allclose(fitted.coef_, np.log([[12 / 28, 30 / 14]]))
    np.testing.assert_allclose(fitted.intercept_, [np.log(5)])


def test_several_classes_have_a_row_of_weights_each():
    fitted = MultinomialNB().fit(np.eye(3), ["a", "b", "c"])
    told = fitted.feature_log_prob_
    np.testing.assert_allclose(fitted.coef_, told - told.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(fitted.intercept_, 0, atol=1e-15)
    for label, column in zip("abc", range(3), strict=True):  # each column speaks for its class
        assert fitted.predict(np.eye(3)[[column]]).tolist() == [label]
        assert (fitted.coef_[:, column] > 0).tolist() == [k == column for k in range(3)]


def test_rows_of_nothing():
    fitted = MultinomialNB().fit([[0, 0], [0, 0], [1, 0]], [0, 1, 1])
    np.testing.assert_allclose(fitted.predict_proba([[0, 0]]), [[1 / 3, 2 / 3]])
