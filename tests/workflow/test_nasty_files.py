"""Nasty files: trained by the command and the call, predicted, evaluated, explained, exported.

``python -m tests.workflow.test_nasty_files`` writes the golden outputs anew; read the difference.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import separable
from separable.cli.app import run
from separable.data import read
from tests.workflow.nasty_files import (
    COLUMNS,
    FILES,
    REFUSED,
    csv_of,
    table_of,
    written,
)

if TYPE_CHECKING:
    from separable.workflow import TrainingRun

FAST = ("--model", "logistic-regression", "--set", "C=1", "--test-size", "0.3")
GOLDEN = Path(__file__).parent / "golden"
GOLDEN_OF = ("dollars", "missing words", "sentinel", "slashes", "mixed units", "labels")


def command(*args: object) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(arg) for arg in args])
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return code, *texts


def trained(path: Path, *options: str) -> tuple[dict[str, Any], str]:
    code, out, err = command(
        "train", path.name, "--target", "y", *FAST, "-o", "m.safetensors", *options, "--json"
    )
    assert code == 0, err
    return json.loads(out), err


def as_keywords(options: tuple[str, ...]) -> dict[str, Any]:
    """Options of the command as those of the call."""
    given: dict[str, Any] = {}
    words = list(options)
    while words:
        name = words.pop(0)[2:].replace("-", "_")
        name = {"sheet": "table"}.get(name, name)
        given[name] = True if name == "skip_bad_lines" else words.pop(0)
    if "skip_rows" in given:
        given["skip_rows"] = int(given["skip_rows"])
    return given


def use(path: Path, options: tuple[str, ...] = (), *, exports: bool = True) -> TrainingRun:
    """Use m.safetensors in every way, and compare with the call of Python."""
    keywords = as_keywords(options)
    if path.suffix in (".xlsx", ".zip", ".db", ".duckdb", ".json", ".jsonl") or options:
        reading = {k: v for k, v in keywords.items() if k not in ("category", "text")}
    else:
        reading = {}
    call = separable.train(
        path.name, "y", model="logistic-regression", set={"C": 1}, test_size=0.3, **keywords
    )
    call.save("call.safetensors")
    assert Path("call.safetensors").read_bytes() == Path("m.safetensors").read_bytes()
    words = [w for k, v in reading.items() for w in _words(k, v)]
    code, out, err = command("predict", "m.safetensors", path.name, *words, "-o", "p.csv")
    assert code == 0, err
    predicted = read("p.csv").table
    names = predicted.column_names
    model = separable.load("m.safetensors")
    raw = read(path.name, **_for_read(reading)).table
    expected = model.predict(raw)
    column = next(name for name in names if "predict" in name)
    assert predicted[column].to_pylist() == list(expected)
    for also in (("evaluate", "--json"), ("explain", "--json")):
        code, out, err = command(also[0], "m.safetensors", path.name, *words, *also[1:])
        assert code == 0, (also, err)
        assert out
    if exports:
        _compare_export(model, raw, expected)
    return call


def _words(name: str, value: Any) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    return [option] if value is True else [option, str(value)]


def _for_read(reading: dict[str, Any]) -> dict[str, Any]:
    given = dict(reading)
    if given.pop("skip_bad_lines", False):
        given["on_error"] = "skip"
    return given


def _compare_export(model: Any, table: Any, expected: Any) -> None:
    """Run the exported Python and compare its predictions."""
    code, _, err = command("export", "m.safetensors", "--to", "python", "-o", "model.py")
    assert code == 0, err
    space: dict[str, Any] = {"__name__": "exported"}
    exec(compile(Path("model.py").read_text(), "model.py", "exec"), space)
    columns = {name: table[name].to_pylist() for name in model.encoder.column_types}
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    assert [space["predict"](row) for row in rows] == list(expected)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_as_people_write_them(folder, name):
    way = COLUMNS[name]
    path = written(folder, "t.csv", csv_of(table_of(way)).encode())
    _, err = trained(path, *way.options)
    call = use(path, way.options)
    (column,) = (each for each in call.columns if each.column == "x")
    assert column.type == way.kind or (
        not way.kind and column.type in ("text", "category", "dropped")
    )
    assert way.said in column.why
    assert way.warned in err
    assert way.warned in " ".join(each.spelled("command") for each in call.warnings)


@pytest.mark.parametrize("name", FILES)
def test_files_of_every_kind(folder, name):
    file, contents, options = FILES[name]
    path = written(folder, file, contents)
    result, _ = trained(path, *options)
    assert result["rows"] == 60
    use(path, options, exports=name in ("workbook", "sqlite", "array"))


@pytest.mark.parametrize("name", REFUSED)
def test_bad_files_are_refused_with_where_what_and_remedy(folder, name):
    file, contents, pattern = REFUSED[name]
    path = written(folder, file, contents)
    code, out, err = command("train", path.name, "--target", "y", *FAST, "-o", "m.safetensors")
    assert (code, out) == (1, "")
    assert re.search(pattern, err.replace("\n", " ")), err
    assert not Path("m.safetensors").exists()
    with pytest.raises(ValueError, match=re.escape(path.name)):
        separable.train(path.name, "y", model="logistic-regression", set={"C": 1})


def test_an_address_says_what_to_do(folder):
    code, _, err = command("train", "https://example.org/a.csv", "--target", "y")
    assert code == 1
    assert "Download it first" in err


def test_three_rows(folder):
    Path("t.csv").write_text("x,z,y\n1,2,a\n2,3,b\n3,1,b\n")
    result, _ = trained(Path("t.csv"))
    assert result["rows"] == 3


@pytest.mark.long
def test_a_wide_file_and_a_long_one(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2000)).round(2)
    y = np.where(x[:, 0] + x[:, 1] > 0, "a", "b")
    head = ",".join([f"c{k}" for k in range(1, 2001)] + ["y"])
    lines = [",".join([*map(str, row), label]) for row, label in zip(x.tolist(), y, strict=True)]
    Path("t.csv").write_text("\n".join([head, *lines]))
    assert trained(Path("t.csv"))[0]["rows"] == 200
    use(Path("t.csv"))
    v = rng.normal(size=100_000).round(3)
    labels = np.where(v + rng.normal(size=len(v)) > 0, "a", "b").tolist()
    Path("t.csv").write_text(
        "\n".join(["x,y", *(f"${a:.2f},{b}" for a, b in zip(v.tolist(), labels, strict=True))])
    )
    assert trained(Path("t.csv"))[0]["rows"] == 100_000


# --- golden outputs ---


def golden_output(name: str) -> str:
    """Return what `train` prints of a file, without times and rounding errors."""
    way = COLUMNS[name]
    path = written(Path(), "t.csv", csv_of(table_of(way)).encode())
    code, out, err = command(
        "train", path, "--target", "y", *FAST, "-o", "m.safetensors", *way.options
    )
    assert code == 0, err
    text = re.sub(r"(duality gap) [0-9.e-]+", r"\1 SMALL", f"{err}\n{out}")
    return re.sub(r" +[0-9.]+ s$", "", text, flags=re.MULTILINE)


def golden_path(name: str) -> Path:
    return GOLDEN / f"{name.replace(' ', '_')}.txt"


@pytest.mark.parametrize("name", GOLDEN_OF)
def test_the_printed_output_is_the_golden_one(folder, name):
    assert golden_output(name) == golden_path(name).read_text(encoding="utf-8")


def write_golden() -> None:
    """Write the golden outputs anew."""
    GOLDEN.mkdir(exist_ok=True)
    for name in GOLDEN_OF:
        with tempfile.TemporaryDirectory() as here, contextlib.chdir(here):
            golden_path(name).write_text(golden_output(name), encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    write_golden()
