"""`separable compare`: the leaderboard alone."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from separable.datasets import PENGUINS

ARGS = (
    "compare",
    PENGUINS,
    "--target",
    "species",
    "--model",
    "lda",
    "--model",
    "averaged-perceptron",
)


def test_text(separable):
    result = separable(*ARGS)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == "Compared by 5 folds of 344 rows, encoded once; lower is better:"
    assert lines[1].split() == [
        "learner",
        "parameter",
        "log_loss",
        "to",
        "the",
        "best",
        "time",
    ]
    assert [line.split()[0] for line in lines[2:4]] == ["1", "2"]
    assert lines[4].startswith("  Significantly worse (5 %): ")
    assert max(map(len, lines)) <= 80
    assert list(Path().iterdir()) == []


def test_json_and_csv(separable):
    found = json.loads(separable(*ARGS, "--json").out)
    assert (found["rows"], found["compared_rows"], found["metric"]) == (344, 344, "log_loss")
    assert separable(*ARGS, "-o", "board.csv").out == ""
    for text in (Path("board.csv").read_text(), separable(*ARGS, "-o", "-").out):
        lines = list(csv.DictReader(io.StringIO(text)))
        assert [line["learner"] for line in lines] == [
            each["learner"] for each in found["learners"]
        ]
        assert float(lines[1]["mean"]) == found["learners"][1]["mean"]
        assert float(lines[1]["difference"]) == found["learners"][1]["difference"]


def test_wrong_use(separable):
    result = separable(*ARGS, "--json", "-o", "x.csv")
    assert result.code == 2
    assert "Give one of them." in result.err
    result = separable("compare", PENGUINS)
    assert result.code == 2
    result = separable(*ARGS, "-o", "no/x.csv")
    assert result.code == 1


def test_too_few_rows(separable):
    Path("few.csv").write_text("x,y\n1,a\n2,b\n3,b\n")
    result = separable("compare", "few.csv", "--target", "y")
    assert result.code == 1
    assert "few.csv: 3 rows are too few for cross-validation" in result.err


@pytest.mark.parametrize(("target", "folds"), [("species", 2), ("body_mass_g", 5)])
def test_auto_fits_a_terminal(separable, target, folds):
    result = separable("compare", PENGUINS, "--target", target, "--folds", folds)
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 80
    assert len(result.out.splitlines()) >= 5
