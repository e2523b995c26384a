"""`separable path`: what each strength makes of a learner."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from separable import LogisticRegression, MultinomialNB, Ridge, TableEncoder
from separable.data import read
from separable.datasets import PENGUINS
from separable.workflow.learners import LEARNERS

ARGS = ("path", PENGUINS, "--target", "species", "--model", "logistic-regression")


def test_each_strength_by_hand(once):
    found = json.loads(once(*ARGS, "--json").out)
    assert found["name"] == "C"
    strengths = [each["strength"] for each in found["steps"]]
    assert strengths == list(LEARNERS["logistic-regression"].regularization.grid(258))
    table = read(PENGUINS).table
    encoder = TableEncoder()
    columns = table.drop_columns(["species"])
    X = encoder.fit(columns).encode(columns)
    for each in found["steps"][::3]:
        fitted = LogisticRegression(C=each["strength"]).fit(X, table["species"].to_pylist())
        assert each["norm"] == pytest.approx(np.linalg.norm(fitted.coef_), rel=1e-2)
        size = np.abs(fitted.coef_).max(axis=0)
        assert each["largest"][0]["feature"] == encoder.feature_names[size.argmax()]
        assert each["relative_gap"] <= 1e-4
    norms = [each["norm"] for each in found["steps"]]
    assert norms == sorted(norms)


def test_the_best_and_the_simplest_within_its_error(once):
    steps = json.loads(once(*ARGS, "--json").out)["steps"]
    (best,) = [each for each in steps if each["is_best"]]
    (simple,) = [each for each in steps if each["is_one_standard_error"]]
    top = min(each["mean"] for each in steps)  # the log loss
    assert best["mean"] == pytest.approx(top)
    assert simple["strength"] <= best["strength"]
    assert simple["mean"] <= top + best["standard_error"]
    below = [each for each in steps if each["strength"] < simple["strength"]]
    assert all(each["mean"] > top + best["standard_error"] for each in below)


def test_text_and_csv(separable):
    result = separable(*ARGS, "--top", 2)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert " ".join(line.strip() for line in lines[:2]) == (
        "Regularization path of logistic-regression: 10 values of C, 5 folds of 344 rows; lower "
        "is better:"
    )
    assert any(line.startswith("  *") for line in lines)
    assert "The largest features at each C" in lines
    assert all(line.count(",") == 1 for line in lines[-10:])
    assert max(map(len, lines)) <= 80
    assert separable(*ARGS, "--folds", 2, "-o", "path.csv").out == ""
    rows = list(csv.DictReader(io.StringIO(Path("path.csv").read_text())))
    assert len(rows) == 10
    assert sum(row["is_best"] == "True" for row in rows) == 1


def test_ridge_has_alphas_and_no_gap(separable):
    args = ["path", PENGUINS, "--target", "body_mass_g", "--model", "ridge", "--json"]
    found = json.loads(separable(*args).out)
    assert found["name"] == "alpha"
    assert {each["relative_gap"] for each in found["steps"]} == {None}
    assert not found["greater_is_better"]
    table = read(PENGUINS).table
    mass = np.array(table["body_mass_g"].to_pylist(), dtype=float)
    there = np.flatnonzero(~np.isnan(mass))
    columns = table.drop_columns(["body_mass_g"]).take(there)
    X = TableEncoder().fit(columns).encode(columns)
    for each in found["steps"][::4]:
        fitted = Ridge(alpha=each["strength"]).fit(X, mass[there])
        assert each["norm"] == pytest.approx(np.linalg.norm(fitted.coef_))


def test_naive_bayes_of_counts(separable):
    lines = [f"{i % 5},{i % 3},{'ab'[i % 2]}" for i in range(40)]
    Path("c.csv").write_text("\n".join(["x,z,y", *lines]) + "\n")
    args = ["path", "c.csv", "--target", "y", "--model", "multinomial-nb", "--json"]
    found = json.loads(separable(*args).out)
    X = np.array([line.split(",")[:2] for line in lines], dtype=float)
    y = [line.split(",")[2] for line in lines]
    for each in found["steps"]:
        fitted = MultinomialNB(alpha=each["strength"]).fit(X, y)
        assert each["norm"] == pytest.approx(np.linalg.norm(fitted.coef_))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Name one learner with --model: bernoulli-nb, complement-nb, group-lasso-classifier"),
        (
            ["--model", "lda"],
            "--model lda has no regularization to vary. These learners have: bernoulli-nb",
        ),
        (["--model", "linear-svm", "--model", "logistic-regression"], "Name one learner"),
        (["--model", "linear-svm", "--set", "C=1"], "--set C: the path varies it. Leave it out."),
        (["--model", "linear-svm", "--json", "-o", "x"], "Give one of them."),
    ],
)
def test_wrong_use(separable, args, message):
    result = separable("path", PENGUINS, "--target", "species", *args)
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize("learner", ["lasso", "elastic-net", "group-lasso", "lp-regression"])
def test_the_lasso_has_alphas_gaps_and_few_weights(separable, learner):
    args = ["path", PENGUINS, "--target", "body_mass_g", "--model", learner]
    args += ["--folds", 2, "--json"]
    found = json.loads(separable(*args).out)
    assert found["name"] == "alpha"
    counts = [each["nonzeros"] for each in found["steps"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]
    assert all(each["relative_gap"] < 1e-4 for each in found["steps"])


def test_no_feature_without_a_weight_is_among_the_largest(separable):
    args = ["path", PENGUINS, "--target", "species", "--model", "logistic-regression"]
    args += ["--set", "l1_ratio=1", "--set", "multi_class=ovr", "--folds", 2]
    steps = json.loads(separable(*args, "--json").out)["steps"]
    assert [len(each["largest"]) for each in steps] == [min(3, each["nonzeros"]) for each in steps]
    assert steps[0]["nonzeros"] == 0
    assert "0.001  none" in separable(*args).out
