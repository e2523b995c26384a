"""Numbers are lines or curves, whichever validates better."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import separable
from separable.errors import InputError
from separable.workflow.columns import curve_trials

FAST = {"model": "ridge", "task": "regression"}


def table(n: int, bend: float, seed: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-3, 3, n), rng.normal(size=n)
    y = x + z + bend * np.abs(x) + rng.normal(size=n)
    return {"x": x.tolist(), "z": z.tolist(), "y": y.tolist()}


def about(run) -> list[str]:
    return [each.spelled("command") for each in run.notes if "lines" in str(each)]


def test_a_bend_makes_curves():
    run = separable.train(table(600, bend=2.0), "y", **FAST)
    (note,) = about(run)
    assert "Numbers are curves" in note
    assert "--curves no" in note
    lines = separable.train(table(600, bend=2.0), "y", curves="no", **FAST)
    assert not about(lines)
    assert lines.model.n_features == 2
    errors = [each.evaluation.figures["rmse"] for each in (run, lines)]
    assert errors[0] < 0.75 * errors[1]
    assert 0.9 < errors[0] < 1.2  # the noise is 1


@pytest.mark.parametrize("seed", range(3))
def test_lines_stay_lines(seed):
    run = separable.train(table(400, bend=0.0, seed=seed), "y", **FAST)
    assert not about(run)
    assert run.model.n_features == 2


@pytest.mark.parametrize(
    ("cells", "words", "is_curved"),
    [(2000, "Curves are not compared", False), (3000, "Curves and interactions are", True)],
)
def test_ways_that_would_take_long_are_not_compared(monkeypatch, cells, words, is_curved):
    options = replace(curve_trials.DEFAULT_OPTIONS, cells=cells)
    compared = partial(curve_trials.with_curves, options=options)
    monkeypatch.setattr("separable.workflow.table_training.with_curves", compared)
    run = separable.train(table(600, bend=2.0), "y", **FAST)  # 600 rows with 4 numbers of curves
    notes = [note.spelled("command") for note in run.notes]
    assert any(words in note and "To have them: --" in note for note in notes)
    assert (run.model.n_features > 2) == is_curved
    asked = separable.train(table(600, bend=2.0), "y", curves="yes", interactions="no", **FAST)
    assert asked.model.n_features > 2


def test_few_rows_stay_lines():
    run = separable.train(table(40, bend=2.0), "y", **FAST)
    assert run.model.n_features == 2
    assert not about(run)


def test_asked_for_curves_are_made_without_a_comparison():
    run = separable.train(table(100, bend=0.0), "y", curves="yes", **FAST)
    assert run.model.n_features > 10
    assert not about(run)
    assert "curves='yes'" in str(run.model.evidence["train"])


def test_few_values_make_no_curve():
    data = {"x": [0, 1, 2] * 100, "c": ["a", "b"] * 150, "y": np.arange(300.0).tolist()}
    run = separable.train(data, "y", number="x", **FAST)
    assert not about(run)
    assert run.encoder.column_types == {"x": "number", "c": "category"}


def test_counts_of_naive_bayes_have_no_basis():
    data = table(300, bend=2.0)
    data["x"] = np.abs(data["x"]).tolist()
    data["y"] = np.where(np.array(data["y"]) > 2, "yes", "no").tolist()
    data["z"] = np.exp(data["z"]).tolist()
    run = separable.train(data, "y", model="multinomial-nb")
    assert run.model.n_features == 2
    asked = separable.train(data, "y", model="multinomial-nb", curves="yes")
    assert asked.model.n_features > 20
    assert np.isfinite(asked.model.weights).all()


def test_a_saved_model_explains_each_column(tmp_path):
    data = table(600, bend=2.0)
    run = separable.train(data, "y", **FAST)
    path = tmp_path / "model.safetensors"
    run.save(path)
    model = separable.load(path)
    record = {"x": 1.5, "z": -0.3}
    (predicted,) = model.predict([record])
    parts = model.explain([record]).by_column()
    assert set(parts) >= {"x", "z"}
    total = sum(float(parts[name][0]) for name in ("x", "z")) + model.intercept[0]
    assert total == pytest.approx(predicted, abs=1e-12)
    assert predicted == pytest.approx(1.5 - 0.3 + 3.0, abs=0.5)


def test_unknown_words_and_streams_are_refused():
    with pytest.raises(InputError, match="curves"):
        separable.train(table(100, 0.0), "y", curves="maybe")
    with pytest.raises(InputError, match="stream"):
        separable.train(table(100, 0.0), "y", curves="yes", stream=True)


@pytest.mark.parametrize("curves", ["yes", "auto"])
def test_outliers_and_values_out_of_range_do_not_explode(curves):
    given = table(400, bend=2.0)
    given["x"][3], given["x"][7] = 1e9, -1e9
    run = separable.train(given, "y", curves=curves, **FAST)
    low, high = min(given["y"]), max(given["y"])
    span = high - low
    for x in (-1e300, -1e9, -50.0, 50.0, 1e6, 1e12):
        (found,) = run.model.predict([{"x": x, "z": 0.0}])
        assert low - span < found < high + span


def test_a_combination_of_one_class_alone_has_a_finite_model():
    rng = np.random.default_rng(0)
    first, second = rng.choice(["u", "v"], 400), rng.choice(["p", "q"], 400)
    y = np.where((first == "u") & (second == "p"), "yes", rng.choice(["yes", "no"], 400))
    given = {"a": first, "b": second, "c": rng.normal(size=400), "y": y}
    run = separable.train(given, "y", interactions=1, model="logistic-regression")
    assert np.abs(run.model.weights).max() < 50
    assert run.model.evidence["converged"]


def test_interactions_of_a_rare_class_are_judged_at_the_best_regularization(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 4))
    score = 1.5 * X[:, 0] * X[:, 1] + X[:, 2] - 4.5  # 3 % of the rows are of the second class
    y = np.where(rng.random(1500) < 1 / (1 + np.exp(-score)), "yes", "no")
    given = {name: X[:, k] for k, name in enumerate("abcd")} | {"y": y}
    options = replace(curve_trials.DEFAULT_OPTIONS, C_of_curves=(1.0,))
    found = []
    for each in (curve_trials.DEFAULT_OPTIONS, options):
        compared = partial(curve_trials.with_curves, options=each)
        monkeypatch.setattr("separable.workflow.table_training.with_curves", compared)
        run = separable.train(given, "y", model="logistic-regression")
        found.append(run.problem.interactions)
    assert ("a", "b") in found[0]
    assert not found[1]
