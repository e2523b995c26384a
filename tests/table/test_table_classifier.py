"""TableClassifier and TableRegressor: raw tables in, raw columns in the answers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from separable import (
    LinearSVM,
    LogisticRegression,
    LogisticRegressionCV,
    OneHotEncoder,
    Ridge,
    RidgeCV,
    TableClassifier,
    TableEncoder,
    TableRegressor,
    TextEncoder,
    load,
)
from separable.data.table import TableError

pytestmark = pytest.mark.native


def fruits(n=200, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    return {
        "surface": np.where(rng.random(n) < 0.9, kind, 1 - kind).astype(bool).tolist(),
        "skin": [
            ["smooth", "rough", "waxy"][k + (r < 0.2)]
            for k, r in zip(kind, rng.random(n), strict=True)
        ],
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(10, 3, n) + kind),
        "note": [
            f"it tastes {['sweet', 'sour'][k]} and fresh like batch {i}" for i, k in enumerate(kind)
        ],
        "fruit": np.array(["apple", "lemon"])[kind].tolist(),
    }


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, dict])
def test_a_table_and_the_name_of_its_target(make):
    table = make(fruits())
    model = TableClassifier(LogisticRegression()).fit(table, "fruit")
    assert model.score(table) == model.score(table, "fruit") > 0.9
    assert model.classes_.tolist() == ["apple", "lemon"]
    assert [row.type for row in model.columns_] == ["boolean", "category", "number", "text"]
    assert model.predict(table).shape == (200,)
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)
    assert ((model.decision_function(table) > 0) == (model.predict(table) == "lemon")).all()


@pytest.mark.filterwarnings("ignore:The best C")  # the notes give the fruits away
def test_the_learner_by_default_and_a_target_given_as_values():
    table = fruits()
    target = table.pop("fruit")
    model = TableClassifier().fit(table, target)
    assert isinstance(model.learner_, LogisticRegressionCV)
    assert model.score(table, target) > 0.9
    with pytest.raises(ValueError, match="score needs the true values"):
        model.score(table)
    numbers = TableRegressor().fit({"x": range(30), "y": [2.0 * x + 1 for x in range(30)]}, "y")
    assert isinstance(numbers.learner_, RidgeCV)
    assert numbers.predict_one({"x": 40.0}) == pytest.approx(81, rel=1e-3)
    assert numbers.score({"x": [1, 2, 3], "y": [3, 5, 7]}) > 0.999


def test_explanations_speak_of_raw_columns():
    model = TableClassifier(LogisticRegression()).fit(fruits(), "fruit")
    record = {"surface": True, "skin": "rough", "age": 39.0, "note": "it tastes sour"}
    explanation = model.explain([record])
    names = {term.name for term in explanation.terms().shown}
    assert {"surface=True", "skin=rough", "age 39", "note:sour"} <= names
    assert "age 39" in str(explanation)
    assert "age 39" in explanation._repr_html_()
    (age,) = [t for t in explanation.to_dict(n=50)["rows"][0]["terms"] if t["feature"] == "age"]
    assert age["raw"] == "39"
    columns = explanation.by_column()
    assert list(columns) == ["surface", "skin", "age", "note"]
    total = sum(values[0] for values in columns.values()) + model.model_.intercept[0]
    assert total == pytest.approx(model.decision_function([record])[0], abs=1e-12)


def test_save_and_load(tmp_path):
    table = fruits()
    model = TableClassifier(LogisticRegression()).fit(table, "fruit")
    model.save(tmp_path / "fruit.safetensors")
    again = load(tmp_path / "fruit.safetensors")
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))
    assert str(again.explain(pa.table(table).slice(3, 1))) == str(
        model.explain(pa.table(table).slice(3, 1))
    )


# --- one record ---


def records(table, n=60):
    names = list(table)
    return [
        dict(zip(names, row, strict=True)) for row in list(zip(*table.values(), strict=True))[:n]
    ]


@pytest.mark.parametrize("classes", [2, 3])
def test_one_record_is_answered_as_a_table_is(classes):
    table = fruits()
    rng = np.random.default_rng(1)
    target = rng.integers(0, classes, 200)
    table["when"] = [
        f"20{y:02d}-0{m}-11"
        for y, m in zip(rng.integers(10, 20, 200), rng.integers(1, 9, 200), strict=True)
    ]
    model = TableClassifier(LogisticRegression(C=10.0)).fit(table, target).model_
    whole = model.decision_function(table)
    labels = model.predict(table)
    for place, record in enumerate(records(table)):
        size = 1e-12 * max(1.0, float(np.abs(whole[place]).max()))
        one = model.decision_function([record])[0]
        assert np.abs(one - whole[place]).max() <= size
        assert model.predict([record])[0] == labels[place] == model.predict_one(record)
        np.testing.assert_allclose(
            model.predict_proba([record]), model.predict_proba([record, record])[:1], atol=1e-12
        )


@pytest.mark.parametrize(
    "change",
    [
        {"skin": None},
        {"skin": "new"},
        {"skin": 3},
        {"age": None},
        {"age": "12.5"},
        {"age": np.float32(2.5)},
        {"age": 7},
        {"surface": None},
        {"surface": "yes"},
        {"note": None},
        {"extra": 1},
    ],
    ids=str,
)
def test_unusual_values_of_one_record(change):
    table = fruits()
    del table["fruit"]
    model = TableClassifier(LogisticRegression()).fit(table, ["a", "b"] * 100).model_
    record = {**records(table)[0], **change}
    as_table = {name: [value] for name, value in record.items()}
    expected = model.decision_function(as_table)
    np.testing.assert_allclose(model.decision_function([record]), expected, rtol=1e-12)
    assert model.predict_one(record) == model.predict(as_table)[0]


def test_errors_of_one_record():
    table = fruits()
    model = TableClassifier(LogisticRegression()).fit(table, "fruit").model_
    with pytest.raises(TableError, match="lacks 1 column"):
        model.predict_one({"surface": True, "skin": "rough", "age": 3})
    with pytest.raises(TableError, match="'age', row 0: 'old' is not a number"):
        model.predict_one({"surface": True, "skin": "rough", "age": "old", "note": ""})
    with pytest.raises(ValueError, match="has no encoder, so it cannot read a record"):
        LogisticRegression().fit([[0.0], [1.0]], [0, 1]).model_.predict_one({"x": 1})
    regression = TableRegressor(Ridge()).fit({"x": [1, 2, 3], "y": [1, 2, 3]}, "y")
    assert isinstance(regression.predict_one({"x": 2}), float)


def test_predicting_one_record_imports_little(tmp_path):
    table = fruits()
    del table["note"]
    TableClassifier(LogisticRegression()).fit(table, "fruit").save(tmp_path / "m.safetensors")
    code = f"""
import sys, separable
model = separable.load({str(tmp_path / "m.safetensors")!r})
assert model.predict_one({{"surface": True, "skin": "rough", "age": 3.5}}) in ("apple", "lemon")
heavy = {{"sklearn", "scipy", "pandas", "pyarrow", "polars"}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- scikit-learn's contract, as far as frames allow ---


def test_cross_validation_and_search_on_frames():
    frame = pd.DataFrame(fruits())
    X, y = frame.drop(columns="fruit"), frame["fruit"]
    model = TableClassifier(LogisticRegression(), TableEncoder(drop=["note"]))
    assert cross_val_score(model, X, y, cv=3).min() > 0.7
    search = GridSearchCV(model, {"learner__C": [0.01, 1.0], "encoder__scale": [True, False]}, cv=2)
    search.fit(X, y)
    assert set(search.best_params_) == {"learner__C", "encoder__scale"}
    assert search.best_estimator_.predict_one(X.iloc[0].to_dict()) in ("apple", "lemon")
    copy = clone(model)
    assert copy.get_params()["learner__C"] == 1.0
    assert "TableClassifier(" in repr(copy)
    assert is_classifier(copy)
    assert is_regressor(TableRegressor())
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_encoders_in_a_column_transformer_and_a_pipeline():
    frame = pd.DataFrame(fruits())
    parts = ColumnTransformer(
        [
            ("table", TableEncoder(), ["age", "surface"]),
            ("levels", OneHotEncoder(), ["skin"]),
            ("words", TextEncoder(), "note"),
        ]
    )
    model = make_pipeline(parts, LinearSVM()).fit(frame, frame["fruit"])
    assert model.score(frame, frame["fruit"]) > 0.9
    names = parts.fit(frame).get_feature_names_out()
    assert {"table__surface=True", "levels__skin_waxy", "words__sour"} <= set(names)


def test_targets_that_cannot_be():
    with pytest.raises(TableError, match=r"The table has no column 'friut'.*did you mean 'fruit'"):
        TableClassifier().fit(fruits(), "friut")
    with pytest.raises(TableError, match="target 'y' is the only column"):
        TableClassifier().fit({"y": ["a", "b"]}, "y")
    with pytest.raises(TableError, match=r"'y' has 1 missing value.*first in row 1"):
        TableClassifier().fit({"x": [1, 2, 3], "y": ["a", None, "b"]}, "y")
    with pytest.raises(TableError, match="'y' has 2 missing value"):
        TableRegressor().fit({"x": [1, 2, 3], "y": [None, None, 1.0]}, "y")
    with pytest.raises(TableError, match="'y', row 0: 'a' is not a number"):
        TableRegressor().fit({"x": [1, 2], "y": ["a", "b"]}, "y")
    with pytest.raises(TableError, match="no rows"):
        TableClassifier().fit({"x": [], "y": []}, "y")
    whole = TableClassifier(LogisticRegression()).fit({"x": [1, 2], "y": [0, 1]}, "y")
    assert whole.classes_.tolist() == [0, 1]


def test_sample_weights_reach_the_learner():
    table = {"x": [0.0, 1.0, 0.0, 1.0]}
    weighted = TableClassifier(LogisticRegression()).fit(table, [0, 1, 1, 0], [1, 1, 0, 0])
    assert weighted.predict(table).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("make", [list, np.array, pa.array])
def test_true_and_false_stay_what_they_are(make, tmp_path):
    values = [True, False] * 4
    table = {"x": [1.0, 2.0] * 4, "open": make(values)}
    named = TableClassifier(LogisticRegression()).fit(table, "open")
    given = TableClassifier(LogisticRegression()).fit({"x": table["x"]}, values)
    assert named.classes_.dtype == given.classes_.dtype == bool
    assert bool(named.predict_one({"x": 1.0})) is True
    assert named.score(table) == 1
    named.save(tmp_path / "open.safetensors")
    assert load(tmp_path / "open.safetensors").predict([{"x": 2.0}]).tolist() == [False]
    with pytest.raises(TableError, match="target column 'open' has 1 missing value"):
        named.fit({"x": [1.0, 2.0, 3.0], "open": [True, False, None]}, "open")
