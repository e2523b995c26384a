"""`separable train --cost`, `--threshold` and `--class-weight`: the file, and what uses it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import separable as package
from separable import load
from separable.datasets import PENGUINS

GIVEN = ("--model", "logistic-regression", "--set", "C=1")
TRAIN = ("train", PENGUINS, "--target", "sex", *GIVEN)


def test_the_threshold_is_used_by_all_commands(separable):
    result = separable(*TRAIN, "--cost", "fp=1,fn=9", "--positive", "male", "-o", "m")
    assert result.code == 0
    assert "Threshold: male above probability " in result.out
    assert "  cost (fp 1, fn 9)" in result.out
    model = load("m")
    table = list(csv.DictReader(io.StringIO(separable("predict", "m", PENGUINS).out)))
    p = np.array([float(row["probability_male"]) for row in table])
    said = [row["prediction"] == "male" for row in table]
    assert said == (p > model.decision.threshold).tolist()
    evaluated = json.loads(separable("evaluate", "m", PENGUINS, "--json").out)
    assert evaluated["cost"]["false_negative"] == 9
    text = separable("evaluate", "m", PENGUINS).out
    assert "\n  male above probability " in text
    assert "  cost (fp 1, fn 9)" in text
    assert "  decision     " in separable("inspect", "m").out
    assert separable("report", "m", "-o", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Decision threshold: male above probability" in page
    assert "mean cost (fp 1, fn 9)" in page


def test_the_same_bytes_as_in_python(separable, tmp_path):
    separable(*TRAIN, "--cost", "female=2,male=1", "--class-weight", "balanced", "-o", "m")
    options = {"model": "logistic-regression", "set": {"C": 1}, "class_weight": "balanced"}
    run = package.train(str(PENGUINS), "sex", cost={"female": 2, "male": 1}, **options)
    run.save(tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == (tmp_path / "m").read_bytes()
    (command,) = run.model.evidence["train"]["report"]["commands"]
    assert "--cost female=2,male=1 --class-weight balanced" in command


def test_json(separable):
    told = json.loads(separable(*TRAIN, "--threshold", "mcc", "--json").out)
    assert told["decision"]["chosen_by"] == "mcc"
    assert told["decision"]["costs"] is None
    assert json.loads(separable(*TRAIN, "--json").out)["decision"] is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--cost", "fp=1,fn=-2"), "--cost fn=-2: '-2' is not a finite number >= 0"),
        (("--cost", "fp=1,maybe=2"), "--cost fp=1,maybe=2: there is no class 'fp'"),
        (("--threshold", "1"), "--threshold 1: give a probability between 0 and 1"),
        (("--threshold", "0.1", "--threshold", "0.2"), "given 2 times"),
        (("--class-weight", "x=2"), "--class-weight x=2: there is no class 'x'"),
        (("--cost", "fp=1,fn=2", "--stream"), "--cost fp=1,fn=2 cannot be used with a stream"),
    ],
)
def test_mistakes(separable, given, message):
    result = separable("train", PENGUINS, "--target", "sex", *given)
    assert result.code != 0
    assert message in result.err


def test_compare_takes_class_weights_and_no_costs(separable):
    given = ("compare", PENGUINS, "--target", "sex")
    assert "lda" not in separable(*given, "--class-weight", "balanced").out
    assert separable(*given, "--cost", "fp=1,fn=2").code == 2


@pytest.mark.parametrize("model", ["linear-gaussian-nb", "averaged-perceptron"])
def test_an_update_says_what_becomes_of_the_threshold(separable, model):
    given = ("--target", "sex", "--model", model, "--threshold", "0.2", "-o", "m")
    separable("train", PENGUINS, *given)
    result = separable("update", "m", PENGUINS, "-o", "new")
    kept = model == "linear-gaussian-nb"
    assert ("threshold is kept" if kept else "threshold is dropped") in result.err
    assert (load("new").decision == load("m").decision) == kept
