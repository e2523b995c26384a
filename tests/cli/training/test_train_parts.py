"""Which rows `separable train` learns from and tests on, and how much each counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score

from separable import load
from separable.workflow.holdout_splits import folds_of, forward_folds, held_out_rows
from separable.workflow.options import ProblemOptions
from separable.workflow.training_problem import read_problem

FAST = ("--model", "logistic-regression", "--set", "C=1")


def write(columns: dict[str, list], name: str = "data.csv") -> str:
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    Path(name).write_text("\n".join([",".join(columns), *lines]) + "\n")
    return name


def rows(n: int = 80, seed: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n)).round(3)
    label = np.where(x + z + rng.normal(size=n) * 0.7 > 0, "yes", "no")
    return {"x": x.tolist(), "z": z.tolist(), "y": label.tolist()}


def told(result) -> dict:
    assert result.code == 0, result.err
    found: dict = json.loads(result.out)
    return found


def problem(data: str, **given):
    return read_problem(data, ProblemOptions("y", **given))


# --- groups ---


def test_no_group_is_in_both_parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    groups = np.random.default_rng(1).integers(0, 12, 80)
    found = problem(write({**rows(), "who": [f"p{g}" for g in groups]}), group="who")
    for seed in range(5):
        train, test = held_out_rows(found, 0.25, seed)
        assert not set(groups[train]) & set(groups[test])
        assert sorted([*train, *test]) == list(range(80))
        assert 8 <= len(test) <= 32
    for train, test in folds_of(found, np.arange(80), 5, 0):
        assert not set(groups[train]) & set(groups[test])


def test_a_group_is_not_learned_from(separable):
    columns = {**rows(), "who": [f"p{i % 9}" for i in range(80)]}
    args = ["train", write(columns), "--target", "y", "--group", "who", *FAST]
    found = told(separable(*args, "--json"))
    assert {each["name"]: each["type"] for each in found["columns"]}["who"] == "group"
    assert found["n_features"] == 2
    assert "no who in both training and test rows" in separable(*args).out
    evidence = load("data.safetensors").evidence["train"]
    assert evidence["group"] == "who"


# --- time ---


def test_what_is_tested_on_is_later(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    day = np.random.default_rng(2).integers(1, 29, 80)
    found = problem(write({**rows(), "day": [f"2024-02-{d:02}" for d in day]}), time="day")
    for share in (0.1, 0.25, 0.6):
        train, test = held_out_rows(found, share, 0)
        assert day[train].max() < day[test].min()
        assert abs(len(test) / 80 - share) < 0.07
    train, test = held_out_rows(found, 0, 0)
    assert (len(train), len(test)) == (80, 0)


@pytest.mark.parametrize("n_folds", [2, 5])
def test_folds_go_forward_in_time(n_folds):
    times = np.random.default_rng(3).integers(0, 30, 100).astype(float)
    folds = forward_folds(times, n_folds)
    assert len(folds) == n_folds
    held = np.concatenate([test for _, test in folds])
    assert len(np.unique(held)) == len(held)
    for train, test in folds:
        assert times[train].max() < times[test].min()
    assert [len(a) for a, _ in folds] == sorted(len(a) for a, _ in folds)
    ((train, test),) = forward_folds(np.array([2.0, 1, 2, 1]), 5)
    assert (train.tolist(), test.tolist()) == ([1, 3], [0, 2])


def test_time_in_numbers_and_in_the_report(separable):
    columns = {**rows(), "t": list(range(80))}
    args = ["train", write(columns), "--target", "y", "--time", "t", *FAST]
    result = separable(*args)
    assert "Held out 20 of 80 rows, the latest by t:" in result.out
    assert "not a feature: time of the row" in result.out
    found = told(separable(*args, "--json"))
    x = np.column_stack([columns["x"], columns["z"]])
    assert found["held_out"]["rows"] == 20
    assert found["n_features"] == x.shape[1]


# --- a file to test on ---


def test_a_test_file_is_tested_on_and_all_of_the_data_learned_from(separable):
    data, test = write(rows()), write(rows(40, seed=1), "test.csv")
    found = told(separable("train", data, "--target", "y", "--test", test, *FAST, "--json"))
    assert (found["rows"], found["held_out"]["rows"]) == (80, 40)
    model = load("data.safetensors")
    records = rows(40, seed=1)
    answers = model.predict({"x": records["x"], "z": records["z"]})
    assert found["held_out"]["accuracy"] == accuracy_score(records["y"], answers)
    assert (
        "Tested on 40 rows of test.csv:"
        in separable("train", data, "--target", "y", "--test", test, *FAST).out
    )


@pytest.mark.parametrize(("name", "value"), [("x", "inf"), ("w", -1)])
def test_a_bad_value_is_named_by_its_line_where_rows_without_target_stand_above(
    separable, name, value
):
    data = {**rows(), "w": [1] * 80}
    test = {**rows(40, seed=1), "w": [1] * 40}
    test["y"][0], test[name][5] = "", value
    args = ["--target", "y", "--weight", "w", "--test", write(test, "test.csv"), *FAST]
    assert f"test.csv:7:{1 if name == 'x' else ''}" in separable("train", write(data), *args).err


def test_rows_that_were_learned_from_are_told(separable):
    columns = rows()
    data, test = write(columns), write({k: v[:30] for k, v in columns.items()}, "test.csv")
    result = separable("train", data, "--target", "y", "--test", test, *FAST)
    assert "30 of the 30 test rows are also in the training rows" in result.err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1], "y": ["no"]}, "test.csv has no column 'z'"),
        ({"x": [1], "z": [2]}, "test.csv has no column 'y'"),
        ({"x": [1], "z": [2], "y": [""]}, "test.csv: the target column 'y' is empty in every row"),
    ],
)
def test_a_test_file_that_does_not_fit(separable, columns, message):
    data, test = write(rows()), write(columns, "test.csv")
    result = separable("train", data, "--target", "y", "--test", test, *FAST)
    assert result.code == 1
    assert message in result.err
    assert not Path("data.safetensors").exists()


def test_the_model_does_not_overwrite_the_test_file(separable):
    data, test = write(rows()), write(rows(), "test.csv")
    result = separable("train", data, "--target", "y", "--test", test, "-o", test)
    assert result.code == 2
    assert "-o test.csv would overwrite the test" in result.err


# --- held-out rows stay out ---


def test_a_level_of_held_out_rows_alone_is_unseen(separable):
    columns = {**rows(), "t": list(range(80)), "c": ["a", "b"] * 30 + ["late"] * 20}
    args = ["train", write(columns), "--target", "y", "--time", "t", *FAST]
    assert separable(*args).code == 0
    kept = {name: values[:60] for name, values in columns.items()}
    late = {name: values[60:] for name, values in columns.items()}
    by_file = ["train", write(kept, "a.csv"), "--target", "y", "--time", "t", *FAST, "--test"]
    figures = [
        told(separable(*args, "--json"))["held_out"],
        told(separable(*by_file, write(late, "b.csv"), "--json"))["held_out"],
    ]
    assert figures[0] == figures[1]
    assert "c=late" in load("data.safetensors").encoder.feature_names
    assert "c=late" not in load("a.safetensors").encoder.feature_names


# --- weights ---


def numbers(n: int = 40) -> dict[str, list]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=n).round(2)
    return {"x": x.tolist(), "y": (2 * x + rng.normal(size=n)).round(2).tolist()}


def test_a_weight_of_k_is_the_row_k_times(separable):
    columns = numbers()
    weight = np.random.default_rng(5).integers(0, 4, 40)
    repeated = {name: np.repeat(values, weight).tolist() for name, values in columns.items()}
    args = ["--target", "y", "--task", "regression", "--model", "least-squares"]
    data = write({**columns, "w": weight.tolist()})
    test = write({**numbers(30), "w": [1, 2, 3] * 10}, "test.csv")
    more = write(
        {k: np.repeat(v, [1, 2, 3] * 10).tolist() for k, v in numbers(30).items()}, "more.csv"
    )
    one = told(separable("train", data, *args, "--weight", "w", "--test", test, "--json"))
    two = told(separable("train", write(repeated, "r.csv"), *args, "--test", more, "--json"))
    models = load("data.safetensors"), load("r.safetensors")
    x = np.linspace(-2, 2, 9)
    expected = LinearRegression().fit(
        np.array(columns["x"])[:, None], columns["y"], sample_weight=weight
    )
    for model in models:
        answers = model.predict({"x": x.tolist()})
        np.testing.assert_allclose(answers, expected.predict(x[:, None]), rtol=1e-9)
    for name in ("r2", "rmse", "mae"):
        assert one["held_out"][name] == pytest.approx(two["held_out"][name], rel=1e-9)
    assert one["rows"] == np.count_nonzero(weight)
    assert f"{np.count_nonzero(weight == 0)} rows of weight 0 skipped." in one["notes"]


def test_weights_count_in_the_comparison(separable):
    columns = {**rows(), "w": [1, 5] * 40}
    args = ["compare", write(columns), "--target", "y", *FAST, "--json"]
    plain = told(separable(*args, "--drop", "w"))
    weighted = told(separable(*args, "--weight", "w"))
    assert plain["learners"][0]["scores"] != weighted["learners"][0]["scores"]


# --- what cannot be ---


@pytest.mark.parametrize(
    ("more", "args", "message"),
    [
        ({"g": ["a"] * 80}, ["--group", "g"], "--group g: all rows are in one group"),
        ({}, ["--group", "g"], "data.csv has no column 'g'"),
        (
            {"w": [1] * 79 + [-1]},
            ["--weight", "w"],
            "data.csv:81:17: column 'w': -1 is not a weight",
        ),
        ({"w": [1] * 79 + [""]}, ["--weight", "w"], "column 'w': a weight is missing"),
        ({"w": [1] * 79 + ["inf"]}, ["--weight", "w"], "column 'w': inf is not a weight"),
        ({"w": [0] * 80}, ["--weight", "w"], "--weight w: all weights are 0"),
        ({"w": ["a"] * 80}, ["--weight", "w"], "'a' is not a number"),
        ({"t": ["soon"] * 80}, ["--time", "t"], "column 't': 'soon' is not a date"),
        ({"t": [1] * 79 + [""]}, ["--time", "t"], "column 't': the time is missing"),
        ({"t": [1] * 80}, ["--time", "t"], "--time t: all rows have the same time"),
    ],
)
def test_columns_that_do_not_do(separable, more, args, message):
    result = separable("train", write({**rows(), **more}), "--target", "y", *args, *FAST)
    assert result.code == 1
    assert message in result.err
    assert not Path("data.safetensors").exists()


def test_groups_that_leave_one_class(separable):
    columns = {**rows(), "g": ["a" if y == "yes" else "b" for y in rows()["y"]]}
    result = separable("train", write(columns), "--target", "y", "--group", "g", *FAST)
    assert result.code == 1
    assert "All training rows are of class" in result.err


def test_a_column_has_one_part_to_play(separable):
    result = separable("train", write(rows()), "--target", "y", "--weight", "y")
    assert result.code == 2
    assert "--weight y: it is the target. Name another column." in result.err


@pytest.mark.parametrize("command", ["train", "compare", "path"])
def test_rows_are_held_out_in_one_way(separable, command):
    columns = {**rows(), "g": [i % 8 for i in range(80)], "t": list(range(80))}
    split = ["--group", "g", "--time", "t"]
    result = separable(command, write(columns), "--target", "y", *split, *FAST[:2])
    assert result.code == 2
    assert "--group g and --time t: rows are held out by one of the two." in result.err


def test_a_test_file_or_a_share(separable):
    write(rows(seed=1), "test.csv")
    args = ["train", write(rows()), "--target", "y", *FAST, "--test", "test.csv"]
    result = separable(*args, "--test-size", "0.25")
    assert result.code == 2
    assert "--test-size and --test test.csv exclude each other" in result.err
    assert separable(*args).code == 0


def test_a_share_is_a_number(separable):
    result = separable("train", write(rows()), "--target", "y", *FAST, "--test-size", "nan")
    assert result.code == 2
    assert "nan is not a fraction. Give a number from 0 to less than 1." in result.err


def test_a_rare_class_of_several_takes_no_folds_away(separable):
    columns = {"x": list(range(61)), "y": [*"ab" * 30, "c"]}
    given = ("--target", "y", "--test-size", "0", *FAST, "--json")
    board = told(separable("train", write(columns), *given))["leaderboard"]
    assert board["folds"] == 5
    two = {"x": list(range(33)), "y": [*"a" * 30, *"b" * 3]}
    assert told(separable("train", write(two), *given))["leaderboard"]["folds"] == 3
