"""Indicators of values above a threshold, and columns that stand twice."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separable import LinearModel
from separable.data.indicators import distinct_rows, indicator_rows
from separable.data.rows import as_rows


def csr(values, columns, starts, d=3):
    return sp.csr_array((np.array(values, float), columns, starts), shape=(len(starts) - 1, d))


def test_indicators_of_dense_and_sparse_rows():
    X = np.array([[0.5, 0.0, 2.0], [1.0, -1.0, 0.0]], np.float32)
    for form in (np.asarray, sp.csr_array):
        rows = indicator_rows(as_rows(form(X)), 0.5)
        assert rows.values.dtype == np.float32
        made = rows.to_matrix()
        dense = made if isinstance(made, np.ndarray) else made.toarray()
        np.testing.assert_array_equal(dense, X > 0.5)
    with pytest.raises(ValueError, match="The threshold -1 is negative"):
        indicator_rows(as_rows(sp.csr_array(X)), -1.0)


def test_a_column_that_stands_twice_has_one_indicator():
    rows = as_rows(csr([0.3, 0.4, 1.0, 1.0], [2, 2, 0, 0], [0, 2, 2, 4]))
    np.testing.assert_array_equal(
        indicator_rows(rows, 0.5).to_matrix().toarray(), [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    )


@pytest.mark.parametrize(
    ("columns", "starts", "same"),
    [
        ([0, 1, 0, 2], [0, 2, 4], True),
        ([0, 2, 1, 2], [0, 2, 2, 4], True),
        ([2, 0, 1, 2], [0, 2, 4], True),
        ([2, 0, 2, 1], [0, 2, 4], True),
        ([1, 1, 0, 2], [0, 2, 4], False),
        ([2, 0, 2, 1], [0, 3, 4], False),
        ([0, 1, 2, 2], [0, 0, 0, 4], False),
    ],
)
def test_rows_without_repetitions_stay_as_they_are(columns, starts, same):
    rows = as_rows(csr([1, 2, 3, 4], columns, starts))
    distinct = distinct_rows(rows)
    assert (distinct is rows) == same
    np.testing.assert_array_equal(distinct.to_matrix().toarray(), rows.to_matrix().toarray())


def test_a_model_of_indicators(tmp_path):
    from separable import load

    model = LinearModel([[2, -1]], [0.5], ["no", "yes"], "softmax", threshold=1)
    np.testing.assert_array_equal(model.decision_function([[1.0, 5.0], [3.0, 0.0]]), [-0.5, 2.5])
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").threshold == 1.0
    for bad in (np.nan, "1", True):
        with pytest.raises(ValueError, match="threshold must be None or a finite number"):
            LinearModel([[2, -1]], [0.5], ["no", "yes"], "softmax", threshold=bad)
