from __future__ import annotations

import numpy as np
import pytest

from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.proofs import sparse_multipliers as module
from separable.geometry.proofs.sparse_multipliers import sparse_multipliers


@pytest.mark.parametrize("dimension", [1, 4])
def test_few_of_many_vectors_cancel_and_span_what_all_do(dimension, monkeypatch):
    monkeypatch.setattr(module, "MIN_SAMPLE", 30)
    half = np.random.default_rng(0).normal(size=(200, dimension))
    vectors = np.vstack([half, -half])
    chosen, a = sparse_multipliers(WrittenRows(vectors), np.ones(400))
    assert len(chosen) < 60
    assert (a > 0).all()
    np.testing.assert_allclose(a @ vectors[chosen], 0, atol=1e-7 * np.abs(vectors).sum())
    assert np.linalg.matrix_rank(vectors[chosen]) == dimension


def test_a_few_vectors_stay_as_they_are():
    a = np.array([0.5, 0.0, 0.5])
    chosen, kept = sparse_multipliers(WrittenRows(np.array([[1.0], [2.0], [-1.0]])), a)
    assert chosen.tolist() == [0, 2]
    assert kept.tolist() == [0.5, 0.5]
