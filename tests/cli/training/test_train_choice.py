"""What `separable train` compares, and what decides."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import recall_score

from separable import LDA, LogisticRegression, TableEncoder, load
from separable.data import read
from separable.data.split import stratified_split
from separable.datasets import PENGUINS
from separable.select import cross_validate
from separable.workflow.learners import LEARNERS
from tests.cli.training.test_train_parts import rows, write

SPECIES = ("train", PENGUINS, "--target", "species", "--json")


def told(result) -> dict:
    assert result.code == 0, result.err
    found: dict = json.loads(result.out)
    return found


@pytest.mark.filterwarnings("ignore:The covariance within classes is singular")
def test_the_leaderboard_by_hand(separable):
    """Every mean is that of cross_validate on the encoded training part."""
    from sklearn.model_selection import StratifiedKFold

    found = told(separable(*SPECIES, "--model", "lda", "--model", "logistic-regression",
                           "--folds", 3, "--seed", 3, "--metric", "balanced_accuracy"))  # fmt: skip
    table = read(PENGUINS).table
    y = np.array(table["species"].to_pylist())
    train, _ = stratified_split(y, 0.25, 3)
    columns = table.drop_columns(["species"]).take(train)
    X = TableEncoder().fit(columns).encode(columns).to_matrix()
    folds = StratifiedKFold(3, shuffle=True, random_state=3)
    by_name = {each["learner"]: each for each in found["leaderboard"]["learners"]}
    C = by_name["logistic-regression"]["params"]["C"]
    for name, learner in {"lda": LDA(), "logistic-regression": LogisticRegression(C=C)}.items():
        expected = cross_validate(learner, X, y[train], cv=folds, scoring="balanced_accuracy")
        np.testing.assert_allclose(
            by_name[name]["scores"], expected.scores["balanced_accuracy"], rtol=1e-9
        )
    assert found["leaderboard"]["folds"] == 3


@pytest.mark.parametrize(
    "models",
    [
        ["--model", "logistic-regression", "--model", "linear-svm", "--folds", 2],
        pytest.param([], marks=pytest.mark.long),
    ],
    ids=["certified", "auto"],
)
def test_the_same_bytes_on_one_thread_and_on_two(separable, models):
    for threads in (1, 2):
        out = f"{threads}.safetensors"
        args = ["train", PENGUINS, "--target", "species", "--threads", threads, "-o", out]
        assert separable(*args, *models).code == 0
    assert Path("1.safetensors").read_bytes() == Path("2.safetensors").read_bytes()


def test_named_learners_are_compared_and_the_best_is_taken(separable):
    found = told(separable(*SPECIES, "--model", "linear-gaussian-nb", "--model", "lda"))
    names = [each["learner"] for each in found["leaderboard"]["learners"]]
    assert sorted(names) == ["lda", "linear-gaussian-nb"]
    assert found["chosen"]["name"] == names[0]
    assert load("penguins.safetensors").learner == {"lda": "LDA"}.get(names[0], "LinearGaussianNB")


def test_set_fixes_a_parameter_and_ends_its_search(separable):
    found = told(separable(*SPECIES, "--model", "logistic-regression", "--set", "C=0.5",
                           "--set", "fit_intercept=false"))  # fmt: skip
    assert found["chosen"]["params"] == {}
    model = load("penguins.safetensors")
    assert model.parameters["C"] == 0.5
    assert not model.intercept.any()


def test_set_in_auto_leaves_out_who_lacks_it(separable):
    args = ["train", write(rows(60)), "--target", "y", "--json", "--folds", 2]
    found = told(separable(*args, "--set", "class_weight=balanced"))
    names = {each["learner"] for each in found["leaderboard"]["learners"]}
    assert names == {"logistic-regression", "linear-svm", "averaged-perceptron"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--set", "C"], "--set C: write it as NAME=VALUE, such as C=1."),
        (
            ["--set", "c=1"],
            "--set c: logistic-regression has no such parameter (did you mean 'C'?)",
        ),
        (["--set", "C=-1"], "--set C=-1: The 'C' parameter of LogisticRegression must be"),
        (["--set", "C=1", "--set", "C=2"], "--set C is given twice."),
        (["--set", "n_jobs=2"], "--set n_jobs=2: use --threads."),
        (["--set", "random_state=2"], "use --seed."),
        (
            ["--model", "ridge"],
            "name learners that predict the same: logistic-regression (classes)",
        ),
        (
            ["--model", "auto"],
            "auto means all learners that suit the data. Leave out auto, or the names",
        ),
        (["--model", "ridge-cv"], "ridge searches its regularization itself: name that."),
        (["--task", "regression"], "--task regression: logistic-regression is for classification."),
        (["--metric", "rmse"], "--metric rmse: 'rmse' is not a metric of classification."),
        (["--positive", "Emu"], "--positive Emu: there is no class 'Emu'. There are 'Adelie'"),
        (["--folds", "1"], "--folds"),
    ],
)
def test_wrong_usage(separable, args, message):
    result = separable(*SPECIES, "--model", "logistic-regression", *args)
    assert result.code == 2
    assert message in " ".join(result.err.split())
    assert not Path("penguins.safetensors").exists()


def test_no_learner_of_auto_takes_a_setting(separable):
    result = separable(*SPECIES, "--set", "colour=red")
    assert result.code == 2
    assert "--set colour: no learner that suits the data has this parameter." in result.err


def test_the_metric_decides(separable):
    data = write(rows(120))
    args = ["train", data, "--target", "y", "--json", "--model", "logistic-regression"]
    found = told(separable(*args, "--metric", "log_loss"))
    assert found["leaderboard"]["metric"] == "log_loss"
    assert not found["leaderboard"]["greater_is_better"]
    result = separable(
        *args[:-3], "--metric", "log_loss", "--model", "linear-svm", "--model", "lda"
    )
    assert "; lower is better:" in result.out
    names = ("linear-svm", "voted-perceptron")
    mixed = [*args[:-3], "--metric", "log_loss"]
    result = separable(*mixed, *(word for name in names for word in ("--model", name)))
    assert "voted-perceptron failed: VotedPerceptron gives no probabilities" in result.out


def test_positive_is_the_rarer_of_two_unless_named(separable):
    columns = rows(120)
    columns["y"] = ["rare" if x > 0.8 else "common" for x in columns["x"]]
    columns["x"] = [round(x + 0.5 * z, 3) for x, z in zip(columns["x"], columns["z"], strict=True)]
    data = write(columns)
    model = ["--model", "logistic-regression", "--set", "C=1", "--metric", "recall"]
    args = ["train", data, "--target", "y", "--json", *model]
    found = told(separable(*args))
    assert found["positive"] == "rare"
    other = told(separable(*args, "--positive", "common"))
    assert other["positive"] == other["held_out"]["positive"] == "common"
    y = np.array(columns["y"])
    train, test = stratified_split(y, 0.25, 0)
    table = read(data).table.drop_columns(["y"])
    encoder = TableEncoder().fit(table.take(train))
    fitted = LogisticRegression().fit(encoder.encode(table.take(train)), y[train])
    answers = fitted.predict(encoder.encode(table.take(test)))
    for label, each in {"rare": found, "common": other}.items():
        expected = recall_score(y[test], answers, pos_label=label)
        assert each["held_out"]["recall"] == pytest.approx(expected)


def test_whole_numbers_are_classes_unless_asked_otherwise(separable):
    columns = {**rows(45), "y": [i % 3 for i in range(45)]}
    data = write(columns)
    args = ["train", data, "--target", "y", "--folds", 2]
    assert (
        "The 3 whole numbers of the target 'y' are taken as classes."
        in separable(*args, "--model", "auto").err
    )
    found = told(separable(*args, "--task", "regression", "--model", "ridge", "--json"))
    assert found["task"] == "regression"


def test_many_rows_are_compared_in_part(separable):
    args = ["compare", write(rows(200)), "--target", "y", "--model", "lda", "--json"]
    assert told(separable(*args))["compared_rows"] == 200
    part = told(separable(*args, "--compare-rows", 50))
    assert (part["rows"], part["compared_rows"]) == (200, 50)
    assert told(separable(*args, "--compare-rows", 0))["compared_rows"] == 200
    shown = separable(*args[:-1], "--compare-rows", 50).out
    assert "Compared by 5 folds of a random sample of 50 of 200 rows" in shown


def test_hard_learners_get_fewer_rows():
    from separable.workflow.comparison.candidates import Candidate
    from separable.workflow.comparison.learner_comparison import (
        COMPARE_ROWS,
        LEAST_ROWS,
        rows_to_compare,
    )
    from separable.workflow.learners import Facts

    usual = {"nonnegative": False, "text": False}
    wide = Facts(10**6, 54, 7, 54.0, **usual)
    grid = {"C": LEARNERS["logistic-regression"].regularization.values}
    logistic = Candidate("logistic-regression", grid=grid)
    assert LEAST_ROWS < rows_to_compare([logistic], wide) < COMPARE_ROWS
    assert rows_to_compare([Candidate("linear-svm", grid=grid)], wide) == LEAST_ROWS
    assert rows_to_compare([Candidate("lda")], wide) == COMPARE_ROWS


def test_texts_dates_and_booleans_can_be_named(separable):
    n = 80
    columns = {
        **rows(n),
        "note": ["good one" if i % 2 else "bad one" for i in range(n)],
        "day": [f"2024-01-{i % 28 + 1:02}" for i in range(n)],
        "open": ["yes" if i % 3 else "no" for i in range(n)],
    }
    args = ["train", write(columns), "--target", "y", "--model", "logistic-regression", "--json"]
    found = told(separable(*args, "--text", "note", "--date", "day", "--boolean", "open"))
    kinds = {each["name"]: each["type"] for each in found["columns"]}
    assert (kinds["note"], kinds["day"], kinds["open"]) == ("text", "date", "boolean")
    assert "note:good" in load("data.safetensors").encoder.feature_names
    result = separable(*args, "--text", "y")
    assert result.code == 2
    assert "--text y: a target is --category (classes) or --number." in result.err


def test_what_the_model_remembers(separable):
    told(separable(*SPECIES, "--model", "lda"))
    kept = load("penguins.safetensors").evidence["train"]
    assert (kept["task"], kept["target"], kept["data"]) == (
        "classification", "species", "penguins.csv",
    )  # fmt: skip
    assert (kept["metric"], kept["positive"], kept["constant"]) == ("log_loss", None, "Adelie")
    assert kept["held_out"]["rows"] == 86
    assert [each["learner"] for each in kept["leaderboard"]] == ["lda"]
    assert "seconds" not in kept["leaderboard"][0]


def test_all_learners_failing_is_an_error(separable):
    n = 40
    columns = {"x": [-i for i in range(n)], "z": rows(n)["z"], "y": ["a", "b"] * (n // 2)}
    args = ["train", write(columns), "--target", "y", "--model", "multinomial-nb"]
    result = separable(*args, "--model", "complement-nb")
    assert result.code == 1
    assert "No learner could be validated. multinomial-nb: " in result.err


def test_of_equals_the_preferred_is_taken(separable):
    """Within the standard error of the best, the first named wins; beyond it the best does."""
    names = ["averaged-perceptron", "lda", "linear-gaussian-nb"]
    for order in (names, names[::-1]):
        models = [arg for name in order for arg in ("--model", name)]
        found = told(separable(*SPECIES, *models))
        board = found["leaderboard"]["learners"]
        alike = [
            each["learner"] for each in board if abs(each["difference"]) <= each["difference_error"]
        ]
        assert found["chosen"]["name"] == min(alike, key=order.index)
