from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separable.data.rows import Rows, as_rows
from separable.data.stacking import stack_rows

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
