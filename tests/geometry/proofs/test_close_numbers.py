"""Numbers so close that floats alone do not tell: whole numbers and other coordinates do."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from separable.geometry import separability
from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.search.exact_search import reduce_exactly
from separable.geometry.search.facial_reduction import reduce_many
from separable.geometry.search.least_violation import Face, find_least_violation
from separable.geometry.search.single_columns import untangle
from tests.reference.exact_separability import exact_kind, exact_vectors
from tests.reference.separability import lp_verdict, proves_overlap, signed_rows


def whole_sets(count):
    """Yield vectors of small whole numbers, so that the linear program is right about ties."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        m, d = rng.integers(2, 25), rng.integers(1, 6)
        Z = rng.integers(-3, 4, (m, d)).astype(float)
        if rng.random() < 0.6:
            Z[:, 0] = np.abs(Z[:, 0]) + rng.integers(0, 2)
        yield Z


@pytest.mark.slow
def test_whole_numbers_settle_as_a_linear_program_does():
    kinds = []
    for Z in whole_sets(60):
        result = reduce_exactly(WrittenRows(Z))
        kind, strict = lp_verdict(Z)
        assert np.array_equal(~result.boundary, strict)
        assert (result.u is None) == (kind == "overlap")
        if result.u is not None:  # floats that round nothing here, so signs are as they are
            scores = [
                sum(Fraction(x) * Fraction(w) for x, w in zip(z, result.u, strict=True)) for z in Z
            ]
            assert min(float(score) for score in scores) > -1e-12
            assert all(score > 0 for score, clear in zip(scores, strict, strict=True) if clear)
        assert np.allclose((result.a @ Z).astype(float), 0, atol=1e-12)
        assert np.array_equal(result.a > 0, (result.a > 0) & result.boundary)
        kinds.append(kind)
    assert {"separable", "quasi-separable", "overlap"} == set(kinds)


def test_whole_numbers_leave_large_sets_alone():
    rng = np.random.default_rng(1)
    assert reduce_exactly(WrittenRows(rng.standard_normal((100_001, 10)))) is None
    assert reduce_exactly(WrittenRows(rng.standard_normal((10, 61)))) is None


@pytest.mark.parametrize("kind", ["separable", "quasi-separable", "overlap"])
def test_of_many_rows_a_few_are_settled_and_all_are_looked_at(kind):
    rng = np.random.default_rng(7)
    Z = rng.integers(-9, 10, (4000, 4)).astype(float)
    Z[:, 0] = np.abs(Z[:, 0]) + (kind == "separable") if kind != "overlap" else Z[:, 0]
    result = reduce_exactly(WrittenRows(Z))
    assert result.boundary.sum() == {"separable": 0, "overlap": 4000}.get(
        kind, (Z[:, 0] == 0).sum()
    )
    assert not (result.a @ Z.astype(int).astype(object)).any()
    if result.u is not None:
        scores = Z.astype(int).astype(object) @ np.array(result.u, dtype=object)
        assert np.array_equal(scores > 0, ~result.boundary)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("far", [1e9, 2.0**40])
def test_rows_far_from_0_that_overlap(make, fit_intercept, far):
    rng = np.random.default_rng(2)
    X = rng.integers(-4, 5, (24, 2)) + far
    y = np.arange(24) % 2
    verdict = separability(make(X), y, fit_intercept=fit_intercept)
    assert verdict.kind == "overlap"
    assert verdict.verify(X, y, exact=True)


def test_one_column_far_from_0_in_many_classes():
    X = 1e9 + np.array([[0.25], [1.5], [3.0], [3.5], [5.0], [6.0], [1.75], [2.5], [1.5], [2.0]])
    y = [0, 1, 2, 3, 4, 5, 1, 3, 1, 1]
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"  # class 2 lies between rows of class 3
    assert verdict.verify(X, y, exact=True)
    assert separability(X[:7], y[:7]).kind == "separable"


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_very_different_sizes(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (20, 3)) * 10.0 ** rng.integers(-8, 9, (20, 1))
    y = np.r_[0, 1, rng.integers(0, 2, 18)]
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.separable is not None
    assert verdict.verify(X, y, exact=True)


@pytest.mark.parametrize("n", [40, 400])
def test_a_standardised_code_is_decided(n):
    rng = np.random.default_rng(3)
    X = np.hstack([np.eye(k)[rng.integers(0, k, n)] for k in (2, 3, 5)])
    y = rng.integers(0, 2, n)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    verdict = separability(standard, y)
    assert verdict.kind == separability(X, y).kind == "overlap"
    assert verdict.verify(standard, y)
    Z = signed_rows(standard, y)
    if n == 40:
        assert proves_overlap(Z, verdict.proof.rows, verdict.proof.multipliers)


def test_a_difference_beside_both_columns_is_decided():
    rng = np.random.default_rng(4)
    prices = np.round(rng.uniform(1, 3, (500, 2)), 2)
    X = np.column_stack([prices, prices[:, 0] - prices[:, 1], rng.standard_normal(500)])
    y = (X[:, 3] + rng.standard_normal(500) > 0).astype(int)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    verdict = separability(X, y)
    assert verdict.kind == "overlap"
    assert verdict.verify(X, y, exact=True)


def test_untangled_coordinates_ask_the_same():
    rng = np.random.default_rng(5)
    X = rng.integers(-8, 9, (30, 2)) / 8.0
    Z = np.column_stack([X, X @ [0.5, 2.0] + rng.integers(-3, 4, 30) * 2.0**-48])
    cone = untangle(WrittenRows(Z))
    assert np.linalg.matrix_rank(Z, tol=1e-9) == 2
    assert np.linalg.cond(cone.matrix) < 1e3
    noise = next(j for j in range(3) if np.abs(cone.raw(np.eye(3)[j])).max() > 1e6)
    u = cone.raw(np.eye(3)[noise])
    exact = [sum(Fraction(x) * Fraction(w) for x, w in zip(z, u, strict=True)) for z in Z]
    assert np.allclose([float(x) for x in exact], cone.matrix[:, noise], atol=0.05)
    assert untangle(WrittenRows(X)) is None


def test_a_search_without_enough_steps_claims_nothing(monkeypatch):
    monkeypatch.setattr("separable.geometry.search.least_violation.MAX_STEPS", 2)
    rng = np.random.default_rng(6)
    X = rng.standard_normal((5000, 8))
    y = (X @ rng.standard_normal(8) > 0).astype(int)
    Z = signed_rows(X, y)
    assert not find_least_violation(Face(WrittenRows(Z))).ended
    assert not reduce_many(WrittenRows(Z)).ended
    assert separability(X[:2000], y[:2000]).kind == "separable"  # in rational arithmetic
    monkeypatch.setattr("separable.geometry.search.exact_search.GUARANTEED_NUMBERS", 0)
    monkeypatch.setattr("separable.geometry.search.exact_search.MAX_NUMBERS", 0)
    verdict = separability(X, y)
    assert verdict.kind == "undecided"
    assert "ran out of steps" in verdict.reason
    bound = float(re.search("A margin, if there is one, is at most (.*)[.] Col", verdict.reason)[1])
    monkeypatch.undo()
    assert 0 < separability(X, y).margin <= bound


@pytest.mark.slow
@pytest.mark.parametrize(  # 37, 230 and 242 are closest
    "seed", [37, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 1, 2, 230, 242))]
)
def test_classes_that_only_rounding_separates_are_proved(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 2))
    X = np.hstack([X, X @ rng.standard_normal((2, 2))])
    y = np.r_[np.arange(4), rng.integers(0, 4, 5)]
    verdict = separability(X, y)
    assert verdict.kind == exact_kind(exact_vectors(X, y))
    assert verdict.verify(X, y)
    assert (verdict.margin > 0) is verdict.separable
