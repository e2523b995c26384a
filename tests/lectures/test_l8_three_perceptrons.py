"""L8: what one perceptron cannot do, three together can: exclusive or."""

from __future__ import annotations

import numpy as np
import pytest

from separable import Perceptron

pytestmark = pytest.mark.native

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
XOR = np.array([0, 1, 1, 0])


def test_three_perceptrons_solve_exclusive_or():
    either = Perceptron().fit(X, [0, 1, 1, 1])
    both = Perceptron().fit(X, [0, 0, 0, 1])
    hidden = np.column_stack([either.predict(X), both.predict(X)])
    top = Perceptron().fit(hidden, XOR)
    assert top.evidence_["converged"]
    np.testing.assert_array_equal(top.predict(hidden), XOR)
    assert top.coef_[0, 0] > 0 > top.coef_[0, 1]  # either, and not both


def test_one_cannot():
    with pytest.warns(UserWarning, match="may not be linearly separable"):
        assert Perceptron(max_iter=100).fit(X, XOR).score(X, XOR) < 1
