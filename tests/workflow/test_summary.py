"""What a run prints fits one screen, and names the columns that matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import separable
from separable.datasets import PENGUINS
from separable.model.metrics.evaluation import Evaluation
from separable.model.words import shortened
from separable.workflow import separability
from separable.workflow.training_warnings import constant_warning


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def table(rng, classes: int, columns: int = 12, n: int = 400) -> dict[str, list]:
    X = rng.normal(size=(n, columns))
    W = rng.normal(size=(columns, classes))
    y = (X @ W).argmax(axis=1)
    towns = np.array(["Rome", "Oslo", "Lima", "Kyiv"])[rng.integers(0, 4, n)]
    numbers = {f"x{j}": X[:, j].round(3).tolist() for j in range(columns)}
    return {**numbers, "town": towns.tolist(), "y": [f"class {k}" for k in y]}


@pytest.mark.parametrize(("classes", "most"), [(2, 40), (19, 60)])
def test_the_summary_fits(rng, classes, most):
    run = separable.train(table(rng, classes), "y", folds=3)
    text = run.summary()
    lines_of_next = 5
    assert len(text.splitlines()) + lines_of_next <= most
    assert max(map(len, text.splitlines())) <= 160


def test_many_columns_are_counted_by_type(rng):
    run = separable.train(table(rng, 2, columns=30), "y", model="lda")
    first = run.summary().splitlines()
    assert first[0] == "The table: 400 rows, 32 columns"
    assert first[2] == "  number    30 columns"
    assert first[3] == "  category  1 column (4 features)"
    whole = run.summary(verbose=True)
    assert "  town        category  4 levels" in whole


def test_importance_is_that_of_explanations():
    """The oracle: explanations of all training rows, summed by column."""
    run = separable.train(str(PENGUINS), "species", model="logistic-regression", set={"C": 1})
    explained = run.model.explain(run.problem.features)
    by_class = [explained.by_column(label) for label in run.model.classes.tolist()]
    expected = {
        name: np.mean([np.abs(each[name]).mean() for each in by_class]) for name in by_class[0]
    }
    assert dict(run.importance.columns) == pytest.approx(expected, rel=1e-9)
    values = [value for _, value in run.importance.columns]
    assert values == sorted(values, reverse=True)


def test_importance_of_texts_and_dates(rng):
    n = 300
    y = rng.integers(0, 2, n)
    words = np.array([["dull", "grey", "cold"], ["bright", "warm", "blue"]])
    texts = [" ".join(words[k][rng.permutation(3)]) + f" day {rng.integers(50)}" for k in y]
    days = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(n)]
    data = {"note": texts, "day": days, "y": y.tolist()}
    run = separable.train(data, "y", text="note", date="day", model="logistic-regression")
    explained = run.model.explain(run.problem.features).by_column()
    expected = {name: np.abs(each).mean() for name, each in explained.items()}
    assert dict(run.importance.columns) == pytest.approx(expected, rel=1e-9)
    assert run.importance.columns[0][0] == "note"


def test_a_rare_level_does_not_lead(rng):
    n = 500
    x = rng.normal(size=n)
    level = np.where(np.arange(n) < 4, "rare", np.where(rng.random(n) < 0.5, "a", "b"))
    price = 3 * (level == "a") + 40 * (level == "rare") + x + rng.normal(size=n) * 0.1
    data = {"level": level.tolist(), "x": x.tolist(), "price": price.round(3).tolist()}
    run = separable.train(data, "price", model="ridge")
    (line,) = (each for each in run.summary().splitlines() if each.startswith("  level "))
    assert line.index(" a ") < line.index("rare ")
    largest = np.abs(run.model.weights[0]).argmax()
    assert run.encoder.feature_names[largest] == "level=rare"


def test_weights_of_rounding_are_no_features(rng):
    x = rng.normal(size=200)
    data = {"x": x.tolist(), "z": (x * 0 + rng.normal(size=200)).tolist(), "y": (2 * x).tolist()}
    run = separable.train(data, "y", model="least-squares")
    assert [name for name, _ in run.importance.columns] == ["x"]


def test_next_commands_name_new_data():
    run = separable.train(str(PENGUINS), "species", model="lda")
    lines = run.next_commands("m.safetensors")
    assert [line.split()[1] for line in lines] == ["predict", "evaluate", "report"]
    assert "NEW.csv" in lines[0]
    assert "penguins" not in "".join(lines)


def test_shortened_names_differ():
    names = [f"a very long name of a column that ends in {k} of many" for k in range(40)]
    assert len(set(shortened(names, 20))) == 40
    assert shortened(["short", "x" * 50], 12) == ["short", "xxxxx...xxxx"]


def test_a_model_that_is_no_better_than_the_constant_says_so_first(rng):
    n = 300
    noise = {"x": rng.normal(size=n).tolist(), "y": rng.integers(0, 2, n).tolist()}
    run = separable.train(noise, "y")
    assert " than always " in run.summary().splitlines()[0]
    assert run.useless in run.warnings
    number = {"x": rng.normal(size=n).tolist(), "y": rng.normal(size=n).tolist()}
    assert " than always the mean" in separable.train(number, "y", model="ridge").summary()
    good = separable.train(str(PENGUINS), "species", model="lda")
    assert good.useless is None
    assert "than always" not in good.summary()


def test_one_line_on_separability(rng):
    good = separable.train(str(PENGUINS), "species", model="logistic-regression")
    assert "linearly separable" in good.separability
    assert f"  {good.separability}" in good.summary()
    overlap = separable.train(str(PENGUINS), "sex", model="lda")
    assert overlap.separability == "the classes overlap: no linear model divides all rows"
    n = 1500
    x = rng.normal(size=n)
    large = {"x": x.tolist(), "y": (x + rng.normal(size=n) > 0).tolist()}
    assert "sample of 1000 rows" in separable.train(large, "y", model="lda").separability
    assert separable.train(str(PENGUINS), "body_mass_g", model="ridge").separability == ""


def test_the_classes_that_overlap_are_named(rng):
    centre = np.repeat([-9.0, 0.0, 0.5], 60)
    label = np.repeat(["far", "left", "right"], 60)
    table = {"x": (centre + rng.normal(size=180)).tolist(), "y": label.tolist()}
    made = separable.train(table, "y", model="logistic-regression")
    assert made.separability.startswith("the classes left and right overlap: no linear model")


def test_separability_of_a_table(rng):
    result = separability(str(PENGUINS), "species", columns={"drop": ["island", "sex"]})
    assert result.verdict.kind in ("separable", "overlap")
    assert result.verify()
    x = np.arange(10.0)
    table = {"x": x.tolist(), "y": (x > 4.5).tolist()}
    apart = separability(table, "y")
    assert apart.verdict.separable
    assert apart.verify()
    assert repr(apart).startswith("The table: 10 rows, 1 feature\nseparable: ")
    mixed = separability({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}, "y")
    assert not mixed.verdict.separable
    assert mixed.verify()
    with pytest.raises(ValueError, match="no column 'z'"):
        separability(table, "z")


def test_a_prediction_that_never_changes_has_no_columns(rng):
    noise = {"x": rng.normal(size=400).tolist(), "y": ["p", "q"] * 150 + ["q"] * 100}
    run = separable.train(noise, "y", model="linear-svm", set={"C": 1e-4})
    assert np.abs(run.model.weights).max() < 1e-10
    assert run.importance.columns == ()
    assert "No column matters" in run.summary()


def test_one_row_of_a_large_loss_does_not_make_a_model_useless():
    figures = Evaluation(
        task="classification", rows=100,
        figures={"log_loss": 0.36, "accuracy": 0.99},
        constant_figures={"log_loss": 0.67, "accuracy": 0.61},
        standard_errors={"log_loss": 0.36, "accuracy": 0.01},
        left_out={}, constant="p",
    )  # fmt: skip
    assert constant_warning(figures) is None
    no_better = replace(figures, figures={"log_loss": 0.36, "accuracy": 0.62})
    assert "Better by less than a standard error" in str(constant_warning(no_better))
    worse = replace(figures, figures={"log_loss": 0.7, "accuracy": 0.99})
    assert "No better than always p" in str(constant_warning(worse))


def test_many_features_are_decided_without_exact_arithmetic(rng):
    n = 300
    data = {f"x{j}": rng.normal(size=n).tolist() for j in range(45)}
    data["y"] = (np.array(data["x0"]) + rng.normal(size=n) > 0).tolist()
    run = separable.train(data, "y", model="lda", curves="no")
    assert run.separability == "the classes overlap: no linear model divides all rows"
