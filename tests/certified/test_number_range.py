"""Numbers that float64 cannot work with are refused, with their place and a remedy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable import Lasso, LinearSVR, LogisticRegression
from separable.certified.number_range import check_weights, inverse_scales

X = np.random.default_rng(0).normal(size=(20, 3))
Y = X[:, 0] + 0.5


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_cell_is_named_by_row_and_column(form):
    rows = X.copy()
    rows[7, 2] = -1.5e308
    with pytest.raises(ValueError, match=r"holds -1.5e\+308 in row 7, column 2: .*Divide the col"):
        LogisticRegression().fit(form(rows), Y > 0.5)


@pytest.mark.parametrize(
    ("learner", "size", "message"),
    [
        (LinearSVR(), 1.5e308, r"holds 1.5e\+308 in row 4: sums of numbers above"),
        (Lasso(0.1), 1e200, r"holds 1e\+200 in row 4: squares of numbers above"),
    ],
)
def test_a_large_number_to_predict_is_named(learner, size, message):
    y = Y.copy()
    y[4] = size
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)


def test_small_numbers_to_predict_are_refused():
    with pytest.raises(ValueError, match=r"is at most .* squares of numbers below .*Divide y"):
        Lasso(0.1).fit(X, Y * 1e-200)


def test_weights_and_scales():
    with pytest.raises(ValueError, match="at most 1e-305: their products vanish"):
        check_weights(np.array([1e-305, 1e-306]))
    check_weights(np.array([1e-305, 1.0]))
    with pytest.raises(ValueError, match="deviation of column 1 of X is 1e-305, and its"):
        inverse_scales(np.array([2.0, 1e-305, 0.0]))
    with pytest.raises(ValueError, match="deviation of column 0 of X is inf, and its"):
        inverse_scales(np.array([np.inf, 1.0]))
