"""ComplementNB: the sign of its weights, and the rule for a single class."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import ComplementNB as Peer

from separable import ComplementNB

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # priors of complement naive Bayes
]


def test_by_hand():
    # outside class a: 1, 3 of 4; outside b: 2, 0 of 2; alpha = 1
    fitted = ComplementNB().fit([[2, 0], [1, 3]], ["a", "b"])
    q = np.array([[2 / 6, 4 / 6], [3 / 4, 1 / 4]])
    np.testing.assert_allclose(fitted.feature_log_prob_, -np.log(q))
    np.testing.assert_allclose(fitted.coef_, [-np.log(q[1]) + np.log(q[0])])
    assert fitted.intercept_.tolist() == [0.0]  # priors play no part
    assert fitted.predict([[1, 0], [0, 1]]).tolist() == ["a", "b"]
    np.testing.assert_array_equal(fitted.feature_all_, [3, 3])


def test_of_a_single_class_the_prior_counts_as_scikit_learn_has_it():
    X = np.array([[1.0, 2.0], [0.0, 1.0]])
    ours, peer = ComplementNB().partial_fit(X, ["a", "a"]), Peer().fit(X, ["a", "a"])
    np.testing.assert_allclose(ours.intercept_, peer.class_log_prior_)
    np.testing.assert_allclose(ours.coef_, peer.feature_log_prob_)
    given = ComplementNB(class_prior=[0.25]).partial_fit(X, ["a", "a"])
    np.testing.assert_allclose(given.intercept_, np.log([0.25]))


def test_weights_of_a_single_column_are_0():
    fitted = ComplementNB(norm=True).fit([[1.0], [2.0]], [0, 1])
    assert fitted.coef_.tolist() == [[0.0]]
    with pytest.raises(ValueError, match="'norm' parameter of ComplementNB must be a bool"):
        ComplementNB(norm=1).fit([[1.0], [2.0]], [0, 1])
