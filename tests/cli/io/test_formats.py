"""The commands read tables in every format, and give the same model from each."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from separable import load
from separable.cli.app import run
from separable.data import read
from separable.datasets import PENGUINS
from tests.data.io.workbooks import workbook


def as_json_lines() -> bytes:
    rows = read(PENGUINS, missing=["NA"]).table.to_pylist()
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(params=["gzip", "jsonl", "parquet", "semicolons", "folder", "utf-16"])
def penguins(request, tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    text = PENGUINS.read_bytes()
    name = f"penguins.{request.param}"
    if request.param == "gzip":
        Path(name).write_bytes(gzip.compress(text))
    elif request.param == "jsonl":
        Path(name).write_bytes(as_json_lines())
    elif request.param == "parquet":
        parquet.write_table(read(PENGUINS).table, name)
    elif request.param == "semicolons":
        Path(name).write_bytes(text.replace(b",", b";").replace(b".", b","))
    elif request.param == "utf-16":
        Path(name).write_bytes(text.decode().encode("utf-16"))
    else:
        header, *lines = text.splitlines(keepends=True)
        name = "penguins"
        Path(name).mkdir()
        Path(name, "1.csv").write_bytes(header + b"".join(lines[:100]))
        Path(name, "2.csv.gz").write_bytes(gzip.compress(header + b"".join(lines[100:])))
    return name


def told(capsys, *args: str) -> str:
    assert run(list(args)) == 0
    return capsys.readouterr().out


def test_the_same_model_from_every_format(penguins, capsys):
    args = ["--target", "species", "--model", "lda", "--json"]  # one learner that is quick
    found = json.loads(told(capsys, "train", penguins, *args))
    expected = json.loads(told(capsys, "train", str(PENGUINS), *args, "-o", "x.safetensors"))
    assert found["model"] == "penguins.safetensors"
    for learner in found["leaderboard"]["learners"] + expected["leaderboard"]["learners"]:
        del learner["seconds"], learner["fit_seconds"]
    assert {**found, "model": ""} == {**expected, "model": ""}
    predicted = told(capsys, "predict", "penguins.safetensors", penguins)
    assert predicted == told(capsys, "predict", "x.safetensors", str(PENGUINS))
    assert "Adelie" in told(capsys, "explain", "penguins.safetensors", penguins, "--row", "3")


def test_a_file_without_a_header_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = PENGUINS.read_bytes().split(b"\n", 1)[1]
    Path("birds.data").write_bytes(lines)
    assert "accuracy" in told(capsys, "train", "birds.data", "--target", "c1", "--model", "lda")
    assert told(capsys, "predict", "birds.safetensors", "birds.data").count("\n") == 345


def test_a_first_line_that_is_no_header(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("low,no\n" + "1,yes\n2,no\n3,yes\n" * 9)
    columns = json.loads(told(capsys, "check", "rows.csv", "--no-header", "--json"))["columns"]
    assert [each["name"] for each in columns] == ["c1", "c2"]
    train = ["train", "rows.csv", "--target", "c2", "--no-header", "--category", "c1"]
    found = json.loads(told(capsys, *train, "--model", "lda", "--json"))
    assert found["rows"] == 28


def test_quotes_that_are_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ['yes\t"so it is', "no\tnot so", 'yes\tit is so"', "no\tno no"] * 10
    Path("said.tsv").write_text("y\tt\n" + "\n".join(lines) + "\n")
    train = ["train", "said.tsv", "--target", "y", "--no-quoting", "--text", "t", "--json"]
    assert json.loads(told(capsys, *train, "--model", "lda"))["rows"] == 40
    predicted = told(capsys, "predict", "said.safetensors", "said.tsv", "--no-quoting")
    assert predicted.count("\n") == 41


def test_the_next_command_reads_the_file_the_same_way(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("#\nlow;no\n" + "1;yes\n2;no\n-;yes\n" * 9)
    given = ["--delimiter", ";", "--no-header", "--missing", "-", "--skip-rows", "1"]
    typed = "--delimiter ';' --no-header --missing - --skip-rows 1"
    assert f" {typed}\n" in told(capsys, "check", "rows.csv", "--target", "c2", *given)
    train = ["train", "rows.csv", "--target", "c2", "--category", "c1", "--model", "lda", *given]
    out = told(capsys, *train)
    assert f"  separable predict rows.safetensors NEW.csv {typed}  # " in out
    assert f"  separable evaluate rows.safetensors NEW.csv {typed}  # " in out


def test_values_inside_values(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"x": 1, "y": "a", "n": {"q": 1}}\n{"x": 2, "y": "b"}\n')
    assert run(["check", "rows.jsonl", "--target", "y"]) == 1
    told_of = "column 'n': holds an object, not a single value. Flatten it, or leave the column out"
    assert told_of in capsys.readouterr().err


def test_tables_of_databases_archives_and_workbooks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    header, *lines = [line.split(",") for line in PENGUINS.read_text().splitlines()]
    cells = [[None if cell == "NA" else _typed(cell) for cell in line] for line in lines]
    with sqlite3.connect("birds.db") as connection:
        connection.execute(f"CREATE TABLE penguins ({', '.join(header)})")
        connection.execute("CREATE TABLE others (x)")
        connection.executemany(f"INSERT INTO penguins VALUES ({', '.join('?' * 8)})", cells)
    connection.close()
    with zipfile.ZipFile("birds.zip", "w") as archive:
        archive.write(PENGUINS, "penguins")
        archive.writestr("others", "x\n1\n")
    Path("birds.xlsx").write_bytes(workbook({"penguins": [header, *cells], "x": [["x"], [1]]}))
    train = ["--target", "species", "--model", "lda", "-o", "m.safetensors"]
    told(capsys, "train", str(PENGUINS), *train)
    expected = told(capsys, "predict", "m.safetensors", str(PENGUINS))
    for file in ("birds.db", "birds.zip", "birds.xlsx"):
        given = [file, "--table", "penguins"]
        out = told(capsys, "train", *given, *train)
        assert f"  separable predict m.safetensors NEW{file[5:]} --table penguins" in out
        assert told(capsys, "predict", "m.safetensors", *given) == expected
        assert "Adelie" in told(capsys, "explain", "m.safetensors", *given, "--row", "3")
        assert "accuracy" in told(capsys, "evaluate", "m.safetensors", *given)
        assert told(capsys, "check", *given, "--target", "species")
        told(capsys, "train", *given, "--target", "species", "--stream", "-o", "s.safetensors")
        assert run(["train", file, *train]) == 1
        assert "Choose one: " in capsys.readouterr().err
    query = ["--query", "SELECT * FROM penguins WHERE sex = 'male'"]
    assert told(capsys, "predict", "m.safetensors", "birds.db", *query).count("\n") == 169


def _typed(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


@pytest.mark.native
def test_sparse_rows_are_refused(tmp_path, capsys):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2 3:4\n-1 2:1\n")
    assert run(["train", str(path), "--target", "y"]) == 1
    assert "separable.data.read" in capsys.readouterr().err


def test_an_option_of_python_is_told_as_the_command_has_it(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("ragged.csv").write_text("a,b,y\n1,2,x\n3,4\n5,6,z\n")
    args = ["train", "ragged.csv", "--target", "y", "--model", "perceptron"]
    assert run(args) == 1
    told = capfd.readouterr().err
    assert ":3: expected 3 values" in told
    assert "skip such lines with --skip-bad-lines" in told
    assert run([*args, "--skip-bad-lines", "--test-size", "0"]) == 0


def test_true_and_false_are_the_same_classes_however_spelt(separable):
    """Parquet gives True where CSV has true."""
    x = np.linspace(-1, 1, 60)
    parquet.write_table(pa.table({"x": x, "y": x > 0.1}), "a.parquet")
    rows = "".join(f"{value},{'true' if value > 0.1 else 'FALSE'}\n" for value in x[::2])
    Path("b.csv").write_text(f"x,y\n{rows}")
    fast = ("--target", "y", "--model", "averaged-perceptron", "-o", "m.safetensors")
    tested = separable("train", "a.parquet", *fast, "--test", "b.csv", "--json")
    assert json.loads(tested.out)["held_out"]["accuracy"] > 0.9
    assert separable("update", "m.safetensors", "b.csv").code == 0
    assert load("m.safetensors").classes.tolist() == ["False", "True"]
