"""Overlap that is proved without exact arithmetic is what `separability` says."""

from __future__ import annotations

import numpy as np
import pytest

from separable.geometry.separability import overlap, separability


@pytest.mark.parametrize("seed", range(12))
def test_overlap_is_that_of_the_verdict(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (30, 4)).astype(float) if seed % 2 else rng.normal(size=(30, 4))
    noise = rng.normal(size=30) * (seed % 3)
    y = (X @ rng.normal(size=4) + noise > 0).astype(int)
    assert overlap(X, y) == (separability(X, y).kind == "overlap")
