"""`separable evaluate`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics as sk

from separable import LinearModel, TableEncoder, TextEncoder, load
from separable.data import read
from separable.datasets import PENGUINS

RNG = np.random.default_rng(3)
X = RNG.normal(size=300).round(3)
TRUTH = np.where(X + RNG.normal(size=300) > 0, "yes", "no")
WEIGHT = RNG.integers(0, 4, 300)


def saved(classes, link="logistic", **more) -> LinearModel:
    encoder = TableEncoder(scale=False).fit({"x": [1.0, 3.0]})
    k = 1 if classes is None or len(classes) == 2 else len(classes)
    weights = np.arange(1.0, k + 1)[:, None]
    model = LinearModel(weights, np.zeros(k), classes, link, encoder=encoder, **more)
    model.save("m.safetensors")
    return model


def table(labels=TRUTH, weight=WEIGHT, name="y") -> None:
    lines = [f"{x},{label},{w}" for x, label, w in zip(X, labels, weight, strict=True)]
    Path("d.csv").write_text(f"x,{name},w\n" + "\n".join(lines) + "\n")


def test_classes(separable):
    model = saved(["no", "yes"])
    table()
    told = json.loads(
        separable("evaluate", "m.safetensors", "d.csv", "--target", "y", "--json").out
    )
    expected = model.evaluate(X[:, None], TRUTH).to_dict()
    assert {name: told[name] for name in expected} == json.loads(json.dumps(expected))
    assert told["accuracy"] == sk.accuracy_score(TRUTH, np.where(X > 0, "yes", "no"))
    assert (told["data"], told["target"], told["rows_without_target"]) == ("d.csv", "y", 0)
    result = separable("evaluate", "m.safetensors", "d.csv", "--target", "y")
    assert (result.code, result.err) == (0, "")
    assert result.out == f"LinearModel on d.csv, target y:\n{model.evaluate(X[:, None], TRUTH)}\n"


def test_weights(separable):
    model = saved(["no", "yes"])
    table()
    args = ["evaluate", "m.safetensors", "d.csv", "--target", "y", "--weight", "w", "--json"]
    told = json.loads(separable(*args).out)
    expected = model.evaluate(X[:, None], TRUTH, WEIGHT)
    assert told["log_loss"] == expected.figures["log_loss"]
    assert told["rows"] == np.count_nonzero(WEIGHT)
    table(weight=[*WEIGHT[:-1], -1])
    result = separable(*args)
    assert result.err == "Error: d.csv:301:12: column 'w': -1 is not a weight. " + (
        "Weights are finite numbers >= 0; 0 leaves a row out.\n"
    )


def test_the_target_of_the_training_is_the_default(separable, penguins_model):
    result = separable("evaluate", penguins_model, PENGUINS, "--json")
    told = json.loads(result.out)
    model, data = load(penguins_model), read(PENGUINS, target="species")
    assert told["target"] == "species"
    assert told["accuracy"] == np.mean(model.predict(data.table) == data.y)
    assert "Note: All 344 rows are identical to rows of the training data" in result.err
    assert "Note: sex: 11 missing" in result.err


def test_what_training_remembers(separable):
    remembered = {"target": "y", "positive": "no", "constant": "yes", "weight": "w"}
    model = saved(["no", "yes"], evidence={"train": remembered})
    table()
    result = separable("evaluate", "m.safetensors", "d.csv", "--json")
    told = json.loads(result.out)
    assert (told["positive"], told["constant"]) == ("no", "yes")
    assert told["recall"] == model.evaluate(X[:, None], TRUTH, positive="no").figures["recall"]
    assert (
        "Note: The training rows had sample weights. Use --weight w to evaluate with weights."
    ) in result.err
    saved(["no", "yes"], evidence={"train": {"target": "y", "positive": 7, "constant": [1]}})
    assert (
        json.loads(separable("evaluate", "m.safetensors", "d.csv", "--json").out)["positive"]
        == "yes"
    )


@pytest.mark.parametrize(
    ("classes", "texts", "labels"),
    [
        ([0, 1], ["0", "1"], [0, 1]),
        ([0, 1], ["0.0", "1.0"], [0, 1]),
        ([False, True], ["false", "true"], [False, True]),
        ([False, True], ["False", "True"], [False, True]),
        ([0.5, 1.5], ["0.5", "1.50"], [0.5, 1.5]),
    ],
)
def test_labels_that_are_no_texts(separable, classes, texts, labels):
    model = saved(classes)
    yes = TRUTH == "yes"
    table(np.array(texts)[yes.astype(int)])
    told = json.loads(
        separable("evaluate", "m.safetensors", "d.csv", "--target", "y", "--json").out
    )
    expected = model.evaluate(X[:, None], np.array(labels)[yes.astype(int)])
    assert told["accuracy"] == expected.figures["accuracy"]
    assert told["notes"] == []


def test_labels_that_the_model_does_not_know(separable):
    saved([0, 1])
    yes = (TRUTH == "yes").astype(int).astype(str)
    table(np.array([*yes[:-2], "2", "maybe"]))
    result = separable("evaluate", "m.safetensors", "d.csv", "--target", "y")
    assert (
        "2 rows have a label that the model does not know (2.0, 'maybe'): predicted" in result.out
    )
    table(np.full(300, "what"))
    result = separable("evaluate", "m.safetensors", "d.csv", "--target", "y")
    assert (result.code, result.out) == (1, "")
    assert "No true label is a class of the model. The labels are 'what'" in result.err


def test_rows_without_a_target_are_left_out(separable, monkeypatch):
    monkeypatch.setattr("separable.cli.io.model_rows.PART_ROWS", 7)
    model = saved(["no", "yes"])
    table(np.where(np.arange(300) % 3 == 0, "", TRUTH))
    result = separable("evaluate", "m.safetensors", "d.csv", "--target", "y")
    keep = np.arange(300) % 3 > 0
    assert result.out.startswith("LinearModel on d.csv, target y, 100 rows without it left out:")
    assert str(model.evaluate(X[keep, None], TRUTH[keep])) in result.out
    table(np.full(300, ""))
    result = separable("evaluate", "m.safetensors", "d.csv", "--target", "y")
    assert (result.code, result.out) == (1, "")
    assert "no row has a target y, so there is nothing to evaluate" in result.err


def test_numbers(separable):
    model = saved(None, "identity", evidence={"train": {"target": "y", "constant": 1.5}})
    y = (X + RNG.normal(size=300)).round(3)
    table(y)
    told = json.loads(separable("evaluate", "m.safetensors", "d.csv", "--json").out)
    assert told["rmse"] == pytest.approx(sk.root_mean_squared_error(y, X))
    assert told["constant"] == 1.5
    assert told["constant_rmse"] == pytest.approx(np.sqrt(np.mean((y - 1.5) ** 2)))
    assert "root mean squared error" in separable("evaluate", "m.safetensors", "d.csv").out
    assert model.evaluate(X[:, None], y).figures["mae"] == told["mae"]
    table(np.where(np.arange(300) == 9, "abc", y.astype(str)))
    result = separable("evaluate", "m.safetensors", "d.csv")
    assert result.err.startswith("Error: d.csv:11:7: column 'y': 'abc' is not a number")


@pytest.mark.parametrize(
    ("limits", "code", "told"),
    [
        (["--fail-under", "accuracy=0.1"], 0, ""),
        (["--fail-under", "accuracy=0.99"], 3, "--fail-under accuracy=0.99: accuracy is 0."),
        (["--fail-over", "log_loss=0.01"], 3, "--fail-over log_loss=0.01: log_loss is 0."),
        (["--fail-over", "log_loss=9", "--fail-under", "f1=0.99"], 3, "f1 is 0."),
        (["--fail-under", "log_loss=0.1"], 2, "smaller is better. Use --fail-over log_loss=0.1."),
        (["--fail-over", "f1=0.1"], 2, "larger is better. Use --fail-under f1=0.1."),
        (["--fail-under", "acc=0.1"], 2, "unknown metric 'acc'. Metrics: accuracy, "),
        (["--fail-under", "accuracy"], 2, "expected METRIC=NUMBER, such as accuracy=0.9."),
        (["--fail-under", "accuracy=nan"], 2, "expected METRIC=NUMBER"),
        (["--fail-under", "r2=0.5"], 2, "r2 is a metric for regression, and the model does class"),
        (["--positive", "maybe"], 2, "--positive maybe: there is no class 'maybe'. There are 'no'"),
        (["--weight", "absent"], 1, "d.csv has no column 'absent'"),
        (["--target", "absent"], 1, "d.csv has no column 'absent'"),
    ],
)
def test_limits_and_wrong_options(separable, limits, code, told):
    saved(["no", "yes"], evidence={"train": {"target": "y"}})
    table()
    result = separable("evaluate", "m.safetensors", "d.csv", *limits)
    assert result.code == code
    assert told in result.err
    assert ("accuracy" in result.out) == (code in (0, 3))
    if code == 3:
        assert result.err.count("\n") == 1


def test_a_figure_that_is_not_there_is_missed(separable):
    saved(["no", "yes"], "score", evidence={"train": {"target": "y"}})
    table()
    args = ["evaluate", "m.safetensors", "d.csv", "--fail-over", "log_loss=1", "--json"]
    result = separable(*args)
    assert result.code == 3
    assert json.loads(result.out)["missed"] == [
        "--fail-over log_loss=1: log_loss is not available: the model gives no probabilities."
    ]


def test_a_target_has_to_be_named(separable):
    saved(["no", "yes"])
    table()
    result = separable("evaluate", "m.safetensors", "d.csv")
    assert (result.code, result.out) == (2, "")
    assert "Name it with --target" in result.err


def test_standard_input(separable, monkeypatch):
    saved(["no", "yes"], evidence={"train": {"target": "y"}})
    table()
    whole = json.loads(separable("evaluate", "m.safetensors", "d.csv", "--json").out)
    text = io.BytesIO(Path("d.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": text})())
    told = json.loads(separable("evaluate", "m.safetensors", "-", "--json").out)
    assert told == {**whole, "data": "standard input"}


def test_sparse_text_has_its_labels(separable):
    model = LinearModel([[1.0, -2.0]], [0.25], [-1, 1], "score")
    model.save("m.safetensors")
    Path("d.svm").write_text("1 1:1\n-1 2:3\n1 2:1\n")
    result = separable("evaluate", "m.safetensors", "d.svm", "--json")
    told = json.loads(result.out)
    assert (told["accuracy"], told["rows"], told["target"]) == (pytest.approx(2 / 3), 3, None)
    result = separable("evaluate", "m.safetensors", "d.svm", "--target", "y")
    assert result.code == 2
    assert "each line of svmlight text begins with its target" in result.err
    names = LinearModel([[1.0, -2.0]], [0.25], [-1, 1], "score", ["a", "b"])
    names.save("n.safetensors")
    Path("d.vw").write_text("1 2 | a:1\n-1 | b:3\n | b:4\n1 | b:1\n")
    told = json.loads(separable("evaluate", "n.safetensors", "d.vw", "--json").out)
    assert (told["accuracy"], told["rows"], told["rows_without_target"]) == (0.75, 3, 1)


def test_texts_of_a_named_column(separable):
    encoder = TextEncoder().fit(["good film", "bad film"])
    model = LinearModel([[-1.0, 0.0, 2.0]], [0.1], ["neg", "pos"], "logistic", encoder=encoder)
    model.save("m.safetensors")
    Path("d.csv").write_text("review,y\ngood,pos\nbad,neg\nbad bad,pos\n")
    told = json.loads(
        separable("evaluate", "m.safetensors", "d.csv", "--target", "y", "--json").out
    )
    assert told["correct"] == 2


def test_several_targets_are_for_python(separable):
    LinearModel([[1.0], [2.0]], [0, 0], None, "identity").save("m.safetensors")
    table()
    result = separable("evaluate", "m.safetensors", "d.csv", "--target", "y")
    assert result.code == 1
    assert "predicts 2 numbers a row" in result.err


@pytest.mark.parametrize("spelled", ["true false", "True False", "TRUE FALSE"])
def test_booleans_of_another_format(separable, spelled):
    from pyarrow import parquet, table

    x = np.random.default_rng(0).normal(size=60)
    parquet.write_table(table({"x": x, "y": x > 0.1}), "flags.parquet")
    train = ["train", "flags.parquet", "--target", "y", "--model", "logistic-regression"]
    assert separable(*train, "-o", "m").code == 0
    yes, no = spelled.split()
    lines = [f"{value},{yes if value > 0.1 else no}" for value in x]
    Path("flags.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    in_csv, in_parquet = (separable("evaluate", "m", f"flags.{end}") for end in ("csv", "parquet"))
    assert in_csv.code == 0, in_csv.err
    assert in_csv.out == in_parquet.out.replace(".parquet", ".csv")
