from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from separable.model.linear_model import LinearModel

NAMES = ["a", "b", "c", "d", "e"]


def model(names: list[str] | None) -> LinearModel:
    return LinearModel(np.ones((1, 5)), [0], [0, 1], "score", names, learner="Perceptron")


def test_wrong_number_of_features_is_told() -> None:
    message = r"X has 3 features, but this Perceptron model expects 5\. Pass the columns"
    with pytest.raises(ValueError, match=message):
        model(None).predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"expects 5 \('a', 'b', 'c', 'd', 'e'\)"):
        model(NAMES).predict(np.ones((2, 3)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_missing_and_extra_columns_are_named(frame: type) -> None:
    few = frame({"a": [1.0], "z": [2.0], "c": [3.0]})
    message = r"X has 3 features, but this .* expects 5\. missing: 'b', 'd', 'e'; extra: 'z'"
    with pytest.raises(ValueError, match=message):
        model(NAMES).explain(few)
    other = frame({name: [1.0] for name in ["a", "b", "c", "d", "z"]})
    with pytest.raises(ValueError, match=r"not those this Perceptron.* missing: 'e'; extra: 'z'"):
        model(NAMES).decision_function(other)


def test_columns_in_another_order_are_refused_with_the_remedy() -> None:
    frame = pd.DataFrame({name: [1.0] for name in ["a", "c", "b", "d", "e"]})
    with pytest.raises(ValueError, match=r"another order.*column 1 is 'c', expected 'b'.*X\[list"):
        model(NAMES).predict(frame)
    assert model(NAMES).predict(frame[NAMES]).tolist() == [1]
    assert model(None).predict(frame).tolist() == [1]


def test_many_missing_columns_are_cut_short() -> None:
    wide = LinearModel(np.ones((1, 20)), [0], [0, 1], "score", [f"c{i}" for i in range(20)])
    with pytest.raises(ValueError, match=r"missing: 'c1', .*'c8' and 11 more\.$"):
        wide.predict(pd.DataFrame({"c0": [1.0]}))
