"""`separable.train` from Python: the same model as the command, on files, frames and tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import separable
from separable.cli.app import run as command
from separable.data import read
from separable.data.table import TableError
from separable.datasets import PENGUINS
from separable.errors import OptionError
from separable.report import report

if TYPE_CHECKING:
    from separable.workflow import TrainingRun

FAST = {"model": "logistic-regression", "set": {"C": 1}}


@pytest.fixture(scope="module")
def penguins() -> TrainingRun:
    return separable.train(str(PENGUINS), "species", **FAST)


def untimed(text: str) -> str:
    """The text without the times of the leaderboard."""
    return re.sub(r"[0-9.]+ s$", "", text, flags=re.MULTILINE)


def without_record(model):
    """The weights, the levels and the test figures of a model."""
    trained = model.evidence["train"]
    return (
        model.weights.tolist(),
        model.intercept.tolist(),
        model.encoder.feature_names,
        trained["held_out"],
        trained["constant"],
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (FAST, ["--model", "logistic-regression", "--set", "C=1"]),
        (
            {"model": "lda", "test_size": 0.4, "seed": 3, "category": "year", "drop": ["sex"]},
            ["--model", "lda", "--test-size", "0.4", "--seed", "3", "--category", "year",
             "--drop", "sex"],
        ),
        (
            {"model": ["ridge", "least-squares"], "target": "body_mass_g", "group": "island"},
            ["--model", "ridge", "--model", "least-squares", "--target", "body_mass_g", "--group",
             "island"],
        ),
        (
            {"stream": True, "passes": 2, "drop": "sex"},
            ["--stream", "--passes", "2", "--drop", "sex"],
        ),
    ],
)  # fmt: skip
def test_the_command_and_the_call_write_the_same_bytes(tmp_path, options, words, capsys):
    given = {"target": "species", **options}
    run = separable.train(str(PENGUINS), **given)
    run.save(tmp_path / "call.safetensors")
    target = [] if "--target" in words else ["--target", "species"]
    path = str(tmp_path / "command.safetensors")
    assert command(["train", str(PENGUINS), *target, *words, "-o", path]) == 0
    assert untimed(capsys.readouterr().out).startswith(untimed(run.summary()))
    assert Path(path).read_bytes() == (tmp_path / "call.safetensors").read_bytes()


def test_a_table_in_memory_is_learned_as_its_file(penguins):
    table = read(str(PENGUINS)).table
    assert without_record(separable.train(table, "species", **FAST).model) == without_record(
        penguins.model
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_learned_as_their_file(penguins, library):
    frames = pytest.importorskip(library)
    options = {"null_values": "NA"} if library == "polars" else {}
    frame = frames.read_csv(PENGUINS, **options)
    columns = list(frame.columns)
    if library == "pandas":
        frame.index = range(1000, 1000 + len(frame))  # an index is no feature
    run = separable.train(frame, "species", **FAST)
    assert without_record(run.model) == without_record(penguins.model)
    assert list(frame.columns) == columns
    assert run.model.evidence["train"]["report"]["commands"] == [
        "separable.train(table, target='species', model='logistic-regression', set={'C': 1})"
    ]


def test_dicts_and_lists_of_dicts():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60).round(3)
    columns = {"x": x.tolist(), "y": (x > 0).tolist()}
    records = [{"x": a, "y": b} for a, b in zip(*columns.values(), strict=True)]
    one, two = (separable.train(data, "y", model="lda") for data in (columns, records))
    assert without_record(one.model) == without_record(two.model)


def test_what_a_run_has(penguins, tmp_path):
    assert repr(penguins).startswith("TrainingRun: logistic-regression for species, 344 rows, ")
    assert penguins.leaderboard.best.name == "logistic-regression"
    assert penguins.evaluation.rows == 86
    assert {row.column: row.type for row in penguins.columns}["island"] == "category"
    assert penguins.summary().splitlines()[0] == f"{PENGUINS}: 344 rows, 8 columns"
    html = penguins._repr_html_()
    assert "344 rows" in html
    assert "<pre>" in html
    assert json.loads(json.dumps(penguins.to_dict()))["task"] == "classification"
    penguins.save(tmp_path / "m.safetensors")
    table = read(str(PENGUINS)).table
    again = separable.load(tmp_path / "m.safetensors").predict(table)
    assert again.tolist() == penguins.model.predict(table).tolist()


def test_a_notebook_shows_no_markup_of_the_data():
    rng = np.random.default_rng(0)
    table = {"<b>x</b>": rng.normal(size=40).tolist(), "y": ["<i>a</i>", "b"] * 20}
    html = separable.train(table, "y", model="lda")._repr_html_()
    assert "<b>x</b>" not in html
    assert "<i>a</i>" not in html


def test_a_test_table(penguins):
    table = read(str(PENGUINS)).table
    run = separable.train(table.slice(0, 250), "species", test=table.slice(250), model="lda")
    assert run.held_out.how == "Tested on 94 rows of table"
    assert run.evaluation.rows == 94


def test_a_report_of_a_run(tmp_path):
    run = separable.train(read(str(PENGUINS)).table, "species", **FAST)
    page = report(run, tmp_path / "p.html", title="Penguins & more")
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == page
    assert "Penguins &amp; more" in page
    assert "separable.train(table, target=" in page
    with pytest.raises(ValueError, match="has its own rows"):
        report(run, [[1.0]], ["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "specie"}, "The table has no column 'specie' .did you mean 'species'"),
        ({"target": ""}, "Name the column to predict: target."),
        ({"model": "logistic"}, "model='logistic': 'logistic' is not a learner. Did you mean log"),
        ({"model": ["lda", "ridge"]}, "name learners that predict the same: lda .classes., ridge"),
        ({"set": {"gamma": 1}, "model": "lda"}, "set={'gamma': ...}: lda has no such parameter"),
        ({"task": "ranking"}, "task='ranking': it has to be one of classification, regression"),
        ({"task": "regression", "model": "lda"}, "task='regression': lda is for classification"),
        ({"folds": 1}, "folds=1: it has to be an int >= 2"),
        ({"test_size": 1.5}, "test_size=1.5: give a number from 0 to less than 1"),
        ({"test": {"x": [1]}, "test_size": 0.5}, "test_size and test='The table' exclude"),
        ({"drop": "species"}, "drop='species': the target cannot be dropped"),
        ({"group": "island", "time": "year"}, "group='island' and time='year': rows are held out"),
        ({"delimiter": ";"}, "delimiter=';': this option is for files"),
        ({"passes": 2}, "passes=2 needs stream=True"),
        ({"stream": True}, "stream=True: a stream is read from files"),
        ({"metric": "rmse"}, "metric='rmse': "),
    ],
)
def test_wrong_options(options, message):
    table = read(str(PENGUINS)).table
    kind = TableError if options.get("target") == "specie" else OptionError
    with pytest.raises(kind, match=message):
        separable.train(table, **{"target": "species", **options})


def test_an_error_knows_its_place(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{i % 7}.5,{'ab'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["x,y", *rows[:20], "many,a", *rows[20:]]) + "\n")
    with pytest.raises(TableError) as caught:
        separable.train(path, "y", number="x")
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 22, "x")
    assert error.value == "many"
    assert "category='x'" in str(error)
    assert "--category x" in error.spelled("command")


def test_a_quote_that_is_never_closed(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('x,y\n1,a\n2,"b\n3,a\n')
    with pytest.raises(TableError, match="quoting=False") as caught:
        separable.train(str(path), "y")
    assert caught.value.line == 3
    assert "--no-quoting" in caught.value.spelled("command")


def test_three_rows():
    run = separable.train({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "b"]}, "y")
    assert run.leaderboard is None
    assert run.model.predict([{"x": 1.0}]).tolist() == ["a"]


def test_notes_are_spelled_for_their_reader(tmp_path, capsys):
    path = tmp_path / "data.csv"
    lines = [f"{i},{i % 3 + 1}" for i in range(60)]
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    run = separable.train(str(path), "y", folds=2)
    (note,) = (str(each) for each in run.notes if "taken as classes" in str(each))
    assert note.endswith("For regression use task='regression'.")
    assert command(["train", str(path), "--target", "y", "--folds", "2", "-o",
                    str(tmp_path / "m.safetensors")]) == 0  # fmt: skip
    assert "For regression use --task regression." in capsys.readouterr().err
    in_memory = separable.train(pa.table({"x": range(60), "y": [1, 2, 3] * 20}), "y", folds=2)
    kept = in_memory.model.evidence["train"]["report"]["notes"]
    assert any("task='regression'" in each for each in kept)


def test_dates_are_no_target():
    days = [f"2024-01-{day:02d}" for day in range(1, 29)] * 3
    table = {"x": list(range(84)), "y": [f"{day} {row:02d}:00" for row, day in enumerate(days)]}
    with pytest.raises(TableError, match="holds dates, which are neither classes nor numbers"):
        separable.train(table, "y", number="x")


def test_many_numbers_in_few_rows_are_a_quantity():
    points = [3, 8, 11, 15, 20, 22, 25, 31, 33, 37, 40, 44, 44, 50, 52, 61]
    table = {"wins": [number // 3 for number in points], "points": points}
    assert separable.train(table, "points", test_size=0).problem.task == "regression"
    few = {"wins": list(range(8)), "points": [1, 2, 3, 4] * 2}
    assert separable.train(few, "points", test_size=0, number="wins").problem.task == (
        "classification"
    )


def test_a_target_of_two_units_names_the_file_once(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{row},{'$' if row % 3 else 'USD '}{row}.5" for row in range(40)]
    path.write_text("\n".join(["x,price", *rows]))
    with pytest.raises(TableError, match="different units") as caught:
        separable.train(str(path), "price")
    assert str(caught.value).count("t.csv") == 1
