"""Proofs: whatever is changed in them, or in the data, `verify` notices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from separable.data.rows import as_rows
from separable.geometry import separability
from separable.geometry.cone.dependencies import find_dependencies
from separable.geometry.cone.signed_rows import SignedRows
from separable.geometry.proofs.checks import proved_cancelling
from separable.geometry.proofs.signs import exact_signs
from separable.linalg.exact import null_vectors, solve_whole, whole_columns
from tests.reference.exact_separability import exact_kind, exact_vectors

SETS = {
    "separable": ([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]),
    "quasi-separable": ([[0.0, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 1, 1, 1, 1]),
    "overlap": ([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
}


@pytest.fixture(params=SETS)
def case(request):
    X, y = SETS[request.param]
    verdict = separability(X, y)
    assert verdict.kind == request.param
    return verdict, np.array(X), np.array(y)


@pytest.mark.parametrize("exact", [False, True])
def test_a_proof_holds_for_its_data_only(case, exact):
    verdict, X, y = case
    assert verdict.verify(X, y, exact=exact)
    assert not verdict.verify(X[:-1], y[:-1], exact=exact)
    assert not verdict.verify(X, np.where(y == 1, 7, y), exact=exact)
    other = y.copy()
    other[[0, -1]] = 1 - other[[0, -1]]
    if 0 < other.sum() < len(other):
        assert not verdict.verify(X, other, exact=exact)


@pytest.mark.parametrize("exact", [False, True])
def test_a_changed_proof_is_noticed(case, exact):
    verdict, X, y = case
    for name, value in vars(verdict.proof).items():
        if name in ("columns",):
            continue
        for changed in _changes(name, value):
            proof = replace(verdict.proof, **{name: changed})
            assert not replace(verdict, proof=proof).verify(X, y, exact=exact), name


def _changes(name, value):
    if name == "weights":
        yield -value
        yield np.zeros_like(value)
    elif name == "intercept":
        yield value + 100.0
    elif name in ("margin",):
        yield value * 1.01
    elif name == "margin_bound":
        yield value * 0.99
    elif name == "margins":
        yield value + 1.0
    elif name == "rank":
        yield value - 1
    elif name == "boundary":
        yield value[1:]
    elif name == "multipliers":
        yield -value
        yield np.where(np.arange(len(value)) == 0, 3.0, value)
        yield value * np.nan


def test_a_multiplier_of_zero_is_no_proof():
    verdict = separability(*SETS["overlap"])
    proof = replace(verdict.proof, multipliers=np.array([1.0, 1.0, 1.0, 0.0]))
    assert not replace(verdict, proof=proof).verify(*SETS["overlap"])


SMALL = st.integers(-3, 3)
floats = st.floats(-1e3, 1e3, allow_subnormal=False)
tables = st.tuples(st.integers(2, 8), st.integers(1, 3)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=floats)
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(tables, st.data())
def test_any_verdict_proves_itself(X, data):
    y = data.draw(arrays(np.int64, len(X), elements=st.integers(0, 1)))
    if not 0 < y.sum() < len(y):
        return
    verdict = separability(X, y)
    assert verdict.kind == exact_kind(exact_vectors(X, y))
    assert verdict.verify(X, y)
    assert verdict.verify(X, y, exact=True)


@settings(max_examples=60, deadline=None)
@given(tables, st.data())
def test_signs_are_those_of_fractions(X, data):
    u = data.draw(arrays(np.float64, X.shape[1] + 1, elements=floats))
    cone = SignedRows(as_rows(X), np.ones(len(X)), True)
    sums = [sum(Fraction(a) * Fraction(b) for a, b in zip([*x, 1.0], u, strict=True)) for x in X]
    expected = [(total > 0) - (total < 0) for total in sums]
    assert exact_signs(cone, u).tolist() == expected
    assert exact_signs(cone, [Fraction(number) for number in u]).tolist() == expected


def test_signs_of_numbers_that_underflow():
    cone = SignedRows(as_rows([[1e-200, 1e-300]]), np.ones(1), False)
    assert exact_signs(cone, np.array([1e-200, 0.0])).tolist() == [1]
    assert exact_signs(cone, np.array([1e-200, -1e-90])).tolist() == [-1]


def test_signs_of_weights_that_floats_cannot_hold_together():
    rows = np.array([[0.0, 2.0**700], [2.0**-700, 0.0], [2.0**-700, 2.0**700]])
    cone = SignedRows(as_rows(rows), np.ones(3), False)
    u = [Fraction(2) ** 700, -(Fraction(2) ** -700)]
    assert exact_signs(cone, u).tolist() == [-1, 1, 0]


@pytest.mark.parametrize("seed", range(8))
def test_columns_that_depend_on_each_other_at_the_ends_of_floats(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (14, 2)).astype(float)
    X = np.column_stack([X, X.sum(axis=1)])
    y = np.r_[0, 1, rng.integers(0, 2, 12)]
    verdict = separability(X * 2.0 ** np.array([-700, 0, 700]), y)
    assert verdict.kind == separability(X, y).kind
    assert verdict.verify(X * 2.0 ** np.array([-700, 0, 700]), y, exact=True)


@settings(max_examples=60, deadline=None)
@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=4), elements=SMALL))
def test_null_vectors_are_null_and_as_many_as_the_rank_leaves(A):
    pivots, basis = null_vectors(A.astype(object))
    assert len(pivots) == np.linalg.matrix_rank(A)
    assert len(basis) == A.shape[1] - len(pivots)
    for vector in basis:
        assert all(sum(int(a) * v for a, v in zip(row, vector, strict=True)) == 0 for row in A)
    result = find_dependencies(A.astype(np.float64))
    assert result.rank == len(pivots)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (3, 3), elements=floats), arrays(np.float64, 3, elements=floats))
def test_whole_numbers_solve_without_rounding(A, b):
    wholes, exponents = whole_columns(A)
    units = [Fraction(2) ** int(exponent) for exponent in exponents]
    assert (wholes * units == np.vectorize(Fraction, otypes=[object])(A)).all()
    right, _ = whole_columns(b[:, None])
    solved = solve_whole(wholes, right[:, 0])
    if solved is not None:
        x, scale = solved
        assert scale > 0
        assert (wholes @ np.array(x, dtype=object) == scale * right[:, 0]).all()


def test_cancelling_needs_vectors_that_depend_exactly():
    near = np.array([[1.0, 0.0], [-1.0, 1e-14]])
    for exact in (False, True):
        assert proved_cancelling(near, np.ones(2), exact=exact) is None
        assert proved_cancelling(near * [1.0, 0.0], np.ones(2), exact=exact).rank == 1


def test_rational_arithmetic_has_a_limit_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 160)), np.arange(400) % 2
    verdict = separability(X, y)
    assert verdict.kind == "overlap"
    assert verdict.verify(X, y)
    with pytest.raises(NotImplementedError, match="rational arithmetic solves for them up to rank"):
        verdict.verify(X, y, exact=True)
