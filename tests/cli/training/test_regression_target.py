"""Regression on the command line: the target, the split, the figures, and every command."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import r2_score, root_mean_squared_error

from separable import TableEncoder, load
from separable.data import read
from separable.data.table import TableError
from separable.datasets import PENGUINS
from separable.workflow.target import Numbers

MASS = ["--target", "body_mass_g", "--model", "plane"]


def target(values) -> Numbers:
    text = "y\n" + "".join(f"{value}\n" for value in values)
    return Numbers.read(
        read(io.BytesIO(text.encode()), column_types={"y": "number"}).table, "y", "data.csv"
    )


def write(text: str, name: str = "data.csv") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def lines(n: int = 40, **cells: str) -> str:
    """y = 3 x + 1, but for some cells of y by row, row 1 the first."""
    rows = [f"{i},{cells.get(f'row{i}', 3 * i + 1)}" for i in range(1, n + 1)]
    return "\n".join(["x,y", *rows]) + "\n"


# --- the target ---


def test_numbers_and_missing_ones():
    found = target(["1.5", "NA", "-2", "", "1e3"])
    assert found.values.tolist() == [1.5, -2, 1000]
    assert found.rows.tolist() == [0, 2, 4]
    assert found.missing == 2
    summary = found.summary()
    assert summary.text == "-2 to 1000, mean 333.167"
    assert summary.values["target_values"] == {
        "minimum": -2,
        "maximum": 1000,
        "mean": found.values.mean(),
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["?", "NA"], "'y' is empty in every row. Name another column with target."),
        ([5, 5, "NA"], "'y' holds the same number, 5, in all 2 rows. A regressor needs"),
        ([5], "'y' holds the same number, 5, in its only row."),
    ],
)
def test_what_cannot_be_predicted(values, message):
    with pytest.raises(TableError, match=f"data.csv: the target column {message}"):
        target(values)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("inf", "infinity, or a number too large for float64, cannot be .* to skip the row"),
        ("-1e999", "infinity, or a number too large"),
        ("-1e200", r"-1e\+200 is too large to predict. Use a larger unit."),
    ],
)
def test_numbers_beyond_measure(value, message):
    with pytest.raises(TableError, match=f"data.csv: data row 3, column 'y': {message}"):
        target([1, "", value, 2])


def test_the_constant_answer_is_the_weighted_mean():
    found = target([1, 2, 3, 9])
    assert found.constant(np.array([0, 1, 2]), None) == 2
    assert found.constant(np.array([0, 3]), np.array([3.0, 1.0])) == 3
    told = found.training(np.array([1, 2, 3, 5]))
    assert told.text == "root mean squared error 2 on the training rows"
    wild = found.training(np.array([1, 2, np.inf, 0]))
    assert wild.values == {"training_rmse": np.inf}


# --- train ---


def test_penguins(separable, regressors):
    result = separable("train", PENGUINS, *MASS)
    assert (result.code, result.err) == (0, "")
    for expected in (
        "  target    body_mass_g: 2700 to 6300, mean 4201.75; 2 missing, rows skipped",
        "  category  species (3 levels), island (3 levels), ",
        "Held out 86 of 342 rows, at random:",
        "always 42",
        "Plane, retrained on all 342 rows with 1",
        " root mean squared error 2",
        "  species   ",
        "weight +",
        "separable evaluate penguins.safetensors NEW.csv",
    ):
        assert expected in result.out
    for word in ("class", "wrongly", "epoch", "score"):
        assert word not in result.out
    model = load("penguins.safetensors")
    assert (model.classes, model.link) == (None, "identity")


def test_json_and_evidence_by_hand(separable, regressors):
    told = json.loads(
        separable("train", PENGUINS, *MASS, "--curves", "no", "--json", "--seed", 4).out
    )
    assert (told["task"], told["rows"], told["rows_without_target"]) == ("regression", 342, 2)
    assert told["target_values"]["minimum"] == 2700
    assert "classes" not in told
    assert "training_mistakes" not in told

    from regressors_of_tests import Plane

    table = read(PENGUINS).table
    found = Numbers.read(table, "body_mass_g", "penguins.csv")
    train, test = found.split(0.25, 4)
    columns, y = table.drop_columns(["body_mass_g"]), found.values
    encoder = TableEncoder().fit(columns.take(found.rows[train]))
    fitted = Plane().fit(encoder.encode(columns.take(found.rows[train])), y[train])
    predicted = fitted.model_.predict(encoder.encode(columns.take(found.rows[test])))
    assert told["held_out"]["rmse"] == pytest.approx(
        root_mean_squared_error(y[test], predicted), rel=1e-9
    )
    assert told["held_out"]["r2"] == pytest.approx(r2_score(y[test], predicted), rel=1e-9)
    model = load("penguins.safetensors")
    evidence = model.evidence["train"]
    (only,) = evidence.pop("leaderboard")
    assert (only["learner"], only["failed"]) == ("plane", None)
    memory = evidence.pop("report")
    assert sum(count for _, _, count in memory["bins"]) == 342
    assert evidence == {
        "task": "regression",
        "target": "body_mass_g",
        "data": "penguins.csv",
        "rows": 342,
        "metric": "rmse",
        "positive": None,
        "weight": None,
        "group": None,
        "time": None,
        "constant": y[train].mean(),
        "training_rmse": told["training_rmse"],
        "held_out": told["held_out"],
    }
    answers = model.predict(columns.take(found.rows))
    assert told["training_rmse"] == pytest.approx(root_mean_squared_error(y, answers), rel=1e-9)


def test_a_seed_and_evidence_of_other_kinds(separable, regressors):
    args = ["train", write(lines()), "--target", "y", "--model", "descent", "--seed", 9]
    assert "  7 epochs, not converged\n" in separable(*args).out
    assert json.loads(separable(*args, "--json").out)["evidence"]["seed"] == 9


def test_warnings_are_one_line_each_and_told_once(separable, regressors, monkeypatch):
    from regressors_of_tests import Plane

    monkeypatch.setattr(Plane, "told", ("nearly\n  singular", "nearly singular", "slow"))
    result = separable("train", write(lines()), "--target", "y", "--model", "plane")
    assert result.code == 0
    assert result.err.endswith("\nWarning: nearly singular\nWarning: slow\n")
    assert result.err.startswith("Warning: 'x' encodes the target 'y'")
    assert result.err.count("\n") == 3


def test_three_rows(separable, regressors):
    args = ["train", write(lines(3)), "--target", "y", "--model", "plane"]
    result = separable(*args)
    assert result.code == 0
    assert "Held out 1 of 3 rows, at random" in result.out
    assert "There are too few rows to compare learners" in result.out
    told = json.loads(separable(*args, "--json").out)
    assert told["held_out"]["r2"] is None
    assert told["held_out"]["rmse"] < 1e-9
    told = json.loads(separable("train", write(lines(2)), *args[2:], "--json").out)
    assert told["held_out"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            lines(row7="cheap"),
            "data.csv:8:3: column 'y': 'cheap' is not a number. Correct it, or leave it empty if "
            "it is missing. This learner is a regressor and needs a numeric target. For classes "
            "use --model logistic-regression.\n",
        ),
        (lines(row7="inf"), "data.csv:8:3: column 'y': infinity, or a number too large"),
        (
            "x,y\n1,2\n2,2\n3,2\n",
            "data.csv: the target column 'y' holds the same number, 2, in all 3 rows. A regressor",
        ),
        ("x,y\n1,\n2,NA\n", "data.csv: the target column 'y' is empty in every row. Name"),
        ("y\n1\n2\n", "data.csv: no feature columns: the target 'y'"),
    ],
)
def test_bad_data(separable, regressors, text, message):
    result = separable("train", write(text), "--target", "y", "--model", "plane")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"Error: {message}")
    assert result.err.count("\n") == 1
    assert not Path("data.safetensors").exists()


def test_what_the_user_says_of_the_target(separable, regressors):
    args = ["train", write(lines()), "--target", "y", "--model", "plane"]
    assert separable(*args, "--number", "y").code == 0
    result = separable(*args, "--category", "y")
    assert result.code == 2
    assert "--category y: this learner is a regressor and needs a numeric target" in result.err
    assert "predict categories with --model logistic-regression" in result.err


def test_a_classifier_names_the_regressors(separable, regressors):
    args = ["train", PENGUINS, "--target", "body_mass_g"]
    result = separable(*args, "--model", "logistic-regression")
    assert result.code == 1
    assert "looks like a quantity: 94 different values in 342 rows" in result.err
    assert "predict the number itself (--model ridge, or another regressor), name" in result.err


def test_the_target_decides_without_a_learner(separable):
    result = separable("train", PENGUINS, "--target", "body_mass_g")
    assert result.code == 0
    assert (
        "Note: The target 'body_mass_g' looks like a quantity, so the task is regression"
    ) in result.err
    assert "Ridge, retrained on all 342 rows" in result.out
    assert re.search(r"Chosen: ridge with alpha \S+: ", result.out)
    args = ["train", PENGUINS, "--target", "body_mass_g", "--task", "regression"]
    named = separable(*args, "--folds", 2)
    assert named.err == ""
    asked = separable("train", PENGUINS, "--target", "body_mass_g", "--category", "body_mass_g")
    assert asked.code == 1
    assert "looks like a quantity" in asked.err


# --- predict and explain ---


@pytest.fixture
def mass_model(separable, regressors) -> str:
    assert separable("train", PENGUINS, *MASS, "-o", "mass.safetensors").code == 0
    return "mass.safetensors"


def test_predict(separable, mass_model):
    header, *found = separable("predict", mass_model, PENGUINS).out.splitlines()
    assert header == "prediction"
    np.testing.assert_array_equal(
        np.array(found, float), load(mass_model).predict(read(PENGUINS).table)
    )


def test_explain_speaks_of_predictions(separable, mass_model):
    result = separable("explain", mass_model, PENGUINS, "--row", 3)
    out = result.out.splitlines()
    assert "data row 3: Plane predicts 3" in out[0]
    assert out[-2].split()[0] == "intercept"
    assert out[-1].split()[0] == "prediction"
    assert out[0].split()[-1] == out[-1].split()[-1]
    for text in (result.out, separable("explain", mass_model).out):
        assert "score" not in text
        assert "class" not in text
    assert "raises the prediction" in separable("explain", mass_model).out


def test_contributions_sum_to_the_prediction(separable, mass_model):
    model, table = load(mass_model), read(PENGUINS).table
    for row in (1, 4, 344):
        args = ["explain", mass_model, PENGUINS, "--row", row, "--json", "--top", 99]
        (told,) = json.loads(separable(*args).out)["rows"]
        parts = [told["intercept"], *(term["contribution"] for term in told["terms"])]
        size = sum(abs(part) for part in parts)
        assert abs(sum(parts) - told["predicted"]) <= 1e-12 * size
        assert told["predicted"] == model.predict(table.slice(row - 1, 1))[0]
        assert "score" not in told
    overall = json.loads(separable("explain", mass_model, "--json").out)
    assert overall["classes"] is None


def test_dependent_columns_are_named_but_levels_of_a_category_are_no_news(separable):
    rows = [(k, 2 * k, "abc"[k % 3], k * k % 11) for k in range(40)]
    told = {}
    for names in ("once,kind,y", "once,twice,kind,y"):
        kept = [row if "twice" in names else row[:1] + row[2:] for row in rows]
        data = write("\n".join([names, *(",".join(map(str, row)) for row in kept)]) + "\n")
        result = separable("train", data, "--target", "y", "--model", "least-squares")
        assert result.code == 0
        told[names] = result.err
    assert told["once,kind,y"] == ""
    assert "Warning: Columns depend on each other" in told["once,twice,kind,y"]
    assert re.search(
        "(once is a linear combination of twice|twice is a linear combination of once)", told[names]
    )
    assert "kind=" not in told[names]


def test_what_a_learner_chose_by_itself_is_told(separable):
    args = ["train", PENGUINS, "--target", "body_mass_g", "--model"]
    told = separable(*args, "ridge").out
    assert re.search(r"\n  1\*  ridge +alpha \S+ ", told)
    assert re.search(r"\n  condition number [0-9.]+\n", told)
    told = separable(*args, "bayesian-regression").out
    assert re.search(r"\n  weight precision [0-9.e-]+, noise precision [0-9.e-]+, condition", told)
    assert "\n  weight" not in told.partition("BayesianRegression,")[0]
