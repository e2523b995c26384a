"""Means and extents of the columns of a problem, and classes, against exact sums and NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from separable.certified.preparation import prepare
from separable.data.rows import as_rows
from separable.fitting.targets import sorted_classes
from separable.losses.loss import SQUARED_ERROR


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (1024, 3), (5000, 17)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_columns_are_centred_at_their_exact_mean(dtype, shape, is_weighted):
    rng = np.random.default_rng(shape[0])
    X = (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3, shape[1]) + 1e5).astype(dtype)
    weight = rng.exponential(size=shape[0]) if is_weighted else None
    problem = prepare(
        as_rows(X), SQUARED_ERROR, X[:, 0].astype(float), weight,
        fit_intercept=True, standardize=False,
    )  # fmt: skip
    w = np.ones(shape[0]) if weight is None else weight
    wide = X.astype(np.float64)
    exact = [math.fsum(w * column) / math.fsum(w) for column in wide.T]
    shift, extent = problem.columns.shift, problem.extent
    np.testing.assert_allclose(shift, exact, rtol=1e-14)
    np.testing.assert_array_equal(extent, np.abs(wide - shift).max(axis=0))


@pytest.mark.parametrize(
    "y",
    [
        [3, -2, 3],
        [0, 5000, 17],
        [-(2**63), 2**63 - 1, 0],
        [True, False, True],
        [1.5, -0.5, 1.5],
        ["b", "a", "b"],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, np.int8, np.int32, np.uint8, np.uint64])
def test_classes_are_the_distinct_labels_in_order(y, dtype):
    try:
        labels = np.array(y) if dtype is None else np.array(y, dtype)
    except (OverflowError, ValueError):
        pytest.skip("the type cannot hold these labels")
    found, expected = sorted_classes(labels), np.array(sorted(set(labels.tolist())), labels.dtype)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == labels.dtype
