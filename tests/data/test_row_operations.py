from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separable import LinearModel
from separable.data.row_operations import distinct_rows, indicator_rows, stack_rows
from separable.data.rows import Rows, as_rows

X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])


def dense(rows: Rows) -> np.ndarray:
    matrix = rows.to_matrix()
    return matrix.toarray() if rows.is_sparse else matrix


@pytest.mark.parametrize("forms", ["dd", "ds", "sd", "ss", "sds"])
def test_rows_on_top_of_each_other(forms):
    make = {"d": as_rows, "s": lambda part: as_rows(sp.csr_array(part))}
    result = stack_rows([make[form](X) for form in forms], 3)
    assert result.is_sparse == ("s" in forms)
    np.testing.assert_array_equal(dense(result), np.concatenate([X] * len(forms)))


def test_types_are_the_widest_and_indices_small():
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    result = stack_rows([as_rows(wide), as_rows(X.astype(np.float32))], 3)
    assert result.values.dtype == np.float64
    assert result.indices.dtype == result.indptr.dtype == np.int32
    assert stack_rows([as_rows(X.astype(np.float32))] * 2, 3).values.dtype == np.float32


def test_parts_without_rows_do_not_count():
    empty = as_rows(sp.csr_array(X)).slice(1, 1)
    result = stack_rows([empty, as_rows(X.astype(np.float32))], 3)
    assert not result.is_sparse
    assert result.values.dtype == np.float32
    assert stack_rows([empty], 3).shape == (0, 3)
    assert stack_rows([], 3).shape == (0, 3)
    assert stack_rows([as_rows(sp.csr_array(X)).slice(1, 3)], 3).indptr.tolist() == [0, 0, 1]


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
