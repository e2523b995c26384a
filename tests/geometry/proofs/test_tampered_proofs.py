"""A proof that was changed, or belongs to other data, does not verify, and never fails aloud."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

from separable.geometry import separability

VERTICES = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
rng = np.random.default_rng(0)
CLOUD, LABEL = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
RARE = np.column_stack([CLOUD, np.cumsum(LABEL) * LABEL == 3])

SETS = {
    "separable": (VERTICES, np.array([0, 0, 0, 1])),
    "separable, more rows": (CLOUD + 5 * LABEL[:, None], LABEL),
    "quasi-separable": (np.array([[0.0], [1], [1], [2]]), np.array([0, 0, 1, 1])),
    "quasi-separable, more rows": (RARE, LABEL),
    "overlap": (VERTICES, np.array([0, 1, 1, 0])),
    "overlap, more rows": (CLOUD, LABEL),
    "separable, three classes": (np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])),
    "overlap, three classes": (np.tile(VERTICES, (3, 1)), np.repeat([0, 1, 2], 4)),
}


@pytest.fixture(params=SETS)
def proved(request):
    X, y = SETS[request.param]
    verdict = separability(X, y)
    assert request.param.startswith(verdict.kind)
    assert verdict.verify(X, y)
    return verdict, X, y


def changed(value):
    """Yield what a field must not be mistaken for."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield from (-value, np.full_like(value, np.nan), np.full_like(value, np.inf), value[:-1])
    elif isinstance(value, np.ndarray):
        yield from (value - len(value) - 1, value + 10**6, value[:-1])
    elif isinstance(value, int):
        yield from (value - 1, value + 1)
    elif isinstance(value, float):
        yield float("nan")


@pytest.mark.parametrize("exact", [False, True])
def test_changed_fields_are_noticed(proved, exact):
    verdict, X, y = proved
    for each in fields(verdict.proof):
        value = getattr(verdict.proof, each.name)
        for other in changed(value):
            if np.array_equal(other, value):
                continue
            proof = replace(verdict.proof, **{each.name: other})
            assert not replace(verdict, proof=proof).verify(X, y, exact=exact), (each.name, other)


def test_a_proof_of_another_kind_proves_nothing(proved):
    verdict, X, y = proved
    for kind in ("separable", "quasi-separable", "overlap", "undecided"):
        assert replace(verdict, kind=kind).verify(X, y) == (kind == verdict.kind)
    assert not replace(verdict, proof=None).verify(X, y)


def test_other_data_is_noticed(proved):
    verdict, X, y = proved
    assert not verdict.verify(np.vstack([X, X]), np.append(y, y))
    assert not verdict.verify(np.column_stack([X, X]), y)
    assert not verdict.verify(X, np.where(y == y.max(), "b", "a"))
    assert verdict.kind == "overlap" or not verdict.verify(X, y.max() - y)
    assert verdict.verify(sp.csc_array(X), y)


def test_a_quasi_separation_cannot_turn_its_weights():
    X, y = SETS["quasi-separable"]
    verdict = separability(X, y)
    for factor in (-1.0, 0.0, 2.0):
        proof = replace(verdict.proof, weights=factor * verdict.proof.weights)
        assert not replace(verdict, proof=proof).verify(X, y)
