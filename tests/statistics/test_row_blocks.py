"""Moments of many dense rows: many blocks, in one pass."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hilbert

from separable import Moments
from separable.data.rows import as_rows
from separable.statistics.row_blocks import block_rows
from separable.statistics.weighted_rows import Data, RowWeights

D = 37  # not a whole number of lines
STEP = block_rows(D, sparse=False)
N = 3 * STEP + 100
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) @ (hilbert(D) + 0.1 * np.eye(D))
Y = X[:, 0] + RNG.normal(size=N)
WEIGHT = RNG.integers(0, 4, N) * RNG.random(N)


def scatter_of(columns, weight=None):
    """Return mean and scatter in extended precision, by two passes."""
    z = np.asarray(columns, np.longdouble)
    w = np.ones(len(z), np.longdouble) if weight is None else np.asarray(weight, np.longdouble)
    mean = w @ z / w.sum()
    z = z - mean
    return mean.astype(float), (z.T @ (w[:, None] * z)).astype(float)


def assert_right(moments, X, Y, weight=None, digits=1e-12):
    mean, scatter = scatter_of(np.column_stack([X, Y]), weight)
    sums = moments.sums
    np.testing.assert_allclose(sums.means[0], mean, rtol=1e-13, atol=1e-13 * np.abs(mean).max())
    found = sums.scatter / sums.scale / sums.scale[:, None]
    size = np.sqrt(np.diagonal(scatter))
    unit = np.where(size > 1e-12, size, 1.0)
    np.testing.assert_allclose(
        found / unit / unit[:, None], scatter / unit / unit[:, None], rtol=0, atol=digits
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("d", [1, 7, 8, 36, 37])
def test_products_of_columns(dtype, weight, d):
    rows = X[:, :d].astype(dtype)
    assert_right(Moments("numbers").add(rows, Y, weight), rows, Y, weight)


def test_no_target_and_many_targets():
    both = np.column_stack([Y, Y**2, -Y])
    for moments, rest in ((Moments().add(X), X[:, :0]), (Moments("numbers").add(X, both), both)):
        assert_right(moments, X, rest)


@pytest.mark.parametrize("pieces", [[1], [5, 60], [STEP], [STEP + 1, 3, 2 * STEP - 1]])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_pieces_change_no_bit(pieces, weight):
    whole = Moments("numbers").add(X, Y, weight).sums
    moments, start = Moments("numbers"), 0
    for piece in [*pieces, N - sum(pieces)]:
        part = slice(start, start + piece)
        moments.add(X[part], Y[part], None if weight is None else weight[part])
        start += piece
    for name in ("weight", "offset", "scatter"):
        np.testing.assert_array_equal(getattr(moments.sums, name), getattr(whole, name))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_chosen_rows_have_the_bits_of_their_copy(weight):
    chosen = RNG.permutation(N)[: 2 * STEP + 11]
    counted = RowWeights() if weight is None else RowWeights(np.flatnonzero(weight > 0), weight)
    found = Moments("numbers").add_data(Data(as_rows(X), Y, counted, X), chosen).sums
    copied = None if weight is None else weight[chosen]
    expected = Moments("numbers").add(X[chosen], Y[chosen], copied).sums
    np.testing.assert_array_equal(found.scatter, expected.scatter)
    np.testing.assert_array_equal(found.offset, expected.offset)


def test_far_sorted_and_constant_columns():
    rows = X.copy()
    rows[:, 1] += 1e9
    rows[:, 2] = np.sort(rows[:, 2]) * 1e5
    rows[:, 3] = 0.1
    rows[:, 4] = 0.0
    rows[-1, 4] = 1e-3
    rows[:, 5] = np.arange(N) // STEP * 1e9  # a jump with every block
    rows[: STEP + 1, 6] = 0.3
    moments = Moments("numbers").add(rows, Y)
    assert moments.sums.diagonal[3] <= 1e-30
    assert_right(moments, rows, Y, digits=1e-11)


def test_weights_that_grow_by_block():
    weight = 10.0 ** (4 * (np.arange(N) // STEP)) * (1 + WEIGHT)
    rows = X + 1e4 * (np.arange(N) // STEP)[:, None]
    assert_right(Moments("numbers").add(rows, Y, weight), rows, Y, weight, digits=1e-10)


@pytest.mark.parametrize("unit", [1e100, 1e200, 1e-200, 1e300])
def test_extreme_columns_after_plain_ones(unit):
    rows = X.copy()
    rows[STEP + 7 :, 3] *= unit
    rows[:, 4] *= unit
    moments = Moments("numbers").add(rows, Y)
    assert np.isfinite(moments.sums.scatter).all()
    scaled = rows.copy()
    scaled[:, 3:5] /= np.abs(rows[:, 3:5]).max(axis=0)
    _, scatter = scatter_of(scaled)
    length = np.sqrt(moments.sums.diagonal[:D])
    unit_length = np.sqrt(np.diagonal(scatter))
    np.testing.assert_allclose(
        moments.sums.scatter[:D, :D] / length / length[:, None],
        scatter / unit_length / unit_length[:, None],
        atol=1e-11,
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, STEP, 2 * STEP + 1, N - 1])
def test_what_is_no_number_is_refused_and_nothing_kept(value, row):
    rows = X.copy()
    rows[row, 5] = value
    moments = Moments("numbers").add(X[:10], Y[:10])
    with pytest.raises(ValueError, match=f"row {row}"):
        moments.add(rows, Y)
    moments.add(X[10:], Y[10:])
    np.testing.assert_array_equal(moments.sums.scatter, Moments("numbers").add(X, Y).sums.scatter)
