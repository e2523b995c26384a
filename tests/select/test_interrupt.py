"""Ctrl-C stops a validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from separable import LeastSquares
from separable.select import cross_validate, learning_curve, leave_one_out, nested_cross_validate
from tests.interrupts import ctrl_c

FOLD = (np.arange(2000), [3999])
CALLS = {
    "leave_one_out": lambda X, y: leave_one_out(LinearRegression(), X, y, max_refits=10**9),
    "cross_validate": lambda X, y: cross_validate(LeastSquares(), X, y, [FOLD] * 100_000),
    "learning_curve": lambda X, y: learning_curve(LeastSquares(), X, y, repeats=10**5),
    "nested_cross_validate": lambda X, y: nested_cross_validate(
        LinearRegression(), {}, X, y, cv=[FOLD] * 10**4
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_stops_each(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 50)), rng.normal(size=4000)
    with pytest.raises(KeyboardInterrupt), ctrl_c(0.2):
        CALLS[name](X, y)
