"""Regression as a classifier: far points on their right side pull the boundary."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LogisticRegression
from separable.plot import RegressionAsClassifierDisplay
from tests.plot.clouds import texts_of

pytestmark = pytest.mark.native


def least_squares(X, y):
    ones = np.column_stack([X, np.ones(len(X))])
    return np.linalg.lstsq(ones, np.where(y == "right", 1.0, -1.0), rcond=None)[0]


def test_boundaries_are_those_of_both_fits():
    display = RegressionAsClassifierDisplay.from_example()
    parts = [~display.far, np.ones(len(display.far), dtype=bool)]
    for part, line, smooth, ax in zip(
        parts,
        display.models["least squares"],
        display.models["logistic regression"],
        display.axes_,
        strict=True,
    ):
        X, y = display.X[part], display.y[part]
        w = least_squares(X, y)
        np.testing.assert_allclose([*line.coef_[0], line.intercept_[0]], w)
        other = LogisticRegression().fit(X, y)
        np.testing.assert_array_equal(smooth.coef_, other.coef_)
        ends = [np.column_stack(each.get_data()) for each in ax.lines[-2:]]
        np.testing.assert_allclose(ends[0] @ w[:2] + w[2], 0, atol=1e-9)
        scores = other.decision_function(ends[1])
        np.testing.assert_allclose(scores, 0, atol=1e-9)


def test_only_least_squares_is_pulled():
    display = RegressionAsClassifierDisplay.from_example()
    assert display.wrong("least squares") == [1, 12]
    assert display.wrong("logistic regression") == [1, 1]
    # no far point is a mistake of either, before or after
    far, y = display.X[display.far], display.y[display.far]
    for models in display.models.values():
        for model in models:
            assert (model.predict(far) == y).all()
    assert any("least squares: 12 of 145 wrong" in text for text in texts_of(display))


@pytest.mark.parametrize("far", [np.zeros(4, dtype=bool), [True, False], [1, 0, 0, 0]])
def test_refusals(far):
    X, y = np.array([[0.0, 0], [0, 1], [2, 2], [3, 2]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match="far must say of each of the 4 rows"):
        RegressionAsClassifierDisplay.from_data(X, y, far)
