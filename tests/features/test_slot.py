"""Laying out slots as rows: dense and CSR are the same matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.features import slot as module
from separable.features.slot import Slot, rows_from_slots


def dense(rows):
    if rows.indptr is None:
        return rows.values
    out = np.zeros(rows.shape)
    for i in range(rows.n_rows):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            out[i, rows.indices[k]] += rows.values[k]
    return out


@st.composite
def slot_lists(draw):
    n_rows = draw(st.integers(0, 7))
    slots, base = [], 0
    for _ in range(draw(st.integers(1, 5))):
        width = draw(st.integers(1, 4))
        numbers = st.lists(st.sampled_from([0.0, -1.5, 2.0]), min_size=n_rows, max_size=n_rows)
        values = draw(st.none() | numbers.map(np.array))
        if draw(st.booleans()):
            slots.append(Slot(base, values))
        else:
            places = st.integers(-1, width - 1)
            drawn = draw(st.lists(places, min_size=n_rows, max_size=n_rows))
            slots.append(Slot(np.array(drawn, dtype=np.int32), values).shifted(base))
        base += width
    return slots, n_rows, base


@given(slot_lists(), st.integers(1, 40))
def test_dense_and_csr_hold_the_same_matrix_in_blocks_of_any_size(drawn, cells):
    slots, n_rows, n_features = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE_LIMIT", 0)
        patch.setattr(module, "BLOCK_CELLS", cells)
        sparse = rows_from_slots(slots, n_rows, n_features)
    full = rows_from_slots(slots, n_rows, n_features)
    assert sparse.is_sparse
    assert not full.is_sparse
    assert sparse.shape == full.shape == (n_rows, n_features)
    np.testing.assert_array_equal(dense(sparse), full.values)
    assert (sparse.values != 0).all()
    assert sparse.indices.dtype == sparse.indptr.dtype == np.int32
    for start, stop in zip(sparse.indptr[:-1], sparse.indptr[1:], strict=True):
        assert (np.diff(sparse.indices[start:stop]) > 0).all()
