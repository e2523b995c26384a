"""Columns that are weak directions by themselves, on several levels, before anything else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separable.data.rows import as_rows
from separable.geometry import separability
from separable.geometry.cone.signed_rows import SignedRows
from separable.geometry.search.single_columns import peel


def _levels(seed, *, shift=0.0, n=900, d=20):
    """Rows that overlap in most columns; rare columns clear some, and only then others are weak."""
    random = np.random.default_rng(seed)
    X = np.round(random.standard_normal((n, d)), 3)
    y = random.integers(0, 2, n)
    rare = np.zeros((n, 4))
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    rare[ones[:3], 0] = 0.3
    rare[zeros[:3], 1] = 0.7
    rare[[ones[0], zeros[5]], 2] = 1.0, 0.1  # weak once the first row is cleared
    rare[[zeros[5], ones[7]], 3] = 5.0, 1e-3  # and then this
    return np.hstack([X, rare + shift]), y, np.sort([*ones[:3], *zeros[:3], zeros[5], ones[7]])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("shift", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_levels_of_rare_columns_are_found_and_proved(layout, shift, dtype):
    X, y, cleared = _levels(0, shift=shift)
    X = layout(X.astype(dtype))
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.verify(X, y)
    assert np.array_equal(np.setdiff1d(np.arange(len(y)), verdict.proof.boundary), cleared)
    assert verdict.proof.columns == (20, 21, 22, 23)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_rows_cleared_are_those_of_plain_loops(seed, fit_intercept):
    random = np.random.default_rng(seed)
    n, d = 30, 8
    X = random.integers(-1, 2, (n, d)) * (random.random((n, d)) < 0.15) * 1.0
    sign = random.choice([-1.0, 1.0], n)
    left = set(range(n))
    while left:
        rows = sorted(left)
        gone = set()
        for j in range(d):
            for side in (-1.0, 1.0):
                column = side * X[rows, j]
                if fit_intercept:
                    one, other = column[sign[rows] > 0], column[sign[rows] < 0]
                    at = other.max(initial=-np.inf)
                    weak = len(one) > 0 and len(other) > 0 and one.min() >= at
                    weak = weak and column.min() < column.max()
                else:
                    at, weak = 0.0, (column * sign[rows]).min() >= 0
                if weak:
                    gone |= {row for row, value in zip(rows, column, strict=True) if value != at}
        if not gone:
            break
        left -= gone
        if fit_intercept and len(set(sign[sorted(left)])) < 2:
            break
    for data in (X, sparse.csr_array(X)):
        peeled = peel(SignedRows(as_rows(data), sign, fit_intercept))
        if len(set(sign[sorted(left)])) == 2:
            assert set(peeled.left.tolist()) == left
        for level in peeled.levels:
            cone = SignedRows(as_rows(X), sign, fit_intercept)
            assert (cone.scores(level.u)[level.cleared] > 0).all()
            assert (cone.scores(level.u)[peeled.left] == 0).all()


def test_what_single_columns_leave_may_be_separable_or_nothing():
    X, y, cleared = _levels(1)
    X[:, 0] += 20.0 * y
    X[cleared, 0] = 0.0
    verdict = separability(X, y)
    assert verdict.kind == "separable"
    assert verdict.verify(X, y)
