"""Classes together, in pairs and one against the rest: verdicts agree with linear programs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from separable.geometry import separability
from tests.reference.separability import lp_verdict, signed_rows

#: Sets of an ordinary run.
N_SETS = range(5, 9)


def classes_set(seed):
    """Return whole numbers, so that ties are exact, under three to five labels."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(6, 40), rng.integers(1, 5), rng.integers(3, 6)
    centres = rng.integers(-4, 5, (k, d)) * rng.choice([0, 1, 3])
    y = np.r_[np.arange(k), rng.integers(0, k, n)]
    X = (rng.integers(-2, 3, (len(y), d)) + centres[y]).astype(float)
    if rng.random() < 0.3:  # a column that tells some rows of one class
        X = np.column_stack([X, (y == 1) & (rng.random(len(y)) < 0.5)])
    return (sp.csr_matrix(X) if rng.random() < 0.3 else X), y, bool(rng.random() < 0.8)


def check(seed):
    X, y, fit_intercept = classes_set(seed)
    options = {"fit_intercept": fit_intercept}
    joint = separability(X, y, multi_class="joint", **options)
    assert joint.kind == lp_verdict(signed_rows(X, y, fit_intercept))[0], seed
    assert joint.verify(X, y), seed
    pairs = separability(X, y, multi_class="pairs", **options)
    for a, b in combinations(np.unique(y), 2):
        both = np.isin(y, [a, b])
        Z = signed_rows(X[both], y[both], fit_intercept)
        assert pairs[a, b].kind == lp_verdict(Z)[0], (seed, a, b)
        assert pairs[a, b].verify(X[both], y[both]), (seed, a, b)
    rest = separability(X, y, multi_class="ovr", **options)
    for a in np.unique(y):
        assert rest[a].kind == lp_verdict(signed_rows(X, y == a, fit_intercept))[0], (seed, a)
    assert pairs.verify(X, y), seed
    assert rest.verify(X, y), seed
    if seed % 5 == 0:
        assert joint.verify(X, y, exact=True), seed
    return joint.kind


@pytest.mark.slow
def test_some_sets_of_classes():
    result = {check(seed) for seed in N_SETS}
    assert result == {"separable", "quasi-separable", "overlap"}


@pytest.mark.long
def test_many_sets_of_classes():
    for seed in set(range(400)).difference(N_SETS):
        check(seed)
