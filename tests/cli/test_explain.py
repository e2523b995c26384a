"""`separable explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from separable import LinearModel, TableEncoder, load
from separable.data import read
from separable.datasets import PENGUINS


def test_weights_overall(separable, penguins_model):
    result = separable("explain", penguins_model)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{load(penguins_model).learner}: 15 features from 7 columns")
    assert str(load(penguins_model).top_weights(10)) in result.out


def test_weights_overall_as_json(separable, penguins_model):
    told = json.loads(separable("explain", penguins_model, "--json", "--top", 2).out)
    model = load(penguins_model)
    assert told["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert told["intercept"] == model.intercept.tolist()
    assert told["top_weights"] == json.loads(json.dumps(model.top_weights(2).to_dict()))
    assert told["evidence"]["train"]["target"] == "species"


def test_one_row(separable, penguins_model):
    result = separable("explain", penguins_model, PENGUINS, "--row", 3, "--top", 4)
    lines = result.out.splitlines()
    learner = load(penguins_model).learner
    assert f"penguins.csv, data row 3: {learner} predicts Adelie: score +" in lines[0]
    assert lines[1].split() == ["feature", "in", "the", "table", "weight", "contribution"]
    assert any(line.split()[:2] == ["bill_length_mm", "40.3"] for line in lines)
    assert any(line.split()[:2] == ["island=Torgersen", "Torgersen"] for line in lines)
    assert "others)" in result.out
    assert lines[-1].startswith("all scores: Adelie ")


def test_the_first_row_is_the_default(separable, penguins_model):
    first = separable("explain", penguins_model, PENGUINS)
    assert first.out == separable("explain", penguins_model, PENGUINS, "--row", 1).out
    assert "data row 1" in first.out


def test_contributions_sum_to_the_score(separable, penguins_model):
    model, table = load(penguins_model), read(PENGUINS).table
    for row in (1, 4, 200, 344):
        args = ["explain", penguins_model, PENGUINS, "--row", row, "--json", "--top", 99]
        told = json.loads(separable(*args).out)["rows"]
        assert len(told) == 1
        parts = [told[0]["intercept"], *(term["contribution"] for term in told[0]["terms"])]
        size = sum(abs(part) for part in parts)
        assert abs(sum(parts) - told[0]["score"]) <= 1e-12 * size
        assert told[0]["row"] == row
        assert told[0]["score"] == model.decision_function(table.slice(row - 1, 1)).max()
        assert told[0]["raw"]["island"] == table["island"][row - 1].as_py()


def test_missing_values_are_shown(separable, penguins_model):
    result = separable("explain", penguins_model, PENGUINS, "--row", 4, "--top", 20)
    assert any(
        line.split()[:2] == ["sex=(missing)", "(missing)"] for line in result.out.splitlines()
    )
    assert "Note: sex: 1 missing (data row 4; as in training)" in result.err


def test_the_table_is_shown_as_it_is(separable):
    encoder = TableEncoder().fit({"pid": [20070812, 20070901], "x": [0.1234567891, 2]})
    model = LinearModel([[1, 1]], [0], ["no", "yes"], "score", encoder=encoder)
    model.save("m.safetensors")
    Path("d.csv").write_text("pid,x\n20070812,0.1234567891\n")
    lines = separable("explain", "m.safetensors", "d.csv").out.splitlines()
    cells = {line.split()[0]: line.split()[1] for line in lines[2:4]}
    assert cells == {"pid": "20070812", "x": "0.1234567891"}


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (
            ["PENGUINS", "--row", 345],
            1,
            "has 344 data rows, so there is no row 345",
        ),
        (["--row", 3], 2, "--row needs DATA"),
        (["absent.csv"], 1, "Error: absent.csv: no such file"),
    ],
)
def test_errors(separable, penguins_model, args, code, message):
    args = [PENGUINS if arg == "PENGUINS" else arg for arg in args]
    result = separable("explain", penguins_model, *args)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_an_error_in_a_row_names_that_row(separable, penguins_model):
    text = PENGUINS.read_text().replace("40.3", "1e999")
    Path("d.csv").write_text(text)
    result = separable("explain", penguins_model, "d.csv", "--row", 3)
    assert result.err.startswith("Error: d.csv, data row 3, column 'bill_length_mm': infinity")
    assert separable("explain", penguins_model, "d.csv", "--row", 2).code == 0
