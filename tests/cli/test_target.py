from __future__ import annotations

import io

import numpy as np
import pytest

from separable.cli.target import read_target
from separable.data.table import TableError, read_csv


def target(values, **types):
    text = "y\n" + "".join(f'"{value}"\n' for value in values)
    return read_target(read_csv(io.BytesIO(text.encode()), types), "y", "data.csv")


def test_text_labels_and_missing_ones():
    found = target(["b", "NA", "a", "b", ""])
    assert found.labels.tolist() == ["b", "a", "b"]
    assert found.rows.tolist() == [0, 2, 3]
    assert found.missing == 2
    assert found.counts() == {"a": 1, "b": 2}


def test_whole_numbers_are_numbers_and_others_are_text():
    assert target([0, "1.0", 0]).labels.dtype == np.int64
    assert target([0, 1, 0], y="category").labels.tolist() == ["0", "1", "0"]
    assert target([0.5, 1, 0.5]).labels.tolist() == ["0.5", "1", "0.5"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["?", "NA"], "'y' is empty in every row"),
        (["yes", "yes", "NA"], "'y' holds a single class, 'yes', in all 2 rows.*two classes"),
        ([1, 1], "holds a single class, 1,"),
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
