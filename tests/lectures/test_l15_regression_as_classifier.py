"""L15: classification by regression, and how it fails."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LDA, LeastSquaresClassifier, Perceptron

pytestmark = pytest.mark.native


def test_by_hand():
    # x = 0, 1, 2, 3 with y = -1, -1, 1, 1: mean of x 3/2, of y 0, sum (x - 3/2) y = 4,
    # sum (x - 3/2)^2 = 5, so w = 4/5 and b = -6/5
    fitted = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    np.testing.assert_allclose(fitted.coef_, [[0.8]], rtol=1e-14)
    np.testing.assert_allclose(fitted.intercept_, [-1.2], rtol=1e-14)
    assert fitted.predict([[1.4], [1.6]]).tolist() == [-1, 1]


def test_rows_far_on_their_own_side_spoil_the_boundary():
    X, y = np.arange(10.0)[:, None], np.repeat([-1, 1], 5)
    fitted = LeastSquaresClassifier().fit(X, y)
    assert -fitted.intercept_[0] / fitted.coef_[0, 0] == pytest.approx(4.5)
    assert fitted.score(X, y) == 1
    far = np.array([[30.0], [35.0], [40.0], [45.0], [50.0]])  # clearly of class 1
    assert fitted.predict(far).tolist() == [1] * 5  # and right already, ...
    assert np.abs(fitted.decision_function(far) - 1).max() > 12  # ... with large residuals
    X, y = np.vstack([X, far]), np.append(y, [1] * 5)
    fitted = LeastSquaresClassifier().fit(X, y)
    assert -fitted.intercept_[0] / fitted.coef_[0, 0] == pytest.approx(5.79, abs=0.005)
    assert X[fitted.predict(X) != y].tolist() == [[5.0]]
    # what only asks for the side has no such trouble
    assert Perceptron(max_iter=10_000).fit(X, y).score(X, y) == 1


def test_a_class_in_the_middle_is_masked():
    X = np.array([-5, -4, -3, -2.5, -1, -0.5, 0.5, 1, 2.5, 3, 4, 5])[:, None]
    y = np.repeat([0, 1, 2], 4)
    regression, lda = LeastSquaresClassifier().fit(X, y), LDA().fit(X, y)
    assert set(regression.predict(X)) == {0, 2}
    np.testing.assert_allclose(regression.coef_[1], 0, atol=1e-15)  # its score is the same for all
    assert lda.score(X, y) == 1
