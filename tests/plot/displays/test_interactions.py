"""Heat maps of interactions show the contributions that explanations have."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LogisticRegression, Ridge, TableClassifier, TableEncoder, TableRegressor
from separable.plot import InteractionsDisplay

pytestmark = pytest.mark.native

rng = np.random.default_rng(0)
TABLE = {
    "age": rng.uniform(18, 90, 400),
    "pay": rng.exponential(9.0, 400),
    "city": rng.choice(["Oslo", "Rome", "Bern"], 400).tolist(),
    "open": (rng.random(400) < 0.5).tolist(),
}
PAIRS = [("age", "pay"), ("age", "city"), ("open", "city")]
Y = TABLE["age"] * np.log(TABLE["pay"]) + 9 * np.array([len(c) for c in TABLE["city"]])


def regressor(interactions=PAIRS):
    encoder = TableEncoder(curves=True, interactions=interactions)
    return TableRegressor(Ridge(alpha=0.1), encoder).fit(TABLE, Y)


@pytest.mark.parametrize("pair", PAIRS, ids=" x ".join)
def test_a_cell_is_the_contribution_of_the_pair(pair):
    model = regressor()
    display = InteractionsDisplay.from_estimator(model, pairs=[pair])
    ((first, second),) = display.positions
    row = {"age": 40.0, "pay": 8.0, "city": "Oslo", "open": True}
    for i in (0, len(first) // 2, len(first) - 1):
        for j in (0, len(second) - 1):
            values = {pair[0]: first[i], pair[1]: second[j]}
            values = {k: v == "True" if k == "open" else v for k, v in values.items()}
            parts = model.explain([{**row, **values}]).by_column()
            contribution = float(parts[" x ".join(pair)][0])
            assert display.values[0][i, j] == pytest.approx(contribution, abs=1e-9)


def test_the_class_of_three_is_chosen_by_its_label():
    y = np.array(["low", "mid", "high"])[np.digitize(TABLE["age"], [40, 60])]
    encoder = TableEncoder(curves=True, interactions=PAIRS[:1])
    learner = TableClassifier(LogisticRegression(), encoder).fit(TABLE, y)
    mid = InteractionsDisplay.from_estimator(learner, label="mid")
    assert mid.meaning == "score for mid"
    low = InteractionsDisplay.from_estimator(learner, label="low")
    assert not np.allclose(mid.values[0], low.values[0])
    with pytest.raises(ValueError, match=r"label='tall' is no class\. Classes: \['high', 'low'"):
        InteractionsDisplay.from_estimator(learner, label="tall")


@pytest.mark.parametrize(
    ("pairs", "wanted", "word"), [((), None, "no interactions"), (PAIRS, [("pay", "age")], "'age'")]
)
def test_without_an_interaction_it_says_what_to_do(pairs, wanted, word):
    with pytest.raises(ValueError, match=f"{word}.*TableEncoder"):
        InteractionsDisplay.from_estimator(regressor(list(pairs)), pairs=wanted)
