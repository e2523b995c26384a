"""`separable export`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from separable import DictEncoder, LinearModel, TextEncoder, VotedPerceptron
from separable.datasets import PENGUINS
from separable.export.languages.language_registry import DESCRIPTIONS, LANGUAGES


def test_help_names_every_language(separable):
    from separable.cli.commands.export import NAMES

    assert [*LANGUAGES, *DESCRIPTIONS] == list(NAMES)
    assert "[onnx|sql|c|js|python|openapi]" in separable("export", "-h").out


def test_to_standard_output(separable, penguins_model):
    result = separable("export", penguins_model, "--to", "python")
    assert (result.code, result.err) == (0, "")
    done = subprocess.run(
        [sys.executable, "-I", "-"], input=result.out, capture_output=True, text=True, check=True
    )
    assert done.stdout == "6 test rows: all as expected\n"


@pytest.mark.parametrize(
    ("language", "then"),
    [
        ("python", "Test it: python 'my model.x'"),
        ("js", "Test it: node 'my model.x'"),
        ("c", "Test it: gcc 'my model.x' -DSELF_TEST -lm -o self_test && ./self_test"),
        ("sql", "Run it: sqlite3 data.db < 'my model.x'"),
        ("onnx", "Its metadata name its inputs"),
    ],
)
def test_to_a_file_with_the_next_step(separable, penguins_model, language, then):
    result = separable("export", penguins_model, "--to", language, "-o", "my model.x")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("Wrote my model.x with 6 test rows. " + then)
    assert Path("my model.x").stat().st_size > 1000


def test_rows_of_a_file(separable, penguins_model):
    result = separable("export", penguins_model, "--to", "python", "--rows", PENGUINS, "-o", "m.py")
    assert "with 20 test rows" in result.err
    done = subprocess.run(
        [sys.executable, "-I", "m.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "20 test rows: all as expected\n"


def test_rows_of_numbers_and_of_texts(separable):
    LinearModel([[1.0, 2.0]], [0.0], None, "identity", ["a", "b"]).save("n.safetensors")
    Path("n.csv").write_text("b,a\n1,2\n3,4\n")
    assert "with 2 test rows" in separable(
        "export", "n.safetensors", "--to", "c", "--rows", "n.csv", "-o", "n.c"
    ).err  # fmt: skip
    assert "{2.0, 1.0}" in Path("n.c").read_text()
    LinearModel([[1.0, 2.0]], [0.0], None, "identity").save("s.safetensors")
    Path("s.svm").write_text("1 1:0.5\n0 2:7\n")
    assert (
        separable("export", "s.safetensors", "--to", "js", "--rows", "s.svm", "-o", "s.js").code
        == 0
    )
    assert '"row": [0.0, 7.0]' in Path("s.js").read_text()
    encoder = TextEncoder().fit(["good film", "bad film"])
    LinearModel([[1.0, 2.0, 3.0]], [0.0], ["x", "y"], "score", encoder=encoder).save(
        "t.safetensors"
    )
    Path("t.csv").write_text("id,review\n1,good\n2,\n")
    args = ("export", "t.safetensors", "--to", "python", "--rows", "t.csv")
    assert "Name it with --column" in separable(*args).err
    assert "\"row\": 'good'" in separable(*args, "--column", "review").out
    assert separable(*args[:4], "--column", "x").code == 2


def test_sql_names(separable, penguins_model):
    result = separable(
        "export", penguins_model, "--to", "sql", "--table", "t x", "--keep", "id", "--id", "b"
    )
    assert '  FROM "t x" AS t' in result.out
    assert 'k0 AS "id",\n  k1 AS "b",' in result.out


def test_json_tells_about_the_file(separable, penguins_model):
    result = separable("export", penguins_model, "--to", "js", "-o", "m.js", "--json", "-q")
    told = json.loads(result.out)
    assert result.err == ""
    assert (told["to"], told["file"], told["test_rows"]) == ("js", "m.js", 6)
    assert told["bytes"] == Path("m.js").stat().st_size
    assert told["classes"] == ["Adelie", "Chinstrap", "Gentoo"]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--to", "java"), "'java' is not one of"),
        ((), "Missing option '--to'"),
        (("--to", "c", "--table", "t"), "--table is for --to sql"),
        (("--to", "c", "--keep", "t"), "--keep is for --to sql"),
        (("--to", "c", "--json"), "--json describes the written file: name one with -o"),
    ],
)
def test_wrong_usage(separable, penguins_model, args, problem):
    result = separable("export", penguins_model, *args)
    assert result.code == 2
    assert problem in result.err


def test_files_that_are_none(separable, penguins_model):
    assert separable("export", "none.safetensors", "--to", "c").err.startswith(
        "Error: There is no model"
    )
    Path("bad.safetensors").write_bytes(b"not a model")
    result = separable("export", "bad.safetensors", "--to", "c", "-o", "m.c")
    assert (result.code, result.err.startswith("Error: Cannot load 'bad.safetensors'")) == (1, True)
    assert not Path("m.c").exists()
    result = separable("export", penguins_model, "--to", "c", "-o", "no/m.c")
    assert result.code == 1
    assert separable("export", penguins_model, "--to", "c", "--rows", "none.csv").code == 1


def test_an_input_is_not_overwritten_and_other_files_are(separable, penguins_model):
    Path("m.safetensors").write_bytes(Path(penguins_model).read_bytes())
    result = separable("export", "m.safetensors", "--to", "c", "-o", "m.safetensors")
    assert (result.code, "would overwrite the model" in result.err) == (2, True)
    Path("m.c").write_text("old")
    assert separable("export", "m.safetensors", "--to", "c", "-o", "m.c").code == 0
    assert Path("m.c").read_text() != "old"


def test_what_cannot_be_exported_leaves_no_file(separable):
    VotedPerceptron().fit([[0.0], [1.0], [3.0]], [0, 1, 1]).model_.save("v.safetensors")
    result = separable("export", "v.safetensors", "--to", "js", "-o", "v.js")
    assert (result.code, "models that vote" in result.err) == (1, True)
    encoder = DictEncoder().fit([{"a": 1}])
    LinearModel([[1.0]], [0.0], None, "identity", encoder=encoder).save("d.safetensors")
    assert separable("export", "d.safetensors", "--to", "js", "-o", "d.js").code == 0
    result = separable("export", "d.safetensors", "--to", "sql", "-o", "d.sql")
    assert "DictEncoder, which have no fixed columns, as rows in SQL have" in result.err
    result = separable("export", "d.safetensors", "--to", "js", "--rows", PENGUINS)
    assert "DictEncoder, which the command line does not support" in result.err
    assert not list(Path().glob("*.sql")) + list(Path().glob("v.js"))
