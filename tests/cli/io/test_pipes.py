"""Commands on pipes: the same rows as from a file."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from separable.cli.app import run
from separable.datasets import PENGUINS
from tests.cli.stream.streams import table_text

PROGRAM = [sys.executable, "-m", "separable.cli"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> Path:
    """More than a pipe holds at a time, and more than is looked at."""
    path: Path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_bytes(table_text(3000))
    assert path.stat().st_size > 1 << 17
    return path


@pytest.fixture(scope="module")
def model(rows, tmp_path_factory) -> Path:
    """A model of them that can go on learning."""
    path = tmp_path_factory.mktemp("model") / "rows.safetensors"
    command = ["train", rows, "--stream", "--target", "kind", "-o", path, "-q"]
    assert run([str(each) for each in command]) == 0
    return path


def piped(separable, content: bytes, *command: object):
    """Run a command on a named pipe; a second reader of it would wait for ever."""
    path = Path("pipe")
    if not path.exists():
        os.mkfifo(path)

    def write() -> None:
        with path.open("wb") as out:
            out.write(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    result = separable(*(path if each is None else each for each in command))
    writer.join(10)
    assert not writer.is_alive()
    return result


#: Copies of the penguins that make more than a pipe holds.
TIMES = 20
TRAIN = ["--target", "kind", "--drop", "note", "--drop", "amount", "--model", "lda"]

COMMANDS = [
    ["train", None, *TRAIN, "-o", "new.safetensors"],
    ["train", "PENGUINS", "--target", "species", "--model", "lda", "--test", None],
    ["train", None, "--stream", "--target", "kind", "-o", "new.safetensors"],
    ["predict", "MODEL", None],
    ["evaluate", "MODEL", None],
    ["explain", "MODEL", None, "--row", "2900"],
    ["check", None, "--target", "kind"],
    ["compare", None, *TRAIN[:-2], "--model", "lda", "--model", "averaged-perceptron"],
    ["path", None, *TRAIN[:-2], "--model", "logistic-regression", "--folds", "2"],
    pytest.param(["report", "PENGUINS_MODEL", None, "-o", "report.html"], marks=pytest.mark.long),
    ["update", "MODEL", None, "-o", "new.safetensors"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: " ".join(filter(None, each[:3])))
def test_every_command(separable, rows, model, penguins_model, command):
    content = PENGUINS if {"--test", "report"} & {*command} else rows
    Path("pipe.csv").write_bytes(content.read_bytes())
    names = {"MODEL": str(model), "PENGUINS": str(PENGUINS)}
    names["PENGUINS_MODEL"] = str(penguins_model)
    command = [names.get(each, each) if each else None for each in command]
    if command[0] in ("compare", "path", "train", "evaluate", "check", "update"):
        command.append("--json")
    whole = separable(*("pipe.csv" if each is None else each for each in command))
    assert whole.code == 0, whole.err
    got = piped(separable, content.read_bytes(), *command)
    assert got.code == 0, got.err
    assert counts(got.out) == counts(whole.out)


def counts(out: str) -> object:
    """What a command says, without the name of the file and the time it took."""
    try:
        return _without(json.loads(out))
    except ValueError:
        return out.replace("pipe.csv", "pipe").replace("data row", "row")


def _without(value: object) -> object:
    if isinstance(value, dict):
        hidden = ("data", "seconds", "command", "model", "test", "next", "rows_per_second")
        kept = {key: each for key, each in value.items() if key not in hidden}
        return {key: _without(each) for key, each in kept.items() if "seconds" not in key}
    if isinstance(value, list):
        return [_without(each) for each in value]
    return value


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv.gz", "csv.xz"])
def test_every_format(separable, penguins_model, kind):
    import gzip
    import lzma

    import pyarrow as pa
    from pyarrow import csv, parquet

    table = csv.read_csv(
        PENGUINS, convert_options=csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
    )
    many = pa.concat_tables([table] * TIMES).combine_chunks()
    if kind == "jsonl":
        content = "".join(json.dumps(row) + "\n" for row in many.to_pylist()).encode()
    elif kind == "parquet":
        parquet.write_table(many, "many.parquet")
        content = Path("many.parquet").read_bytes()
    else:
        text = PENGUINS.read_text().splitlines(keepends=True)
        whole = "".join([text[0], *text[1:] * TIMES]).encode()
        content = gzip.compress(whole) if kind == "csv.gz" else lzma.compress(whole)
    wanted = separable("predict", penguins_model, PENGUINS).out.splitlines()
    got = piped(separable, content, "predict", penguins_model, None)
    assert got.code == 0, got.err
    assert got.out.splitlines() == [wanted[0], *wanted[1:] * TIMES]
    checked = piped(separable, content, "check", None, "--json")
    assert json.loads(checked.out)["rows"] == TIMES * 344


@pytest.mark.parametrize(
    "way", ["<(cat {0})", "/dev/stdin < <(cat {0})", "/dev/stdin < {0}", "- < {0}"]
)
def test_process_substitution(penguins_model, tmp_path, way):
    header, *rows = PENGUINS.read_text().splitlines(keepends=True)
    many = tmp_path / "many.csv"
    many.write_text(header + "".join(rows) * TIMES)
    program = shlex.join([*PROGRAM, "predict", str(penguins_model)])
    command = f"{program} {way.format(shlex.quote(str(many)))}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 1 + TIMES * 344


@pytest.mark.parametrize("command", ["predict", "evaluate", "check", "train"])
def test_closed_standard_input(separable, monkeypatch, penguins_model, command):
    monkeypatch.setattr("sys.stdin", None)
    model = [penguins_model] if command in ("predict", "evaluate") else []
    target = ["--target", "species"] if command == "train" else []
    result = separable(command, *model, "-", *target)
    assert result.code == 1
    assert result.err.startswith("Error: standard input is closed.")


def test_the_model_of_a_pipe_is_not_named_after_it(separable):
    result = piped(
        separable, PENGUINS.read_bytes(), "train", None, "--target", "species", "--model", "lda"
    )
    assert result.code == 0, result.err
    assert Path("model.safetensors").is_file()


def test_a_bad_value_of_a_pipe(separable, penguins_model):
    content = PENGUINS.read_bytes().replace(b"39.1", b"39,1", 1)
    result = piped(separable, content, "predict", penguins_model, None)
    assert result.code == 1
    assert result.err.startswith("Error: pipe:2: expected 8 values")
