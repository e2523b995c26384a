"""Columns that number or identify the rows are left out, said, and kept if named."""

from __future__ import annotations

import numpy as np
import pytest

import separable

FAST = {"model": "logistic-regression", "set": {"C": 1}}


def table(n: int, **columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    return {**columns, "x": x.tolist(), "y": y.tolist()}


def used(run) -> set[str]:
    return set(run.encoder.sources)


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_a_row_number_is_left_out_and_said(start):
    run = separable.train(table(60, nr=list(range(start, start + 60))), "y", **FAST)
    assert used(run) == {"x"}
    (note,) = [each.spelled("command") for each in run.notes if "'nr'" in str(each)]
    assert "left out" in note
    assert "--number nr" in note
    assert not any("nr" in str(each) for each in run.warnings)
    (column,) = [each for each in run.to_dict()["columns"] if each["name"] == "nr"]
    assert column["type"] == "dropped"
    assert column["reason"] == "numbers the rows"


def test_a_named_column_is_used():
    run = separable.train(table(60, nr=list(range(60))), "y", number="nr", **FAST)
    assert used(run) == {"nr", "x"}


def test_distinct_integers_named_id_are_left_out():
    values = np.random.default_rng(1).permutation(10_000)[:60].tolist()
    run = separable.train(table(60, customer_id=values, amount=values), "y", **FAST)
    assert used(run) == {"amount", "x"}
    (note,) = [str(each) for each in run.notes if "customer_id" in str(each)]
    assert note.startswith("'customer_id' identifies the rows")


def test_a_repeated_identifier_is_used():
    values = np.random.default_rng(1).integers(0, 20, 60).tolist()
    run = separable.train(table(60, customer_id=values), "y", number="customer_id", **FAST)
    assert used(run) == {"customer_id", "x"}
    assert "customer_id" in used(separable.train(table(60, customer_id=values), "y", **FAST))


def test_years_and_numbers_of_things_are_used():
    values = np.random.default_rng(1).permutation(10_000)[:60].tolist()
    count = list(range(1950, 2010))
    columns = {"year": count, "t": count, "number_of_visitors": values}
    assert used(separable.train(table(60, **columns), "y", **FAST)) == {*columns, "x"}


def test_short_tables_need_a_name():
    counted = list(range(1, 13))
    run = separable.train(table(12, id=counted, dose=counted), "y", **FAST)
    assert used(run) == {"dose", "x"}


def test_the_only_feature_is_used():
    y = (np.arange(80) * 2.0 + np.random.default_rng(0).normal(size=80)).tolist()
    run = separable.train({"nr": list(range(80)), "y": y}, "y", model="ridge")
    assert used(run) == {"nr"}


def test_new_rows_and_test_files_need_no_such_column():
    test = {name: column for name, column in table(40).items() if name != "nr"}
    run = separable.train(table(60, nr=list(range(60))), "y", test=test, **FAST)
    assert run.held_out.figures.figures["accuracy"] > 0.5
    assert len(run.model.predict({"x": [0.0, 1.0]})) == 2


@pytest.mark.parametrize("name", ["row.names", "Unnamed: 0", "c1", "obs", "nr"])
def test_a_row_number_with_gaps_is_left_out_by_its_name(name):
    numbers = [k for k in range(1, 64) if k not in (7, 30, 31)]
    run = separable.train(table(60, **{name: numbers}), "y", **FAST)
    assert used(run) == {"x"}
    (note,) = [each.spelled("command") for each in run.notes if repr(name) in str(each)]
    assert "numbers the rows (with gaps)" in note
    assert "--number" in note
    assert not any(repr(name) in str(each) for each in run.warnings)


def test_other_increasing_integers_are_used():
    rng = np.random.default_rng(2)
    columns = {
        "dose": [k for k in range(61) if k != 9],  # no such name
        "case": (np.arange(60) // 2).tolist(),  # twice the same
        "row": rng.permutation(60).tolist(),  # in no order
        "obs": np.cumsum(rng.integers(1, 9, 60)).tolist(),  # many left out
    }
    assert used(separable.train(table(60, **columns), "y", **FAST)) == {*columns, "x"}
