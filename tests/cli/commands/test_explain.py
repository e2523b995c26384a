"""`separable explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from separable import LinearModel, TableEncoder, TextEncoder, load
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
    assert result.err.startswith("Error: d.csv:4:18: column 'bill_length_mm': infinity")
    assert separable("explain", penguins_model, "d.csv", "--row", 2).code == 0


# --- texts ---


@pytest.fixture
def reviews() -> LinearModel:
    """Counts of words and pairs: weights are known."""
    encoder = TextEncoder(norm=None, use_idf=False, ngram_range=(1, 2), stop_words=["the"])
    encoder.fit(["good film", "not good", "bad film"])
    weights = {"bad": -2.0, "film": 0.375, "good": 1.5, "not": -0.5, "not good": -3.0}
    row = [weights.get(name, 0.0) for name in encoder.feature_names]
    model = LinearModel([row], [0.25], ["neg", "pos"], "score", encoder=encoder)
    model.save("reviews.safetensors")
    return model


TEXT = "NOT the\n good film, GOOD\x1b[31m!"


def test_a_text_that_is_typed(separable, reviews):
    result = separable("explain", "reviews.safetensors", "--text", TEXT, "--top", 2)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    score = float(reviews.decision_function([TEXT])[0])
    assert lines[0] == f"The text: LinearModel predicts pos: score {score:+g} (> 0 is pos)"
    assert lines[1].split() == ["feature", "value", "weight", "contribution"]
    assert lines[2].split() == ["good", "2", "1.5", "+3"]
    assert lines[3].split() == ["not", "good", "1", "-3", "-3"]
    assert lines[-4].split() == ["score", f"{score:+g}"]
    # not: -0.5 and half of -3; the first good: 1.5 and the other half; the second good: 1.5
    assert lines[-3] == "Words: + for pos, - against it"
    assert "\n".join(lines[-2:]) == "[NOT -2] the\n good [film +0.38], [GOOD +1.5]\\x1b[31m!"


def test_the_words_add_up(separable, reviews):
    told = json.loads(separable("explain", "reviews.safetensors", "--text", TEXT, "--json").out)
    row = told["rows"][0]
    words = row["texts"]["text"]["words"]
    assert [TEXT[each["start"] : each["end"]] for each in words] == [
        *("NOT", "good", "film", "GOOD", "31m")
    ]
    assert [each["contribution"] for each in words] == [-2.0, 0.0, 0.375, 1.5, 0.0]
    assert sum(each["contribution"] for each in words) + row["intercept"] == row["score"]
    assert row["texts"]["text"]["text"] == TEXT
    assert row["row"] is None


def test_words_in_colour(separable, reviews, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = separable("explain", "reviews.safetensors", "--text", TEXT).out
    strong, weak = "\x1b[31m\x1b[1m\x1b[4mNOT\x1b[0m", "\x1b[32mfilm\x1b[0m"
    assert out.endswith(
        f"{strong} the\n good {weak}, \x1b[32m\x1b[1m\x1b[4mGOOD\x1b[0m\\x1b[31m!\n"
    )
    assert "\x1b[32mgreen\x1b[0m for pos, \x1b[31mred\x1b[0m against it" in out
    assert "\x1b[32m  good" in separable("explain", "reviews.safetensors").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in separable("explain", "reviews.safetensors", "--text", TEXT).out
    assert "\x1b" not in separable("explain", "reviews.safetensors").out


def test_a_row_of_texts(separable, reviews):
    Path("d.csv").write_text("id,review\n1,bad film\n2,\n")
    args = ["explain", "reviews.safetensors", "d.csv", "--column", "review"]
    result = separable(*args)
    assert result.out.startswith("d.csv, data row 1: LinearModel predicts neg: score -1.375")
    assert result.out.endswith("[bad -2] [film +0.38]\n")
    result = separable(*args, "--row", 2)
    assert "predicts pos: score +0.25" in result.out
    assert "Note: text: 1 missing (data row 2; none" in result.err


def test_texts_in_a_table(separable):
    encoder = TableEncoder(text={"review": {"norm": None, "use_idf": False, "sublinear_tf": False}})
    table = {"stars": [1, 2, 3], "review": ["good film", "bad film", "so so"]}
    names = encoder.fit(table).feature_names
    weights = [[{"review:good": 2.0, "review:bad": -1.0, "stars": 1.0}.get(n, 0) for n in names]]
    LinearModel(weights, [0], ["neg", "pos"], "score", encoder=encoder).save("m.st")
    Path("d.csv").write_text('review,stars\n"Good,\nbut bad",2\n')
    result = separable("explain", "m.st", "d.csv")
    assert result.out.endswith("review: [Good +2],\nbut [bad -1]\n")
    result = separable("explain", "m.st", "--text", "Good!")
    assert result.err == "Note: The other columns of the model are taken as missing: 'stars'.\n"
    assert result.out.endswith("[Good +2]!\n")
    assert "score +2" in result.out
    same = separable("explain", "m.st", "--text", "Good!", "--column", "review")
    assert same.out == result.out
    result = separable("explain", "m.st", "--text", "Good!", "--column", "stars")
    assert "'stars' is not a text column of this model. Text columns: review." in result.err


def test_two_columns_of_texts(separable):
    table = {"a": ["good film", "bad film"], "b": ["red car", "blue car"]}
    encoder = TableEncoder(text=["a", "b"]).fit(table)
    weights = [[1.0] * len(encoder.feature_names)]
    LinearModel(weights, [0], ["neg", "pos"], "score", encoder=encoder).save("m.st")
    result = separable("explain", "m.st", "--text", "good")
    assert result.code == 1
    assert "several text columns: a, b. Name one with --column." in result.err
    assert separable("explain", "m.st", "--text", "red", "--column", "b").code == 0


def test_characters_are_not_marked(separable):
    encoder = TextEncoder(analyzer="char", ngram_range=(1, 2)).fit(["ab", "bc"])
    weights = [[1.0] * len(encoder.feature_names)]
    LinearModel(weights, [0], ["neg", "pos"], "score", encoder=encoder).save("m.st")
    result = separable("explain", "m.st", "--text", "abc")
    assert result.code == 0
    assert "Words:" not in result.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["d.csv", "--text", "good"], "DATA and --text exclude each other"),
        (["--column", "text"], "--column needs --text or DATA"),
    ],
)
def test_wrong_use_of_text(separable, reviews, args, message):
    result = separable("explain", "reviews.safetensors", *args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_model_without_texts_has_none_to_explain(separable, penguins_model):
    result = separable("explain", penguins_model, "--text", "good")
    assert result.code == 1
    assert "has no text column. Explain a row of a file instead" in result.err


# --- plain numbers ---


def test_plain_numbers(separable):
    LinearModel([[1.0, -2.0]], [0.25], ["no", "yes"], "score").save("m.st")
    assert separable("explain", "m.st").out.startswith("LinearModel: 2 features.\n")
    Path("d.svm").write_text("1 1:1\n-1 2:3\n")
    lines = separable("explain", "m.st", "d.svm", "--row", 2).out.splitlines()
    assert lines[0] == "d.svm, data row 2: LinearModel predicts no: score -5.75 (> 0 is yes)"
    assert lines[2].split() == ["x1", "3", "-2", "-6"]
    Path("d.csv").write_text("a,b\n1,0\n0,3\n")
    assert separable("explain", "m.st", "d.csv", "--row", 2).out.splitlines()[2:] == lines[2:]


def test_reading_stops_at_the_row(separable, penguins_model, monkeypatch):
    monkeypatch.setattr("separable.cli.io.row_source.CHUNK_BYTES", 1 << 16)
    Path("d.csv").write_bytes(PENGUINS.read_bytes() + b"Adelie,Dream,oops\n")
    result = separable("explain", penguins_model, "d.csv", "--row", 400)
    assert result.code == 1
    text = PENGUINS.read_text().splitlines()
    Path("long.csv").write_text("\n".join([*text, *(text[1:] * 400), "broken,line"]) + "\n")
    assert separable("explain", penguins_model, "long.csv", "--row", 2).code == 0
