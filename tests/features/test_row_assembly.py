"""Laying out slots as rows: dense and CSR are the same matrix, that of a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable._core import portable
from separable.data.rows import Rows
from separable.features.row_assembly import BlockSlot, NumberSlot, OneHotSlot, rows_from_slots

pytestmark = pytest.mark.native

NUMBERS = st.sampled_from([0.0, -1.5, 2.0])


def dense(rows):
    out = np.zeros(rows.shape)
    for i in range(rows.n_rows):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            out[i, rows.indices[k]] += rows.values[k]
    return out


def csr(matrix):
    rows, columns = np.nonzero(matrix)
    indptr = np.searchsorted(rows, np.arange(len(matrix) + 1))
    return Rows(matrix[rows, columns], matrix.shape[1], columns, indptr.astype(columns.dtype))


@st.composite
def slot_lists(draw):
    n_rows = draw(st.integers(0, 7))
    slots, blocks = [], [np.zeros((n_rows, 0))]
    for kind in draw(st.lists(st.sampled_from("nob"), min_size=1, max_size=5)):
        width = draw(st.integers(1, 4))
        if kind == "n":
            numbers = np.array(draw(st.lists(NUMBERS, min_size=n_rows, max_size=n_rows)), float)
            slots.append(NumberSlot(numbers))
            blocks.append(numbers[:, None])
        elif kind == "o":
            places = np.array(draw(st.lists(st.integers(-1, width - 1), min_size=1, max_size=6)))
            codes = st.integers(-1, len(places) - 2)
            drawn = np.array(draw(st.lists(codes, min_size=n_rows, max_size=n_rows)), int)
            slots.append(OneHotSlot(drawn.astype(np.int32), places.astype(np.int32), width))
            blocks.append((places[drawn + 1][:, None] == np.arange(width)).astype(float))
        else:
            size = n_rows * width
            block = np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)), float)
            blocks.append(block.reshape(n_rows, width))
            slots.append(BlockSlot(csr(blocks[-1])))
    return slots, np.hstack(blocks)


@given(slot_lists(), st.integers(1, 3))
def test_dense_and_csr_hold_the_matrix_of_the_blocks_on_any_number_of_threads(drawn, n_threads):
    slots, expected = drawn
    n_rows = len(expected)
    sparse = rows_from_slots(slots, n_rows, dense=False, n_threads=n_threads)
    full = rows_from_slots(slots, n_rows, dense=True, n_threads=n_threads)
    assert sparse.shape == full.shape == expected.shape
    np.testing.assert_array_equal(full.values, expected)
    np.testing.assert_array_equal(dense(sparse), expected)
    assert (sparse.values != 0).all()
    assert sparse.indices.dtype == sparse.indptr.dtype == np.int32
    for start, stop in zip(sparse.indptr[:-1], sparse.indptr[1:], strict=True):
        assert (np.diff(sparse.indices[start:stop]) > 0).all()


def test_many_rows_and_threads_give_the_same_bits():
    rng = np.random.default_rng(0)
    n = 10_000
    codes = rng.integers(-1, 50, n).astype(np.int32)
    places = np.arange(-1, 50, dtype=np.int32)
    slots = [NumberSlot(rng.normal(size=n)), OneHotSlot(codes, places, 50)]
    one, three = (rows_from_slots(slots, n, dense=False, n_threads=t) for t in (1, 3))
    for a, b in zip(one.arrays(), three.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_are_dense_up_to_64_numbers_out():
    def one_hot(width):
        places = np.arange(-1, width, dtype=np.int32)
        return [OneHotSlot(np.zeros(3, np.int32), places, width)]

    assert not rows_from_slots(one_hot(64), 3).is_sparse
    assert rows_from_slots(one_hot(65), 3).is_sparse


def test_the_core_refuses_parts_that_do_not_fit():
    int32 = np.int32
    parts = portable.Parts(2)
    with pytest.raises(ValueError, match="one number a row"):
        parts.add_numbers(np.zeros((1, 3)), 0)
    with pytest.raises(ValueError, match="a code has no place"):
        parts.add_one_hot(np.array([0, 5], int32), np.array([-1, 0], int32), 0, 1)
    with pytest.raises(ValueError, match="a code has no place"):
        parts.add_one_hot(np.array([0, -2], int32), np.array([-1, 0], int32), 0, 1)
    with pytest.raises(ValueError, match="a place is outside"):
        parts.add_one_hot(np.array([0, 0], int32), np.array([-1, 1], int32), 0, 1)
    with pytest.raises(ValueError, match="a column is outside"):
        parts.add_csr(np.ones(1), np.array([3]), np.array([0, 1, 1]), 0, 3)
    with pytest.raises(ValueError, match="indptr descends"):
        parts.add_csr(np.ones(1), np.array([0]), np.array([1, 0, 1]), 0, 3)
    parts.add_numbers(np.ones((1, 2)), 4)
    with pytest.raises(ValueError, match="order of their places"):
        parts.add_numbers(np.ones((1, 2)), 4)
    with pytest.raises(ValueError, match="count comes before fill"):
        parts.fill(np.zeros(2), np.zeros(2, int32), np.zeros(3, int32))
    parts.count()
    with pytest.raises(ValueError, match="do not fit"):
        parts.fill(np.zeros(3), np.zeros(3, int32), np.zeros(3, int32))
    with pytest.raises(ValueError, match="does not fit"):
        parts.dense(np.zeros((2, 4)))
