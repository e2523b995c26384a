"""L16: with enough columns any labels are separable; the share of random ones follows Cover."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from separable.geometry import separability

LONG = pytest.mark.long


def fraction_separable(n, dimensions):
    """Return Cover's share of the labels of n points in general position that are separable."""
    return sum(comb(n - 1, k) for k in range(dimensions)) / 2 ** (n - 1)


def is_separable(X, y, fit_intercept):
    if len(set(y)) == 1:
        if fit_intercept:
            return True  # the boundary lies beyond all rows
        # two classes are asked for: -x of the other class says the same as x
        sign = np.where(np.arange(len(X)) == 0, -1, 1)
        X, y = X * sign[:, None], np.where(sign < 0, 1 - y, y)
    verdict = separability(X, y, fit_intercept=fit_intercept)
    assert verdict.verify(X, y)
    assert verdict.separable is not None
    return verdict.separable


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("n", "d"),
    [(10, 3), pytest.param(12, 5, marks=LONG), pytest.param(20, 9, marks=LONG), (30, 20)],
)
def test_share_of_random_labels(n, d, fit_intercept):
    sets = 100
    rng = np.random.default_rng([n, d])
    n_separable = sum(
        is_separable(rng.normal(size=(n, d)), rng.integers(0, 2, n), fit_intercept)
        for _ in range(sets)
    )
    expected = fraction_separable(n, d + fit_intercept)
    assert (
        abs(n_separable / sets - expected) <= 4 * np.sqrt(expected * (1 - expected) / sets) + 1e-12
    )


def test_every_labelling_of_few_points():
    # in general position exactly Cover's number, not only on average
    n, d = 8, 3
    X = np.random.default_rng(0).normal(size=(n, d))
    for fit_intercept in (False, True):
        n_separable = 2 * sum(
            is_separable(X, code >> np.arange(n) & 1, fit_intercept) for code in range(2 ** (n - 1))
        )
        assert n_separable == 2**n * fraction_separable(n, d + fit_intercept)


def test_more_columns_than_rows_separate_anything():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.integers(0, 2, 40)
    assert separability(X, y).separable
