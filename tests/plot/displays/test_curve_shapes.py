"""Pictures of curves show the contributions that explanations have."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LogisticRegression, Ridge, TableClassifier, TableEncoder, TableRegressor
from separable.plot import CurvesDisplay

pytestmark = pytest.mark.native

rng = np.random.default_rng(0)
TABLE = {"age": rng.uniform(18, 90, 300), "pay": rng.exponential(9.0, 300), "c": ["a", "b"] * 150}
Y = np.abs(TABLE["age"] - 45) + 0.1 * TABLE["pay"]


def regressor(curves: bool = True):
    return TableRegressor(Ridge(alpha=0.1), TableEncoder(curves=curves)).fit(TABLE, Y)


def test_values_are_contributions_with_mean_0():
    model = regressor()
    display = CurvesDisplay.from_estimator(model)
    assert display.names == ["age", "pay"]  # the larger effect first
    records = [{"age": age, "pay": 5.0, "c": "a"} for age in display.knots[0].tolist()]
    predicted = model.predict(records)
    np.testing.assert_allclose(
        display.values[0][0] - display.values[0][0, 0], predicted - predicted[0], atol=1e-9
    )
    assert float(display.values[0][0] @ display.rows[0]) == pytest.approx(0, abs=1e-6)
    assert display.rows[0].sum() == pytest.approx(300)


def test_each_class_has_a_curve():
    y = np.array(["low", "mid", "high"])[np.digitize(TABLE["age"], [40, 60])]
    learner = TableClassifier(LogisticRegression(), TableEncoder(curves=True)).fit(TABLE, y)
    display = CurvesDisplay.from_estimator(learner, columns=["age"])
    assert display.labels == ["high", "low", "mid"]
    assert display.values[0].shape[0] == 3
    assert len(display.ax_.lines) == 4  # and the line at 0


@pytest.mark.parametrize(
    ("curves", "columns", "word"), [(False, None, "no curves"), (True, ["c"], "'c'")]
)
def test_without_a_curve_it_says_what_to_do(curves, columns, word):
    with pytest.raises(ValueError, match=f"{word}.*TableEncoder"):
        CurvesDisplay.from_estimator(regressor(curves), columns=columns)
