from __future__ import annotations

import io

import numpy as np
import pytest

from separable.data import read
from separable.data.table import TableError
from separable.workflow.target import Classes


def target(values, kind=None, sure=True):
    text = "y\n" + "".join(f'"{value}"\n' for value in values)
    table = read(io.BytesIO(text.encode()), column_types={"y": "category"}).table
    return Classes.read(table, "y", "data.csv", kind, sure=sure)


def test_text_labels_and_missing_ones():
    found = target(["b", "NA", "a", "b", ""])
    assert found.values.tolist() == ["b", "a", "b"]
    assert found.rows.tolist() == [0, 2, 3]
    assert found.missing == 2
    assert found.counts() == {"a": 1, "b": 2}


def test_whole_numbers_are_numbers_and_others_are_text():
    assert target([0, 1, "NA", 0]).values.dtype == np.int64
    assert target([0, 1, 0], "category").values.tolist() == ["0", "1", "0"]
    assert target([0.5, 1, 0.5]).values.tolist() == ["0.5", "1", "0.5"]


@pytest.mark.parametrize(
    "values", [[2**53 + 1, 2**53 + 2], [-(2**63), 2**63 - 1], [-1, 1], [0, 10, -20]]
)
def test_plain_whole_numbers_are_kept_to_the_last_digit(values):
    assert target(values).values.dtype == np.int64
    assert target(values).values.tolist() == values


@pytest.mark.parametrize(
    "odd", ["00", "01", "+1", "1.0", "-0", "inf", "1e3", str(2**63), str(-(2**63) - 1), "9" * 20]
)
def test_what_int64_would_write_otherwise_stays_as_written(odd):
    assert target(["7", odd]).values.tolist() == ["7", odd]
    with pytest.raises(TableError, match=r"'y' holds '.*' in data row 2, .* leave out number=.y."):
        target(["7", odd], "number")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["?", "NA"], "'y' is empty in every row. Name another column with target."),
        (["yes", "yes", "NA"], "'y' holds a single class, 'yes', in all 2 rows.*two classes"),
        ([1, 1], "holds a single class, 1,"),
        (["a"], "'y' holds a single class, 'a', in its only row. A classifier"),
        (np.arange(400) / 10, "'y' looks like a quantity: 400 different values.*classifier"),
        (range(21), "looks like a quantity: 21"),
        ([f"id{i}" for i in range(30)], "looks like an identifier or free text: 30"),
    ],
)
def test_what_cannot_be_classes(values, message):
    with pytest.raises(TableError, match=f"data.csv: the target column {message}|{message}"):
        target(values)


@pytest.mark.parametrize("values", [range(20), [i % 25 for i in range(600)], list("abcdefgh") * 2])
def test_what_can_be_classes(values):
    assert len(target(values).counts()) == len(set(values))


def test_a_quantity_is_for_regressors():
    remedy = r"predict the number itself \(model=.ridge., or another regressor\)"
    with pytest.raises(
        TableError, match=f"classifier: {remedy}, name a column of classes, or group"
    ):
        target(np.arange(400) / 10)
    with pytest.raises(TableError, match=r"classifier: name a column of classes, or group"):
        target([f"id{i}" for i in range(30)])


def test_many_numbers_are_classes_only_where_these_are_asked_for():
    values = [i % 150 for i in range(6000)]
    assert len(target(values).counts()) == 150
    with pytest.raises(TableError, match="looks like a quantity: 150 different values"):
        target(values, sure=False)
    assert len(target([f"n{v}" for v in values], sure=False).counts()) == 150


def test_the_constant_answer_is_the_most_common_class_by_weight():
    found = target(list("aaabbcca"))
    assert found.constant(np.arange(4), None) == "a"
    assert found.constant(np.arange(4), np.array([1.0, 1, 1, 5])) == "b"
