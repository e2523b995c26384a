"""Drift: which column moved, and what that does to the score."""

from __future__ import annotations

import numpy as np
import pytest

import separable
from separable.model.drift import drift
from separable.model.feature_sums import FeatureSums


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    n = 400
    data = {
        "age": rng.normal(40, 10, n).round(1).tolist(),
        "city": rng.choice(["Oslo", "Rome"], n).tolist(),
        "income": rng.normal(3000, 500, n).round().tolist(),
    }
    y = ["yes" if a + rng.normal(0, 5) > 40 else "no" for a in data["age"]]
    return separable.train({**data, "buys": y}, "buys", model="logistic-regression").model


def sums_of(model, table):
    sums = FeatureSums(model)
    sums.add_rows(model.encoder.encode(table))
    return sums


def rows(n=300, **changes):
    rng = np.random.default_rng(1)
    table = {
        "age": rng.normal(40, 10, n), "city": rng.choice(["Oslo", "Rome"], n),
        "income": rng.normal(3000, 500, n),
    }  # fmt: skip
    return {name: changes.get(name, lambda x: x)(values).tolist() for name, values in table.items()}


def test_changes_add_up_to_the_change_of_the_mean_score(model):
    table = rows(age=lambda x: x + 7)
    found = drift(model, sums_of(model, table))
    means = sum(each.mean[0] for each in model.column_statistics)
    change = model.decision_function(table).mean() - (model.intercept[0] + means)
    assert sum(each.change for each in found.columns) == pytest.approx(change, abs=1e-10)


def test_the_column_that_moved_is_named_first(model):
    found = drift(model, sums_of(model, rows(age=lambda x: x + 7)))
    assert found.columns[0].column == "age"
    assert abs(found.columns[0].z) > 4
    assert "age moves the score the most" in str(found)


def test_the_same_distribution_does_not_drift(model):
    found = drift(model, sums_of(model, rows()))
    assert all(abs(each.z) < 4 for each in found.columns)
    assert "no column moves" in str(found)


def test_parts_and_single_rows_give_the_sums_of_the_whole(model):
    table = rows(50)
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    parts = FeatureSums(model)
    parts.add_rows(model.encoder.encode(records[:20]))
    for record in records[20:]:
        parts.add_pairs(model.encoder.encode_one(record))
    whole = sums_of(model, table).mean_contributions()
    for name, values in parts.mean_contributions().items():
        assert values == pytest.approx(whole[name], abs=1e-12)


def test_a_model_without_statistics_says_so():
    plain = separable.LinearModel([[1.0]], [0.0], None, "identity", ["x"])
    with pytest.raises(ValueError, match="no statistics"):
        drift(plain, FeatureSums(plain))
