"""`separable predict`."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from separable import DictEncoder, LinearModel, TableEncoder, TextEncoder, load
from separable.data import read
from separable.datasets import PENGUINS
from tests.cli.processes import modules_after


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
    args += ["--metric", "accuracy"]  # log loss would calibrate the scores
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
        "Note: x: 1 missing (data row 1; none in training: no effect)",
        "Note: city: 1 missing (data row 3; none in training: no effect)",
        "Note: city: 3 with a level not seen in training: no effect ('Lima' in data row 1, "
        "'Quito' in data row 4)",
    ]


@pytest.mark.parametrize("flags", [[], ["--json"]])
@pytest.mark.parametrize("part_rows", [1, 2, 3])
def test_parts_of_a_table_make_the_same_predictions(
    separable, binary, monkeypatch, part_rows, flags
):
    Path("d.csv").write_text("x,city\n,Rome\n3,Lima\n3,\n1,Quito\n,Lima\n2,Oslo\n9,Rome\n")
    whole = separable("predict", binary, "d.csv", *flags)
    monkeypatch.setattr("separable.cli.io.model_rows.PART_ROWS", part_rows)
    assert separable("predict", binary, "d.csv", *flags) == whole
    assert "x: 2 missing (data row 1, 5; none" in whole.err
    assert "('Lima' in data row 2, 'Quito' in data row 4)" in whole.err


@pytest.mark.parametrize("part_rows", [1, 7])
def test_parts_have_the_digits_of_the_whole(separable, monkeypatch, part_rows):
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=30).tolist() for j in range(40)}
    encoder = TableEncoder().fit(table)
    weights, classes = rng.normal(size=(5, len(encoder.feature_names))), list("abcde")
    model = LinearModel(weights, rng.normal(size=5), classes, "softmax", encoder=encoder)
    model.save("m.safetensors")
    lines = [
        ",".join(table),
        *(",".join(map(repr, row)) for row in zip(*table.values(), strict=True)),
    ]
    Path("d.csv").write_text("\n".join(lines) + "\n")
    whole = separable("predict", "m.safetensors", "d.csv")
    monkeypatch.setattr("separable.cli.io.model_rows.PART_ROWS", part_rows)
    assert separable("predict", "m.safetensors", "d.csv").out == whole.out
    scores = [float(row["score_c"]) for row in csv.DictReader(io.StringIO(whole.out))]
    assert scores == model.decision_function(table)[:, 2].tolist()


def test_an_error_in_a_later_part_names_the_row_of_the_file(separable, binary, monkeypatch):
    monkeypatch.setattr("separable.cli.io.model_rows.PART_ROWS", 2)
    Path("d.csv").write_text("x,city\n1,Rome\n3,Lima\n3,\n1,Quito\n1e999,Lima\n")
    result = separable("predict", binary, "d.csv")
    assert result.code == 1
    assert result.err.startswith("Error: d.csv:6:1: column 'x': infinity")
    assert len(result.out.splitlines()) == 5  # what came before it
    Path("out.csv").write_text("old")
    result = separable("predict", binary, "d.csv", "-o", "out.csv")
    assert (result.code, result.out) == (1, "")
    assert Path("out.csv").read_text() == "old"
    assert list(Path().glob(".*.tmp")) == []


def test_parts_reach_standard_output_as_they_are_made(separable, binary, monkeypatch):
    monkeypatch.setattr("separable.cli.io.model_rows.PART_ROWS", 2)
    Path("d.csv").write_text("x,city\n" + "1,Rome\n" * 6)
    written = []
    monkeypatch.setattr(
        "separable.cli.commands.predict.write_data",
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
            "Error: d.csv:3:1: column 'x': 'abc' is not a number. Correct it, or leave it "
            "empty if it is missing.\n",
        ),
        ("x,city\n3,Rome\n1e999,Rome\n", "Error: d.csv:3:1: column 'x': infinity"),
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
    encoder = DictEncoder().fit([{"a": 1.0}])
    LinearModel([[1]], [0], ["no", "yes"], "score", encoder=encoder).save("dict.safetensors")
    files = TextEncoder(input="filename", vocabulary=["x"], use_idf=False)
    LinearModel([[1]], [0], ["no", "yes"], "score", encoder=files).save("files.safetensors")
    for model, message in (
        ("absent.safetensors", "no model file 'absent.safetensors'"),
        ("d.csv", "Cannot load 'd.csv'"),
        ("dict.safetensors", "takes rows through a DictEncoder, which the command line"),
        ("files.safetensors", "reads its texts from files by name, which the command line"),
    ):
        result = separable("predict", model, "d.csv")
        assert (result.code, result.out) == (1, "")
        assert message in result.err
        assert result.err.count("\n") == 1


def test_columns_to_keep_come_first(separable, binary):
    Path("d.csv").write_text('id,x,city,note\n007,3,Rome,"a ""b"", c"\n8,1,Oslo,\n')
    result = separable("predict", binary, "d.csv", "--id", "id", "--keep", "note")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert list(rows[0]) == ["id", "note", "prediction", "score"]
    assert [row["id"] for row in rows] == ["007", "8"]
    assert [row["note"] for row in rows] == ['a "b", c', ""]
    told = separable("predict", binary, "d.csv", "--keep", "note", "--json").out.splitlines()
    assert [json.loads(line)["note"] for line in told] == ['a "b", c', None]


def test_a_kept_column_may_be_one_that_the_model_takes(separable, binary):
    Path("d.csv").write_text("x,city\n3,Rome\n")
    assert separable("predict", binary, "d.csv", "--keep", "x").out.startswith(
        "x,prediction,score\n3,yes,"
    )


def test_a_later_id_of_another_kind_is_no_trouble(separable, binary, monkeypatch):
    Path("d.csv").write_text("id,x,city\n" + "1,3,Rome\n" * 200_000 + "A-7,3,Rome\n")
    result = separable("predict", binary, "d.csv", "--id", "id", "-o", "out.csv")
    assert result.code == 0
    assert Path("out.csv").read_text().splitlines()[-1].startswith("A-7,yes,")


def test_unused_columns_are_not_looked_at(separable, binary):
    Path("d.csv").write_text("junk,x,city\n" + "1,3,Rome\n" * 200_000 + "what?,3,Rome\n")
    assert separable("predict", binary, "d.csv", "-o", "out.csv").code == 0


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--keep", "score"], 2, "--keep score: the output already has a column of that name"),
        (["--keep", "absent"], 1, "d.csv has no column 'absent'"),
        (["--probabilities"], 1, "--probabilities: this LinearModel model has no probabilities"),
        (
            ["--json", "--output-format", "csv"],
            2,
            "--json and --output-format csv contradict each other",
        ),
        (["--json", "-o", "x.parquet"], 2, "--json contradicts -o x.parquet"),
        (["--column", "x"], 2, "--column is for a model of texts only"),
    ],
)
def test_wrong_options(separable, binary, flags, code, message):
    Path("d.csv").write_text("x,city\n3,Rome\n")
    result = separable("predict", binary, "d.csv", *flags)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert not Path("x.parquet").exists()


def test_no_probabilities(separable, table):
    model = saved([[2]], [1], ["no", "yes"], "logistic")
    header = separable("predict", model, table, "--no-probabilities").out.splitlines()[0]
    assert header == "prediction,score"
    assert "probability_yes" in separable("predict", model, table, "--probabilities").out


def test_the_name_of_the_output_says_what_is_written(separable, penguins_model, monkeypatch):
    monkeypatch.setattr("separable.cli.io.model_rows.PART_ROWS", 100)
    flags = ["--keep", "species", "--explain", "2"]
    told = separable("predict", penguins_model, PENGUINS, *flags, "--json").out
    for name in ("out.jsonl", "out.parquet", "out.csv"):
        assert separable("predict", penguins_model, PENGUINS, *flags, "-o", name).code == 0
    assert Path("out.jsonl").read_text() == told
    rows = [json.loads(line) for line in told.splitlines()]
    assert pq.read_table("out.parquet").to_pylist() == rows
    found = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert [float(row["score_Adelie"]) for row in found] == [row["score_Adelie"] for row in rows]
    assert [row["prediction"] for row in found] == [row["prediction"] for row in rows]
    args = ["predict", penguins_model, PENGUINS, *flags, "--output-format", "parquet", "-o"]
    assert separable(*args, "other").code == 0
    assert pq.read_table("other").to_pylist() == rows


def test_reasons_are_the_strongest_contributions(separable, penguins_model):
    told = separable("predict", penguins_model, PENGUINS, "--json", "--explain", "3").out
    explanation = load(penguins_model).explain(read(PENGUINS).table)
    lines = told.splitlines()
    for row in (0, 3, 100, 343):
        terms = explanation.terms(row, n=3).shown
        reasons = json.loads(lines[row])["because"]
        assert [reason["feature"] for reason in reasons] == [term.feature for term in terms]
        assert [reason["contribution"] for reason in reasons] == [t.contribution for t in terms]
    first = json.loads(lines[0])["because"][0]
    assert (first["feature"], first["value"]) == ("bill_length_mm", "39.1")
    csv_text = separable("predict", penguins_model, PENGUINS, "--explain").out
    row = next(csv.DictReader(io.StringIO(csv_text)))
    assert row["because"].startswith("bill_length_mm 39.1 +")
    assert row["because"].count(";") == 2
    assert "island=Torgersen +" in csv_text


def test_reasons_of_sparse_rows_without_any(separable):
    encoder = TextEncoder(norm=None, use_idf=False).fit(["good bad film"])
    model = LinearModel([[-2.0, 0.0, 1.0]], [0.5], ["neg", "pos"], "score", encoder=encoder)
    model.save("m.safetensors")
    Path("d.csv").write_text("text\ngood good bad\nnothing known\nfilm\n")
    told = separable("predict", "m.safetensors", "d.csv", "--explain", "--json").out.splitlines()
    assert [
        [(term["feature"], term["contribution"]) for term in json.loads(line)["because"]]
        for line in told
    ] == [[("bad", -2.0), ("good", 2.0)], [], []]
    out = separable("predict", "m.safetensors", "d.csv", "--explain").out.splitlines()
    assert out[1] == "pos,0.5,bad -2; good 2 +2"


def test_numbers_come_back_to_the_bit(separable):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=500), rng.normal(size=500) * 1e-12, [1e22, 0.1, 3.0]])
    encoder = TableEncoder(scale=False).fit({"x": values})
    LinearModel([[1]], [0], None, "identity", encoder=encoder).save("m.safetensors")
    Path("d.csv").write_text("x\n" + "\n".join(map(repr, values.tolist())) + "\n")
    out = separable("predict", "m.safetensors", "d.csv").out.splitlines()
    assert [float(line) for line in out[1:]] == values.tolist()


class Dripping(io.BytesIO):
    """Standard input of which a little comes at a time."""

    def read1(self, size=-1):
        return super().read(min(size, 7) if size > 0 else 7)


class OnePiece(io.RawIOBase):
    """Standard input that gives one prepared piece after the other, and notes when."""

    def __init__(self, pieces, written):
        self.pieces, self.written, self.seen = list(pieces), written, []

    def read1(self, size=-1):
        self.seen.append(len(self.written))
        return self.pieces.pop(0) if self.pieces else b""


def standard_input(monkeypatch, stream):
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": stream})())


@pytest.mark.parametrize(
    "text",
    [
        "x,city\n1,Rome\n3,Oslo\n5,Rome\n,Lima\n",
        "x;city\n1,5;Rome\n3;Oslo\n",
        '# made\nx,city\n1,"Ro\nme"\n3,"Os""lo"\n5,Rome',
        "x,city\r\n1,Rome\r\n\r\n3,Oslo\r\n",
        '{"x": 1, "city": "Rome"}\n{"x": 3}\n{"x": null, "city": "Oslo"}\n',
        "\ufeffx,city\n1,Rome\n3,Oslo\n",
    ],
)
def test_standard_input_in_pieces_is_the_same(separable, binary, monkeypatch, text):
    flags = ["--comment", "#"] if text.startswith("#") else []
    Path("d.txt").write_text(text)
    whole = separable("predict", binary, "d.txt", *flags)
    monkeypatch.setattr("separable.cli.io.row_source._is_waiting", lambda stream: False)
    standard_input(monkeypatch, Dripping(text.encode()))
    assert separable("predict", binary, "-", *flags) == whole
    assert whole.code == 0


def test_compressed_standard_input(separable, binary, monkeypatch):
    text = b"x,city\n1,Rome\n3,Oslo\n"
    Path("d.csv").write_bytes(text)
    standard_input(monkeypatch, io.BytesIO(gzip.compress(text)))
    assert separable("predict", binary, "-").out == separable("predict", binary, "d.csv").out
    standard_input(monkeypatch, io.BytesIO("x,city\n1,Röm\n".encode("utf-16")))
    assert separable("predict", binary, "-").code == 0


def test_rows_are_answered_as_they_come(separable, binary, monkeypatch):
    written: list[bytes] = []

    class Out(io.BytesIO):
        def write(self, data):
            written.append(bytes(data))
            return len(data)

    pieces = [b"x,city\n", b"1,Rome\n3,Os", b"lo\n5,Rome\n"]
    stdin = OnePiece(pieces, written)
    monkeypatch.setattr("separable.cli.io.row_source._is_waiting", lambda stream: False)
    standard_input(monkeypatch, stdin)
    methods = {"buffer": Out(), "flush": lambda s: 0, "isatty": lambda s: False}
    monkeypatch.setattr(sys, "stdout", type("Stdout", (), methods)())
    separable("predict", binary, "-")
    assert [part.count(b"\n") for part in written] == [2, 2]
    assert stdin.seen == [0, 0, 1, 2]  # the first answer is out before the third piece is read


def test_an_error_on_standard_input_names_its_line(separable, binary, monkeypatch):
    monkeypatch.setattr("separable.cli.io.row_source._is_waiting", lambda stream: False)
    text = b"x,city\n1,Rome\n3,Oslo\nabc,Rome\n"
    standard_input(monkeypatch, OnePiece([text[:14], text[14:21], text[21:]], []))
    result = separable("predict", binary, "-")
    assert result.code == 1
    assert result.err.startswith("Error: standard input:4:1: column 'x': 'abc' is not a number")
    for text in (b"x\n1\n2\n", b"x\n1"):
        standard_input(monkeypatch, io.BytesIO(text))
        result = separable("predict", binary, "-")
        assert "standard input lacks 1 column that the model was trained with: 'city'" in result.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"x,city\n", "only a header line, no rows"),
        (b'{"a": 1}\n', "standard input lacks 2 columns that the model was trained with"),
        (
            b'[{"a": 1},\n{"a": 2}]',
            "standard input lacks 2 columns that the model was trained with",
        ),
        (b"x,city\n\xff,Rome\n", "is not valid UTF-8"),
    ],
)
def test_bad_standard_input(separable, binary, monkeypatch, text, told):
    standard_input(monkeypatch, io.BytesIO(text))
    result = separable("predict", binary, "-")
    assert (result.code, result.out) == (1, "")
    assert told in result.err
    assert result.err.count("\n") == 1


# --- models without a table encoder ---


@pytest.fixture
def plain() -> str:
    model = LinearModel([[1.0, -2.0, 0.5]], [0.25], ["no", "yes"], "score")
    model.save("plain.safetensors")
    return "plain.safetensors"


ROWS = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.5, 0.25, 4.0]])


def scores_of(result):
    assert result.code == 0, result.err
    return [float(row["score"]) for row in csv.DictReader(io.StringIO(result.out))]


EXPECTED = (ROWS @ [1.0, -2.0, 0.5] + 0.25).tolist()


def test_plain_numbers_by_place(separable, plain):
    Path("d.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in ROWS))
    result = separable("predict", plain, "d.csv")
    assert scores_of(result) == EXPECTED
    assert "does not name its features: it takes the columns of d.csv in order" in result.err
    Path("e.csv").write_text(
        "id,a,b,c\n" + "\n".join(f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(ROWS))
    )
    assert scores_of(separable("predict", plain, "e.csv", "--id", "id")) == EXPECTED
    result = separable("predict", plain, "e.csv")
    assert result.code == 1
    assert "takes 3 numbers a row and does not name them" in result.err
    assert "there are 4: 'id', 'a', 'b', 'c'" in result.err


def test_plain_numbers_by_name(separable):
    LinearModel([[1.0, -2.0, 0.5]], [0.25], ["no", "yes"], "score", ["a", "b", "c"]).save("m.st")
    Path("d.csv").write_text("z,c,a,b\n" + "\n".join(f"?,{c},{a},{b}" for a, b, c in ROWS))
    result = separable("predict", "m.st", "d.csv")
    assert scores_of(result) == EXPECTED
    assert result.err == ""
    Path("e.csv").write_text("a,b\n1,2\n")
    result = separable("predict", "m.st", "e.csv")
    assert (result.code, result.out) == (1, "")
    assert "e.csv has no column 'c'" in result.err
    Path("f.csv").write_text("a,b,c\n1,2,3\n1,,3\n")
    result = separable("predict", "m.st", "f.csv")
    assert result.err.startswith("Error: f.csv:3:3: column 'b': it is missing or not finite")


def test_svmlight(separable, plain):
    lines = ["1 1:1 3:2", "-1 2:3", "1 1:0.5 2:0.25 3:4"]
    Path("d.svm").write_text("\n".join(lines) + "\n")
    assert scores_of(separable("predict", plain, "d.svm")) == EXPECTED
    Path("e.svm").write_text("1 1:1 4:2\n")
    result = separable("predict", plain, "e.svm")
    assert result.code == 1
    assert "is outside the 3 requested columns" in result.err
    result = separable("predict", plain, "d.svm", "--id", "id")
    assert "svmlight text has no named columns, which 'id' would be one of" in result.err


def test_vowpal_wabbit_text_by_name(separable):
    from separable.data import read

    Path("d.vw").write_text("1 |n a:1 c:2\n|n b:3 new:5\n-1 |n a:0.5 b:0.25 c:4\n")
    names = read("d.vw").feature_names
    order = ["n^a", "n^b", "n^c"] if names[0].startswith("n^") else ["a", "b", "c"]
    LinearModel([[1.0, -2.0, 0.5]], [0.25], ["no", "yes"], "score", order).save("m.st")
    assert scores_of(separable("predict", "m.st", "d.vw")) == EXPECTED


def test_sparse_text_for_a_model_of_tables(separable, binary):
    Path("d.svm").write_text("1 1:1 3:2\n")
    result = separable("predict", binary, "d.svm")
    assert result.code == 1
    assert "svmlight text has no named columns, which the model needs" in result.err


def test_texts(separable):
    encoder = TextEncoder().fit(["good film", "bad film"])
    model = LinearModel([[-1.0, 0.0, 2.0]], [0.1], ["neg", "pos"], "logistic", encoder=encoder)
    model.save("m.st")
    Path("d.csv").write_text("review\nA good film\n\nbad\n")
    result = separable("predict", "m.st", "d.csv")
    expected = model.decision_function(["A good film", "", "bad"]).tolist()
    assert scores_of(result) == expected
    assert "Note: text: 1 missing (data row 2; none in training: no effect)" in result.err
    Path("e.csv").write_text("id,review\n1,A good film\n2,\n3,bad\n")
    assert scores_of(separable("predict", "m.st", "e.csv", "--id", "id")) == expected
    assert scores_of(separable("predict", "m.st", "e.csv", "--column", "review")) == expected
    result = separable("predict", "m.st", "e.csv")
    assert "takes one text column, and there are 2: 'id', 'review'" in result.err
    assert "Name it with --column" in result.err


def test_no_training_library_is_imported(separable):
    encoder = TableEncoder(text=["t"]).fit({"x": [1, 3], "t": ["good film", "bad film"]})
    weights = [[1.0] * len(encoder.feature_names)]
    LinearModel(weights, [0], ["no", "yes"], "logistic", encoder=encoder).save("m.safetensors")
    Path("d.csv").write_text("x,t,y\n1,good,no\n3,bad film,yes\n")
    lines = [
        ["predict", "m.safetensors", "d.csv"],
        ["predict", "m.safetensors", "d.csv", "--json", "--explain"],
        ["evaluate", "m.safetensors", "d.csv", "--target", "y"],
        ["explain", "m.safetensors", "d.csv"],
        ["explain", "m.safetensors"],
    ]
    for line, loaded in zip(lines, modules_after(lines), strict=True):
        assert not {"sklearn", "scipy", "pandas", "polars", "matplotlib"} & loaded, line
