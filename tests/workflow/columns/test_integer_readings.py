"""Integers are read as numbers or categories, whichever validates better."""

from __future__ import annotations

import numpy as np
import pytest

import separable

FAST = {"model": "logistic-regression", "set": {"C": 1}}


@pytest.fixture(scope="module")
def regions() -> dict[str, list]:
    """Ten regions in no order, two thirds of the information in them."""
    rng = np.random.default_rng(0)
    code, x = rng.integers(1, 11, 400), rng.normal(size=400)
    effect = np.where(np.arange(11) % 2, 2.0, -2.0)
    y = np.where(effect[code] + x + rng.normal(size=400) > 0, "yes", "no")
    return {"region_code": code.tolist(), "x": x.tolist(), "y": y.tolist()}


def about(run, column: str) -> list[str]:
    return [each.spelled("command") for each in run.notes if f"'{column}'" in str(each)]


def test_codes_become_categories(regions):
    run = separable.train(regions, "y", **FAST)
    assert run.encoder.column_types["region_code"] == "category"
    (note,) = about(run, "region_code")
    assert "--number region_code" in note
    as_number = separable.train(regions, "y", number="region_code", curves="no", **FAST)
    assert as_number.encoder.column_types["region_code"] == "number"
    assert not about(as_number, "region_code")
    accuracy = [each.evaluation.figures["accuracy"] for each in (run, as_number)]
    assert accuracy[0] > accuracy[1] + 0.15


def test_quantities_stay_numbers():
    rng = np.random.default_rng(0)
    rooms, type_code = rng.integers(1, 9, 400), rng.integers(1, 9, 400)
    y = 3.0 * rooms + 2.0 * type_code + rng.normal(size=400)
    columns = {"rooms": rooms.tolist(), "type_code": type_code.tolist(), "y": y.tolist()}
    run = separable.train(columns, "y", model="ridge")
    assert set(run.encoder.column_types.values()) == {"number"}
    assert not about(run, "rooms")
    (note,) = about(run, "type_code")  # its name is that of a code
    assert "--category type_code" in note


def test_held_out_rows_do_not_decide(regions):
    """Rows whose target contradicts all others have no say if they are held out."""
    rows = np.arange(400)
    test = rows[np.array(regions["x"]) > 0.8]
    mixed = {**regions, "when": rows.tolist()}
    mixed["when"] = np.where(np.isin(rows, test), 1000 + rows, rows).tolist()
    shuffled = list(regions["y"])
    for row in test.tolist():
        shuffled[row] = "no" if shuffled[row] == "yes" else "yes"
    size = len(test) / 400
    given = {"time": "when", "test_size": size, **FAST}
    first = separable.train(mixed, "y", **given)
    second = separable.train({**mixed, "y": shuffled}, "y", **given)
    assert about(first, "region_code") == about(second, "region_code")
    assert about(first, "region_code")


@pytest.mark.parametrize("spelling", ["{}", "{}.0"])
def test_levels_are_spelled_as_in_the_file(regions, tmp_path, spelling):
    path = tmp_path / "regions.csv"
    lines = ["region_code,x,y"]
    rows = zip(*regions.values(), strict=True)
    lines += [f"{spelling.format(code)},{x},{y}" for code, x, y in rows]
    path.write_text("\n".join(lines))
    run = separable.train(str(path), "y", **FAST)
    assert f"region_code={spelling.format(3)}" in run.encoder.feature_names
    same = separable.train(str(path), "y", category="region_code", **FAST)
    assert np.array_equal(run.model.weights, same.model.weights)
