"""`separable inspect`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from separable import LinearModel, VotedPerceptron
from separable.model.files.container import close_container, open_container

if TYPE_CHECKING:
    from pathlib import Path

TEXT = {"learner": "Hand", "parameters": {"C": 1.0}, "evidence": {"gap": float("nan")}}


@pytest.fixture
def model(tmp_path) -> Path:
    """A model of two classes and three features, without an encoder."""
    path = tmp_path / "m.safetensors"
    LinearModel([[1.0, 0.0, -1.0]], [0.5], ["no", "yes"], "score", ("a", "b", "c"), **TEXT).save(
        path
    )
    return path


def test_text(separable, penguins_model):
    result = separable("inspect", penguins_model)
    assert (result.code, result.err) == (0, "")
    for part in (
        "a linear model of ",
        "format       separable 2, written by version ",
        "classes      3: Adelie, Chinstrap, Gentoo\n",
        "encoder      table\n",
        "SHA-256      matches\n",
        "  bill_length_mm     number\n",
        "\nParameters:\n",
        "\nEvidence:\n",
        "train.target",
    ):
        assert part in result.out
    line = next(line for line in result.out.splitlines() if line.startswith("  weights "))
    assert line.split()[1] == "float64"


def test_json(separable, model):
    found = json.loads(separable("inspect", model, "--json").out)
    assert found["ok"] is True
    assert found["problems"] == []
    assert found["sha256"] is True
    assert (found["n_features"], found["n_classes"]) == (3, 2)
    assert (found["classes"], found["feature_names"]) == (["no", "yes"], ["a", "b", "c"])
    assert found["parameters"] == {"C": 1.0}
    assert found["evidence"] == {"gap": None}
    assert found["encoder"] is None
    assert found["state"] is False
    weights = next(tensor for tensor in found["tensors"] if tensor["name"] == "weights")
    assert weights == {"name": "weights", "dtype": "float64", "shape": [1, 3], "bytes": 24}
    assert found["bytes"] == model.stat().st_size


def test_a_model_that_votes_and_its_state(separable, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 4))
    path = tmp_path / "v.safetensors"
    VotedPerceptron().fit(X, X[:, 0] > 0).model_.save(path)
    result = separable("inspect", path)
    assert "a model that votes of VotedPerceptron" in result.out
    assert "features     4\n" in result.out
    assert "classes      2: False, True\n" in result.out


def test_of_a_file_that_is_cut_short_the_header_is_told(separable, model):
    model.write_bytes(model.read_bytes()[:-3])
    result = separable("inspect", model)
    assert result.code == 1
    assert "a linear model of Hand" in result.out
    assert "features     3\n" in result.out
    assert "SHA-256      cannot be checked" in result.out
    assert result.err.startswith(f"Error: {model}: its tensors cannot be read (")


def test_a_flipped_bit_is_told_and_the_rest_shown(separable, model):
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    model.write_bytes(data)
    found = separable("inspect", model, "--json")
    assert found.code == 1
    told = json.loads(found.out)
    assert (told["ok"], told["sha256"], told["learner"]) == (False, False, "Hand")
    assert told["problems"] == [
        "its content does not match its SHA-256. The file is damaged: copy or download it again."
    ]
    assert found.err == f"Error: {model}: {told['problems'][0]}\n"


def test_every_file_that_is_cut_short_gives_an_error_of_one_line(separable, model):
    data = model.read_bytes()
    for size in [0, 1, 7, 8, 9, 10, 50, *range(60, len(data), 37)]:
        model.write_bytes(data[:size])
        result = separable("inspect", model)
        assert (result.code, result.err.count("\n")) == (1, 1)


def changed(model: Path, **fields: object) -> None:
    """Write a file anew, sealed as it should be, with other values in its document."""
    document, tensors = open_container(model.read_bytes())
    told = json.loads(document)
    del told["sha256"]
    model.write_bytes(close_container(json.dumps(told | fields).encode(), tensors))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"format_version": 99, "newer": 1}, "it has format version 99 and this separable reads"),
        ({"link": "magic"}, "its document cannot be read"),
        ({"learner": "\x1b[31mred"}, ""),
        ({"encoder": {"kind": "os.system", "values": {}}}, "Unknown encoder 'os.system'"),
        ({"parameters": {"C": {"__float__": "1"}}}, "a value tagged '__float__'"),
    ],
)
def test_what_a_document_says_is_not_believed(separable, model, fields, problem):
    changed(model, **fields)
    result = separable("inspect", model)
    assert result.code == bool(problem)
    assert problem in result.err
    assert "\x1b" not in result.out
    assert result.err.count("\n") == bool(problem)


def test_a_model_that_does_not_fit_together(separable, model):
    document, tensors = open_container(model.read_bytes())
    told = json.loads(document)
    del told["sha256"]
    tensors = {**tensors, "intercept": np.zeros(7)}
    model.write_bytes(close_container(json.dumps(told).encode(), tensors))
    result = separable("inspect", model)
    assert result.code == 1
    assert "SHA-256      matches" in result.out
    assert "intercept" in result.err


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone.safetensors", "There is no model file 'gone.safetensors'. Check the path."),
        (".", ".: it is a folder. Give the path of the file inside it."),
        ("/dev/null", "/dev/null: it is not a regular file. Copy it to one first."),
    ],
)
def test_what_is_no_file(separable, name, problem):
    result = separable("inspect", name)
    assert (result.code, result.out, result.err) == (1, "", f"Error: {problem}\n")
