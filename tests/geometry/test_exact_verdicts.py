"""Small sets of any numbers are decided, and rightly: an exact simplex in fractions says so too."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from separable.geometry import separability
from separable.geometry.proofs.checks import ExactNumbers
from separable.linalg.lstsq import nonnegative_squares
from tests.reference.exact_separability import exact_kind, exact_vectors

#: Sets of an ordinary run, which leaves out the first of each family, and of a long one.
FIRST, N_SETS, ALL = 11, 77, 4400


def _grid(rng, n, d):
    return rng.integers(-3, 4, (n, d)).astype(float)


def _units_apart(rng, n, d):
    X = _grid(rng, n, d)
    return X + rng.integers(-2, 3, (n, d)) * 2.0**-51 * np.maximum(1.0, np.abs(X))


def _any_size(rng, n, d):
    return _grid(rng, n, d) * 10.0 ** rng.integers(-300, 300, (n, d))


def _columns_of_any_size(rng, n, d):
    return _grid(rng, n, d) * 10.0 ** rng.integers(-300, 300, (1, d))


def _rows_of_any_size(rng, n, d):
    return _grid(rng, n, d) * 10.0 ** rng.integers(-300, 300, (n, 1))


def _collinear(rng, n, d):
    return rng.standard_normal((n, 1)) @ rng.standard_normal((1, d + 1))


def _dependent_but_for_rounding(rng, n, d):
    X = rng.standard_normal((n, max(1, d - 1)))
    return np.column_stack([X, X @ rng.standard_normal(X.shape[1])])


def _close_to_one(rng, n, d):
    return (1 + rng.integers(0, 3, (n, d)) * 2.0**-52) * rng.choice([1, 1e9, 1e-9, 1e300])


def _next_floats(rng, n, d):
    X = np.nextafter(_grid(rng, n, d), rng.choice([-np.inf, np.inf], (n, d)))
    return X * rng.choice([1, 1e-310, 5.0])


def _ends_of_floats(rng, n, d):
    return rng.choice([1.7e308, -1.7e308, 5e-324, -5e-324, 1e-310, 0, 1, -1], (n, d))


def _twins(rng, n, d):
    X = _units_apart(rng, n, d)
    return X[rng.integers(0, n, n)]


FAMILIES = [
    _grid, _units_apart, _any_size, _columns_of_any_size, _rows_of_any_size, _collinear,
    _dependent_but_for_rounding, _close_to_one, _next_floats, _ends_of_floats, _twins,
]  # fmt: skip


def small_set(seed):
    """Return rows, classes and whether there is an intercept."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 10)), int(rng.integers(1, 4))
    X = FAMILIES[seed % len(FAMILIES)](rng, n, d)
    classes = int(rng.choice([2, 2, 2, 3]))
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)[:n]
    return X, y, bool(rng.random() < 0.7)


def check(seed):
    X, y, fit_intercept = small_set(seed)
    verdict = separability(X, y, fit_intercept=fit_intercept)
    Z = exact_vectors(X, y, fit_intercept)
    assert verdict.kind == exact_kind(Z), seed
    assert verdict.verify(X, y), seed
    assert verdict.verify(X, y, exact=True), seed
    assert 0 <= verdict.margin <= verdict.margin_bound, seed
    if verdict.proof.exact is not None:
        check_whole_numbers(verdict, Z, y)
    return verdict.kind, verdict.proof.exact is not None


def check_whole_numbers(verdict, Z, y):
    """Check a proof in whole numbers against its definition, in fractions."""
    proof, classes = verdict.proof, sorted(set(y.tolist()))
    names = range(len(Z))
    if len(classes) > 2:  # vectors are named by row and other class
        names = [(i, k) for i, own in enumerate(y.tolist()) for k in classes if k != own]
    index_of = {name: i for i, name in enumerate(names)}
    if verdict.kind != "overlap":
        u = proof.exact.direction
        u = [0] * (len(Z[0]) - len(u)) + list(u)  # of several classes the first has weights of 0
        scores = [sum((x * w for x, w in zip(z, u, strict=True)), Fraction(0)) for z in Z]
        on = {index_of[_name(each)] for each in getattr(proof, "boundary", ())}
        assert all((score == 0) if i in on else (score > 0) for i, score in enumerate(scores))
    if verdict.kind != "separable":
        rows = [index_of[_name(each)] for each in proof.rows]
        assert min(proof.exact.multipliers) > 0
        for j in range(len(Z[0])):
            pairs = zip(proof.exact.multipliers, rows, strict=True)
            assert sum(x * Z[i][j] for x, i in pairs) == 0


def _name(each):
    return tuple(each.tolist()) if np.ndim(each) else int(each)


@pytest.mark.parametrize("family", range(len(FAMILIES)), ids=lambda k: FAMILIES[k].__name__)
def test_small_sets_are_decided(family):
    for seed in range(FIRST + family, N_SETS, len(FAMILIES)):
        check(seed)


@pytest.mark.long
def test_many_small_sets_are_decided():
    result = Counter(check(seed) for seed in (*range(FIRST), *range(N_SETS, ALL)))
    for kind in ("separable", "quasi-separable", "overlap"):  # each way of proof was needed
        assert result[kind, False] > 0
        assert result[kind, True] > 0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("multi_class", ["joint", "pairs", "ovr"])
def test_rows_a_unit_apart_in_any_question(fit_intercept, multi_class):
    X = np.array([[5.000000000000001], [3.0], [5.0], [5.0], [5.000000000000002], [5.0]])
    y = np.array([1, 0, 1, 0, 2, 0])
    given = {"fit_intercept": fit_intercept, "multi_class": multi_class}
    verdict = separability(X, y, **given)
    assert verdict.verify(X, y, exact=True)
    if multi_class == "joint":
        assert verdict.kind == exact_kind(exact_vectors(X, y, fit_intercept))
        return
    for key, each in verdict.items():
        if multi_class == "pairs":
            mask = np.isin(y, key)
            Z = exact_vectors(X[mask], y[mask], fit_intercept)
        else:
            Z = exact_vectors(X, (y == key).astype(int), fit_intercept)
        assert each.kind == exact_kind(Z)


#: Sets of each kind, of two classes and of three.
KINDS = {
    "separable": ([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]),
    "quasi-separable": ([[0.0, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 1, 1, 1, 1]),
    "overlap": ([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
    "separable, three": ([[0.0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 2, 2]),
    "quasi-separable, three": ([[0.0], [1], [1], [3], [4], [5]], [0, 0, 1, 1, 2, 2]),
    "overlap, three": ([[0.0], [1], [0], [1], [0], [1]], [0, 0, 1, 1, 2, 2]),
}


@pytest.mark.parametrize("name", KINDS)
def test_changed_whole_numbers_are_noticed(name, monkeypatch):
    for module in ("separability", "joint_verdict"):  # floats prove nothing
        home = import_module(f"separable.geometry.{module}")
        monkeypatch.setattr(home, "_decide", lambda *_: ("undecided", "", None))
    X, y = KINDS[name]
    verdict = separability(X, y)
    exact = verdict.proof.exact
    assert name.startswith(verdict.kind)
    assert verdict.verify(X, y)
    check_whole_numbers(verdict, exact_vectors(X, y), np.array(y))
    others = [
        ExactNumbers(),
        ExactNumbers(tuple(-x for x in exact.direction), tuple(-x for x in exact.multipliers)),
        ExactNumbers(exact.direction[:-1], exact.multipliers[:-1]),
        ExactNumbers(tuple(x + 1 for x in exact.direction), exact.multipliers),
        ExactNumbers(exact.direction, (*exact.multipliers[:-1], *(7,) * len(exact.multipliers))),
    ]
    for other in others:
        if other != exact:
            proof = replace(verdict.proof, exact=other)
            assert not replace(verdict, proof=proof).verify(X, y), other
    for field in ("weights", "intercept", "multipliers", "margins", "margin", "rank"):
        if hasattr(verdict.proof, field):
            proof = replace(verdict.proof, **{field: getattr(verdict.proof, field) + 1})
            changed = replace(verdict, proof=proof).verify(X, y)
            assert not changed or (field, verdict.kind) == ("multipliers", "separable"), field
    digits = verdict.to_dict()["proof"]["exact"]
    assert [int(x) for x in digits["direction"]] == list(exact.direction)
    assert [int(x) for x in digits["multipliers"]] == list(exact.multipliers)


def test_least_squares_without_a_column_do_not_end_the_process():
    assert nonnegative_squares(np.zeros((3, 0)), np.ones(3)) is None
    assert nonnegative_squares(np.full((2, 2), np.inf), np.ones(2)) is None
    X = [[0.0, 0.0], [1.0, 5e-324], [1.0, 0.0]]
    assert separability(X, [0, 1, 1], fit_intercept=False).kind == "quasi-separable"
