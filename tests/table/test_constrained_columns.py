"""Columns whose effect has one direction, from the encoder to predictions and files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import separable
from separable import (
    LinearSVM,
    LogisticRegression,
    Ridge,
    TableClassifier,
    TableEncoder,
    TableRegressor,
    load,
)
from separable.data.table import TableError
from separable.errors import OptionError
from separable.features.spline.smooth_basis import monotone_basis


def table(seed: int, n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.choice([rng.normal(size=n), rng.integers(0, 9, n), rng.exponential(size=n) ** 3])
    x[rng.random(n) < 0.05] = np.nan
    return {"x": x, "z": rng.normal(size=n), "c": rng.choice(["a", "b", "d"], n)}


def along(model, column: str, values: np.ndarray, method: str) -> np.ndarray:
    rows = {"x": np.zeros(len(values)), "z": np.zeros(len(values)), "c": ["a"] * len(values)}
    return getattr(model, method)({**rows, column: values})


@pytest.mark.slow
@pytest.mark.parametrize("curves", [True, False])
@given(seed=st.integers(0, 10**6), n=st.integers(30, 150))
def test_predictions_are_monotone(curves, seed, n):
    X, rng = table(seed, n), np.random.default_rng(seed + 1)
    encoder = TableEncoder(curves=curves, increasing=["x"], decreasing=["z"])
    number = TableRegressor(encoder=encoder).fit(X, rng.normal(size=n))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    score = TableClassifier(LogisticRegression(), encoder).fit(X, y)
    margin = TableClassifier(LinearSVM(), encoder).fit(X, y)
    grid = np.linspace(-5, 30, 300)
    for model, method in (
        (number, "predict"),
        (score, "decision_function"),
        (margin, "decision_function"),
    ):
        rise, fall = (np.diff(along(model, name, grid, method)) for name in ("x", "z"))
        assert rise.min() >= -1e-12
        assert fall.max() <= 1e-12
        assert model.learner_.certificate_.converged


@given(seed=st.integers(0, 10**6), n=st.integers(4, 40))
def test_the_basis_spans_all_monotone_curves(seed, n):
    from scipy.optimize import nnls

    rng = np.random.default_rng(seed)
    basis = monotone_basis(np.sort(rng.normal(size=n)), rng.uniform(1, 9, n))
    assert (np.diff(basis, axis=0) >= -1e-12).all()
    curve = np.cumsum(rng.exponential(size=n) * (rng.random(n) < 0.6))
    weights, distance = nnls(np.column_stack([np.ones(n), -np.ones(n), basis]), curve)
    assert distance < 1e-8 * (1 + np.abs(curve).max())
    assert (weights >= 0).all()


def test_a_monotone_truth_is_learned_better_with_its_direction():
    rng = np.random.default_rng(0)
    ours, free = [], []
    for _ in range(10):
        x = rng.uniform(0, 10, 120)
        y = np.sqrt(x) + rng.normal(size=120)
        for errors, encoder in (
            (ours, TableEncoder(curves=True, increasing=["x"])),
            (free, TableEncoder(curves=True)),
        ):
            made = TableRegressor(None if errors is ours else Ridge(), encoder).fit({"x": x}, y)
            grid = np.linspace(0, 10, 200)
            errors.append(np.mean((made.predict({"x": grid}) - np.sqrt(grid)) ** 2))
    assert np.mean(ours) < np.mean(free)


def test_nonnegative_categories_and_curves():
    X, rng = table(0, 300), np.random.default_rng(1)
    y = np.where(X["c"] == "a", -2.0, 0.0) + (X["c"] == "b") - np.abs(X["z"]) + rng.normal(size=300)
    model = TableRegressor(encoder=TableEncoder(curves=True, nonnegative=["c", "z"])).fit(X, y)
    parts = model.explain(X).by_column()
    assert min(parts["c"].min(), parts["z"].min()) >= 0
    assert parts["c"].max() > 0.5
    free = TableRegressor(Ridge(), TableEncoder(curves=True)).fit(X, y)
    assert free.explain(X).by_column()["c"].min() < 0


def test_files_keep_the_constraints(tmp_path):
    X = table(2, 200)
    y = np.where(np.nan_to_num(X["x"]) + X["z"] > 0.5, "yes", "no")
    encoder = TableEncoder(curves=True, increasing=["x"], nonnegative=["c"])
    model = TableClassifier(LogisticRegression(), encoder).fit(X, y)
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.encoder.constraints == {"x": "increasing", "c": "nonnegative"}
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_train_keeps_directions_and_says_of_what():
    X = table(3, 400)
    X["y"] = np.where(np.nan_to_num(X["x"]) - X["z"] > 0.5, "yes", "no")
    run = separable.train(X, "y", increasing="x", decreasing=["z"], test_size=0)
    assert any("probability of 'yes'" in str(note) for note in run.notes)
    scores = along(run.model, "x", np.linspace(-4, 9, 99), "decision_function")
    assert np.diff(scores).min() >= -1e-12
    assert run.model.evidence["converged"]
    assert "lda" not in str(run.leaderboard)


def test_constrained_columns_take_no_part_in_interactions():
    rng = np.random.default_rng(4)
    X = {name: rng.normal(size=800) for name in "abd"}
    X["y"] = X["a"] * X["b"] + X["a"] * X["d"] + 0.1 * rng.normal(size=800)
    run = separable.train(X, "y", increasing="b", interactions=3, test_size=0)
    assert [pair.columns for pair in run.model.encoder.pair_encoders] == [("a", "d")]
    with pytest.raises(ValueError, match="takes no part in 'interactions'"):
        TableEncoder(curves=True, increasing=["a"], interactions=[("a", "b")]).fit(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"increasing": "c"}, "it is a category"),
        ({"increasing": "nowhere"}, "no column 'nowhere'"),
        ({"increasing": "x", "decreasing": "x"}, "has another constraint"),
        ({"increasing": "x", "drop": "x"}, "is left out"),
        ({"increasing": "x", "model": "lda"}, "cannot be kept to one sign"),
        ({"increasing": "x", "set": {"monotonic_cst": 1}}, "increasing, decreasing or nonnegative"),
    ],
)
def test_what_train_refuses(options, words):
    X = table(5, 100)
    X["y"] = np.where(X["z"] > 0, "yes", "no")
    with pytest.raises((OptionError, TableError), match=words):
        separable.train(X, "y", **options)


def test_a_constraint_of_an_unused_column_is_said_to_say_nothing():
    X = table(8, 100)
    X["k"], X["y"] = np.full(100, 5.0), X["z"] + 0.1
    run = separable.train(X, "y", increasing="k", curves="no", test_size=0)
    assert any("'k' is not used (constant" in str(note) for note in run.notes)


def test_more_than_two_classes_are_refused():
    X = table(6, 100)
    X["y"] = np.array(["p", "q", "r"])[np.arange(100) % 3]
    with pytest.raises(OptionError, match="has 3 classes"):
        separable.train(X, "y", decreasing="x")


def test_learners_without_signs_are_refused():
    X = table(7, 100)
    with pytest.raises(ValueError, match="Ridge cannot keep 'x' to one direction"):
        TableRegressor(Ridge(), TableEncoder(increasing=["x"])).fit(X, X["z"])
