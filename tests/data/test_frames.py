"""Frames as people have them: names that are no texts, levels of polars, sparse columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import separable
from separable.data import read

N = 80
FAST = {"model": "logistic-regression", "set": {"C": 1}}


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    return pd.DataFrame({"x": x, "z": rng.normal(size=N), "y": np.where(x > 0, "a", "b")})


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["u", "v"]), pl.String])
def test_levels_of_polars_are_categories(frame, kind):
    levels = [["u", "v", None][k % 3] for k in range(N)]
    data = pl.from_pandas(frame).with_columns(pl.Series("c", levels).cast(kind))
    assert read(data).table["c"].to_pylist() == levels
    run = separable.train(data, "y", **FAST)
    assert {"c=u", "c=v"} <= set(run.encoder.feature_names)
    assert len(run.model.predict(data)) == N


def test_names_that_are_no_texts(frame):
    frame.columns = [0, 1, "y"]
    run = separable.train(frame, "y", **FAST)
    assert run.encoder.feature_names == ("0", "1")
    assert len(run.model.predict(frame)) == N
    frame.columns = [0, 1, 2]
    assert separable.train(frame, 2, **FAST).encoder.feature_names == ("0", "1")
    frame.columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "z"), ("b", "y")])
    run = separable.train(frame, ("b", "y"), **FAST)
    assert run.encoder.feature_names == ("('a', 'x')", "('a', 'z')")


def test_sparse_columns_of_pandas(frame):
    values = (np.arange(N) % 5 == 0).astype(float)
    frame["s"] = pd.arrays.SparseArray(values)
    assert read(frame).table["s"].to_pylist() == values.tolist()
    assert "s" in separable.train(frame, "y", **FAST).encoder.feature_names


def test_values_as_the_target_are_refused(frame):
    with pytest.raises(ValueError, match="name a column of the data, not a Series"):
        separable.train(frame[["x", "z"]], frame["y"])


def test_few_numbers_with_decimals_are_a_quantity(frame):
    def trained(step: float, most: float):
        y = (np.round(frame["x"] / step) * step).clip(-most, most)
        return separable.train({"x": frame["x"].tolist(), "y": y.tolist()}, "y", folds=2)

    assert trained(0.5, 1.5).problem.task == "regression"  # 7 values
    few = trained(0.5, 0.5)  # 3 values
    assert few.problem.task == "classification"
    assert "The 3 numbers of the target 'y' are taken as classes" in str(few.notes[0])
    assert trained(1.0, 2.0).problem.task == "classification"  # 5 whole numbers
