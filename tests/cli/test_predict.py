"""`separable predict`."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from separable import LinearModel, TableEncoder, load
from separable.data import read
from separable.datasets import PENGUINS


@pytest.fixture
def binary(tmp_path) -> Path:
    """score = 2 (x - 3) + 1 for city Rome: no training needed."""
    encoder = TableEncoder().fit({"x": [1, 3, 5], "city": ["Rome", "Oslo", "Rome"]})
    scale = np.sqrt(8 / 3)
    weights = [[2 * scale, 0, 1]]
    model = LinearModel(weights, [0], ["no", "yes"], "score", encoder=encoder)
    model.save(tmp_path / "binary.safetensors")
    return tmp_path / "binary.safetensors"


def test_two_classes(separable, binary):
    Path("d.csv").write_text("city,unused,x\nRome,?,3\nOslo,!,1\n")
    result = separable("predict", binary, "d.csv")
    assert (result.code, result.err) == (0, "")
    rows = list(csv.reader(io.StringIO(result.out)))
    assert rows[0] == ["prediction", "score"]
    assert [row[0] for row in rows[1:]] == ["yes", "no"]
    np.testing.assert_allclose([float(row[1]) for row in rows[1:]], [1, -4], rtol=1e-12)


def test_more_classes_agree_with_python(separable, penguins_model):
    result = separable("predict", penguins_model, PENGUINS)
    rows = list(csv.DictReader(io.StringIO(result.out)))
    model = load(penguins_model)
    table = read(PENGUINS).table
    assert [row["prediction"] for row in rows] == model.predict(table).tolist()
    scores = [[float(row[f"score_{name}"]) for name in model.classes] for row in rows]
    np.testing.assert_array_equal(scores, model.decision_function(table))
    assert "Note: sex: 11 missing (data row 4, 9, 10, ...; as in training)" in result.err


def test_the_target_may_be_absent(separable, penguins_model):
    lines = PENGUINS.read_text().splitlines()
    Path("d.csv").write_text("\n".join(line.partition(",")[2] for line in lines))
    with_target = separable("predict", penguins_model, PENGUINS)
    assert separable("predict", penguins_model, "d.csv").out == with_target.out


def test_json_lines(separable, binary):
    Path("d.csv").write_text("x,city\n3,Rome\n1,Oslo\n")
    lines = separable("predict", binary, "d.csv", "--json").out.splitlines()
    told = [json.loads(line) for line in lines]
    assert [row["prediction"] for row in told] == ["yes", "no"]
    assert told[0]["score"] == pytest.approx(1)


@pytest.fixture
def table() -> str:
    """A table for the models of `saved`, whose features are x = -1 and 1."""
    Path("d.csv").write_text("x\n1\n3\n")
    return "d.csv"


def saved(weights, intercept, classes, link) -> str:
    encoder = TableEncoder().fit({"x": [1, 3]})
    LinearModel(weights, intercept, classes, link, encoder=encoder).save("m.safetensors")
    return "m.safetensors"


def columns(text: str) -> dict[str, list[str]]:
    names, *rows = csv.reader(io.StringIO(text))
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_regression_has_the_prediction_alone(separable, table):
    model = saved([[2]], [5], None, "identity")
    assert separable("predict", model, table).out == "prediction\n3\n7\n"
    told = separable("predict", model, table, "--json").out
    assert told == '{"prediction":3.0}\n{"prediction":7.0}\n'


def test_several_targets_have_a_column_each(separable, table):
    model = saved([[2], [-1]], [5, 0], None, "identity")
    found = columns(separable("predict", model, table).out)
    assert found == {"prediction_0": ["3", "7"], "prediction_1": ["1", "-1"]}


def test_logistic_has_the_probability_of_each_class(separable, table):
    model = saved([[2]], [1], ["no", "yes"], "logistic")
    found = columns(separable("predict", model, table).out)
    assert list(found) == ["prediction", "score", "probability_no", "probability_yes"]
    assert found["prediction"] == ["no", "yes"]
    yes = [1 / (1 + math.exp(1)), 1 / (1 + math.exp(-3))]
    np.testing.assert_allclose(np.array(found["probability_yes"], float), yes, rtol=1e-14)
    np.testing.assert_allclose(np.array(found["probability_no"], float), 1 - np.array(yes))
    told = [json.loads(x) for x in separable("predict", model, table, "--json").out.splitlines()]
    assert list(told[0]) == list(found)
    assert [row["probability_yes"] for row in told] == [float(x) for x in found["probability_yes"]]


@pytest.mark.parametrize("link", ["logistic", "softmax"])
def test_probabilities_of_more_classes_are_those_of_python(separable, table, link):
    model = saved([[2], [0], [-1]], [0, 1, 0], [1, 2, 3], link)
    found = columns(separable("predict", model, table).out)
    assert list(found)[4:] == ["probability_1", "probability_2", "probability_3"]
    chances = np.array([found[name] for name in list(found)[4:]], float).T
    np.testing.assert_array_equal(chances, load(model).predict_proba(read(table).table))
    assert [int(label) for label in found["prediction"]] == (chances.argmax(axis=1) + 1).tolist()


def test_a_margin_is_no_probability(separable, penguins_model):
    header = separable("predict", penguins_model, PENGUINS).out.partition("\n")[0]
    scores = "prediction,score_Adelie,score_Chinstrap,score_Gentoo"
    assert header == scores + ",probability_Adelie,probability_Chinstrap,probability_Gentoo"
    args = ["train", PENGUINS, "--target", "species", "-o", "margin.safetensors"]
    assert separable(*args, "--model", "averaged-perceptron").code == 0
    header = separable("predict", "margin.safetensors", PENGUINS).out.partition("\n")[0]
    assert header == scores


def test_to_a_file(separable, binary):
    Path("d.csv").write_text("x,city\n3,Rome\n")
    result = separable("predict", binary, "d.csv", "-o", "out.csv")
    assert (result.out, result.err) == ("", "Wrote 1 prediction to out.csv\n")
    assert Path("out.csv").read_text() == separable("predict", binary, "d.csv").out
    assert sorted(path.name for path in Path().iterdir() if path.suffix == ".csv") == [
        "d.csv",
        "out.csv",
    ]


def test_standard_input(separable, binary, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x;city\n3;Rome\n")))
    assert separable("predict", binary, "-").out.startswith("prediction,score\nyes,")


def test_what_was_missing_or_unseen_is_counted(separable, binary):
    Path("d.csv").write_text("x,city\n,Lima\n3,Lima\n3,\n1,Quito\n")
    result = separable("predict", binary, "d.csv")
    assert result.err.splitlines() == [
        "Note: x: 1 missing (data row 1; none was in training: no effect)",
        "Note: city: 1 missing (data row 3; none was in training: no effect)",
        "Note: city: 3 of a level not met in training: no effect "
        "('Lima' in data row 1, 'Quito' in data row 4)",
    ]


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize("part_rows", [1, 2, 3])
def test_parts_of_a_table_make_the_same_predictions(
    separable, binary, monkeypatch, part_rows, flags
):
    Path("d.csv").write_text("x,city\n,Rome\n3,Lima\n3,\n1,Quito\n,Lima\n2,Oslo\n9,Rome\n")
    whole = separable("predict", binary, "d.csv", *flags)
    monkeypatch.setattr("separable.cli.model_rows.PART_ROWS", part_rows)
    assert separable("predict", binary, "d.csv", *flags) == whole
    assert "x: 2 missing (data row 1, 5; none" in whole.err
    assert "('Lima' in data row 2, 'Quito' in data row 4)" in whole.err


def test_an_error_in_a_later_part_names_the_row_of_the_file(separable, binary, monkeypatch):
    monkeypatch.setattr("separable.cli.model_rows.PART_ROWS", 2)
    Path("d.csv").write_text("x,city\n1,Rome\n3,Lima\n3,\n1,Quito\n1e999,Lima\n")
    result = separable("predict", binary, "d.csv")
    assert result.code == 1
    assert result.err.startswith("Error: d.csv, data row 5, column 'x': infinity")
    assert len(result.out.splitlines()) == 5  # what came before it
    Path("out.csv").write_text("old")
    result = separable("predict", binary, "d.csv", "-o", "out.csv")
    assert (result.code, result.out) == (1, "")
    assert Path("out.csv").read_text() == "old"
    assert list(Path().glob(".*.tmp")) == []


def test_parts_reach_standard_output_as_they_are_made(separable, binary, monkeypatch):
    monkeypatch.setattr("separable.cli.model_rows.PART_ROWS", 2)
    Path("d.csv").write_text("x,city\n" + "1,Rome\n" * 6)
    written = []
    monkeypatch.setattr(
        "separable.cli.predict.write_data",
        lambda parts, path: written.extend(part.count(b"\n") for part in parts),
    )
    assert separable("predict", binary, "d.csv").code == 0
    assert written == [3, 2, 2]


def test_a_category_keeps_its_text_even_if_all_of_it_looks_like_numbers(separable):
    encoder = TableEncoder().fit({"code": ["01", "1", "B"]})
    LinearModel([[1, -1, 0]], [0], ["no", "yes"], "score", encoder=encoder).save("m.safetensors")
    Path("d.csv").write_text("code\n01\n1\n")
    result = separable("predict", "m.safetensors", "d.csv")
    assert [line.partition(",")[0] for line in result.out.splitlines()] == [
        "prediction",
        "yes",
        "no",
    ]


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("what", ["data", "model"])
def test_its_own_inputs_are_not_overwritten(separable, binary, what, link):
    Path("d.csv").write_text("x,city\n3,Rome\n")
    files = {"data": Path("d.csv").resolve(), "model": binary}
    before = files[what].read_bytes()
    output = files[what]
    if link:
        output = Path("link")
        output.symlink_to(files[what])
    result = separable("predict", binary, "d.csv", "-o", output)
    assert (result.code, result.out) == (2, "")
    assert f"-o {output} would overwrite the {what}." in result.err
    assert files[what].read_bytes() == before


def test_an_older_output_is_replaced_and_dash_is_standard_output(separable, binary):
    Path("d.csv").write_text("x,city\n3,Rome\n")
    Path("out.csv").write_text("old")
    assert separable("predict", binary, "d.csv", "-o", "out.csv").code == 0
    told = separable("predict", binary, "d.csv", "-o", "-")
    assert told.out == Path("out.csv").read_text()
    assert not Path("-").exists()


def test_an_output_that_cannot_be_written_is_told_first(separable, binary, no_new_files):
    result = separable("predict", binary, "absent.csv", "-o", "out.csv")
    assert result.code == 1
    assert result.err.endswith("out.csv: cannot be written (Permission denied)\n")


def test_a_line_each_where_the_only_value_is_missing(separable):
    encoder = TableEncoder().fit({"x": [1, 3, 5]})
    LinearModel([[1]], [0], ["no", "yes"], "score", encoder=encoder).save("m.safetensors")
    Path("d.csv").write_text("x\n5\n\n-3\n4\n\n")
    result = separable("predict", "m.safetensors", "d.csv")
    predicted = [line.partition(",")[0] for line in result.out.splitlines()[1:]]
    assert predicted == ["yes", "no", "no", "yes"]
    assert result.err.startswith("Note: x: 1 missing (data row 2;")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\n3\n", "Error: d.csv lacks 1 column that the model was trained with: 'city'. It has"),
        (
            "x,city\n3,Rome\nabc,Rome\n",
            "Error: d.csv, line 3, column 'x': 'abc' is not a number. Correct it, or leave it "
            "empty if it is missing.\n",
        ),
        ("x,city\n3,Rome\n1e999,Rome\n", "Error: d.csv, data row 2, column 'x': infinity"),
        ("", "Error: d.csv: the file is empty"),
    ],
)
def test_bad_data(separable, binary, text, message):
    Path("d.csv").write_text(text)
    result = separable("predict", binary, "d.csv", "-o", "out.csv")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(message)
    assert result.err.count("\n") == 1
    assert not Path("out.csv").exists()


def test_bad_models(separable):
    Path("d.csv").write_text("x\n1\n")
    LinearModel([[1]], [0], ["no", "yes"], "score").save("plain.safetensors")
    for model, message in (
        ("absent.safetensors", "no model file 'absent.safetensors'"),
        ("d.csv", "Cannot load 'd.csv'"),
        ("plain.safetensors", "has no table encoder"),
    ):
        result = separable("predict", model, "d.csv")
        assert (result.code, result.out) == (1, "")
        assert message in result.err
        assert result.err.count("\n") == 1
