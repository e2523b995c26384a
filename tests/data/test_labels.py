"""Labels come back exactly as they were given, or an error says which cannot be held."""

from __future__ import annotations

import decimal
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from separable import LDA, AveragedPerceptron, LogisticRegression, Perceptron, TableClassifier
from separable.data import read
from separable.data.labels import label_array

A, B = 2**53, 2**53 + 1  # one and the same float64
X = np.array([[0.0], [1], [5], [6]] * 3)
PAIRS = {
    "list": [A, B],
    "object": np.array([A, B], object),
    "Int64": pd.Series([A, B], dtype="Int64"),
    "UInt64": pd.Series([2**64 - 2, 2**64 - 1], dtype="UInt64"),
    "pyarrow in pandas": pd.Series([A, B], dtype="int64[pyarrow]"),
    "pyarrow": pa.array([A, B]),
    "categorical": pd.Categorical([A, B]),
    "uint64": np.array([2**64 - 2, 2**64 - 1], np.uint64),
    "text": ["a", "a\0b"],
    "boolean": pd.Series([False, True], dtype="boolean"),
}


def repeated(pair, indices):
    """The labels of a pair at some places, of the same type."""
    return pair.take(pa.array(indices)) if isinstance(pair, pa.Array) else _taken(pair, indices)


def _taken(pair, indices):
    if isinstance(pair, list):
        return [pair[index] for index in indices]
    return pair.take(indices)


@pytest.mark.parametrize("learner", [LogisticRegression(C=1e4), Perceptron(max_iter=100), LDA()])
@pytest.mark.parametrize("kind", PAIRS)
def test_learners_give_labels_back(kind, learner):
    pair = PAIRS[kind]
    y = repeated(pair, [0, 0, 1, 1] * 3)
    wanted = pair.to_pylist() if isinstance(pair, pa.Array) else list(pair)
    result = learner.fit(X, y)
    assert result.classes_.tolist() == [int(v) if kind != "text" else v for v in wanted]
    assert result.predict(X[:4]).tolist() == [wanted[0], wanted[0], wanted[1], wanted[1]]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "a\0"], r"'a\\x00' ends in a NUL character"),
        (np.array(["a", "a\0"], object), "NUL character"),
        (pd.Series(["a", "a\0"]), "NUL character"),
        (pd.Categorical.from_codes([0, 1], ["a", "a\0"]), "NUL character"),
        (pa.array(["a", "a\0"]), "NUL character"),
        ([2**70, 2**70 + 1], "which do not fit in 64 bits"),
        ([-1, 2**63], "which do not fit in 64 bits"),
        ([0.5, B], f"decimal numbers and {B} .row 1"),
        ([decimal.Decimal(A), decimal.Decimal(B)], "Decimal"),
        ([True, None], "missing value"),
        (pd.Series([A, None], dtype="Int64"), "missing value"),
    ],
)
def test_labels_that_cannot_be_held(y, message):
    with pytest.raises(ValueError, match=message):
        LogisticRegression().fit(X[1:3], y)


def test_announced_classes():
    learner = AveragedPerceptron().partial_fit(X[:4], [A, A, B, B], classes=[A, B])
    assert learner.classes_.tolist() == [A, B]
    with pytest.raises(ValueError, match="NUL"):
        AveragedPerceptron().partial_fit(X[:2], ["a", "b"], classes=["a", "b", "a\0"])


def parquet_file(table):
    out = io.BytesIO()
    parquet.write_table(table, out)
    return io.BytesIO(out.getvalue())


@pytest.mark.parametrize(
    "source",
    [
        pa.table({"x": [1, 2], "y": [A, B]}),
        pd.DataFrame({"x": [1, 2], "y": pd.array([A, B], "Int64")}),
        pd.DataFrame({"x": [1, 2, 3], "y": pd.array([A, B, None], "Int64")}),
        [{"x": 1, "y": A}, {"x": 2, "y": B}],
        [{"x": 1, "y": A}, {"x": 2, "y": B}, {"x": 3, "y": None}],
        {"x": [1, 2], "y": [A, B]},
        {"x": [1, 2], "y": np.array([A, B])},
        {"x": [1, 2], "y": np.array([A, B], np.uint64)},
        parquet_file(pa.table({"x": [1, 2], "y": [A, B]})),
        parquet_file(pa.table({"x": [1, 2], "y": pa.array([A, B]).dictionary_encode()})),
    ],
)
def test_targets_of_tables(source):
    y = read(source, target="y").y
    assert (y.dtype.kind, y.tolist()) == ("i", [A, B])


def test_an_array_of_whole_numbers():
    assert read(np.array([[1, A], [2, B]]), target=2).y.tolist() == [A, B]
    assert read(np.array([[1], [2]]), target=pd.array([A, B], "Int64")).y.tolist() == [A, B]


@pytest.mark.parametrize("source", [[{"y": 2**70}, {"y": 2**70 + 1}], {"y": ["a", "a\0"]}])
def test_targets_that_cannot_be_held(source):
    with pytest.raises(ValueError, match=r"equal in float64|NUL"):
        read(source, target="y")


def test_decimals_of_a_target():
    values = [decimal.Decimal(A), decimal.Decimal(B)]
    with pytest.raises(ValueError, match="decimal numbers that are equal in float64"):
        read(pa.table({"y": values}), target="y")
    assert read(pa.table({"y": [decimal.Decimal("0.1")]}), target="y").y.tolist() == [0.1]


def lines(*objects: str) -> io.BytesIO:
    return io.BytesIO("".join(each + "\n" for each in objects).encode())


def test_whole_numbers_of_json():
    for low in (A, 2**70, -(2**63) - 5):
        data = read(lines(f'{{"y": {low}}}', f'{{"y": {low + 1}}}'), target="y")
        assert data.y.tolist() == [str(low), str(low + 1)]
    data = read(lines('{"y": 1e300}', '{"y": 2}', f'{{"y": {A}}}'), target="y")
    assert data.y.tolist() == [1e300, 2, A]
    late = ['{"y": 1, "pad": "' + "x" * 1000 + '"}'] * 1500 + [f'{{"y": {B}, "pad": ""}}']
    assert read(lines(*late)).table["y"].to_pylist() == ["1"] * 1500 + [str(B)]


def test_keys_of_json_that_stand_twice():
    good, bad = '{"x": 1, "y": {"a": 1, "a": 2}}', '{"x": 1, "\\u0078": 2}'
    assert json.loads(bad) == {"x": 2}
    with pytest.raises(ValueError, match=r"^the file:2: the key 'x' appears twice in the object"):
        read(lines('{"x": 1}', bad))
    data = read(lines('{"x": 1}', bad, '{"x": 3}'), on_error="skip")
    assert data.table["x"].to_pylist() == [1, 3]
    assert [(each.line, each.reason) for each in data.report.examples] == [
        (2, "the key 'x' appears twice in the object")
    ]
    assert read(lines(good), columns=["x"]).table["x"].to_pylist() == [1]


def test_a_table_classifier():
    frame = pd.DataFrame({"x": X[:, 0], "y": pd.array([A, A, B, B] * 3, "Int64")})
    model = TableClassifier(LDA()).fit(frame, "y")
    assert model.predict(frame[["x"]])[:4].tolist() == [A, A, B, B]


def test_what_is_left_as_it_is():
    assert label_array([1, 2]).dtype == np.int64
    assert label_array([1.5, 2]).tolist() == [1.5, 2.0]
    assert label_array([True, False]).dtype == np.bool_
    assert label_array(["a", "bc"]).dtype == np.dtype("<U2")
    assert label_array([[1], [2]]).shape == (2, 1)
    assert label_array(np.array([1, 2], np.int8)).dtype == np.int8
