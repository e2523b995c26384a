"""Certificates under penalties with corners, against ten lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separable.certified.duality import gap
from separable.certified.duality.gap import certify
from separable.certified.problem import Lane
from tests.certified.solvers.test_coordinate_descent import KINDS, LOSSES, make
from tests.reference.optimality import loss_and_slope


def dual_value(name, y, c, z):
    """Return sum_i min over s of c loss(y, s) + z s, by loss."""
    if name == "squared_error":
        return (z * y - z**2 / (2 * c)).sum()
    a = y * z
    if name == "squared_hinge":
        assert a.min() >= 0
        return (a - a**2 / (4 * c)).sum()
    u = a / c
    assert u.min() >= 0
    assert u.max() <= 1
    return (
        -(c * (np.where(u > 0, u * np.log(np.maximum(u, 1e-300)), 0.0))).sum()
        - (c * np.where(u < 1, (1 - u) * np.log1p(-np.minimum(u, 1 - 1e-16)), 0.0)).sum()
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from([kind for kind in KINDS if kind != "shifted"]),
    st.sampled_from([1.0, 0.6]),
    st.tuples(st.booleans(), st.booleans()),
)
def test_certificate_is_that_of_numpy(seed, loss, kind, l1_ratio, switches):
    positive, fit_intercept = switches
    case = make(seed, loss, kind, l1_ratio=l1_ratio, positive=positive, fit_intercept=fit_intercept)
    rng = np.random.default_rng(seed)
    d = case.dense.shape[1]
    u = rng.normal(size=(d, 1)) * (rng.random((d, 1)) < 0.5)
    u = np.abs(u) if positive else u
    C = 0.3
    found = certify(case.problem, [Lane(C)], None, 1e-3, u)
    told = found.certificates[0]

    X, y, c = case.dense, case.signs, np.full(len(case.y), C)
    z, b = found.dual[:, 0], found.intercept[0]
    w, shift = u[:, 0], np.zeros(d)
    if fit_intercept:
        assert abs(z.sum()) <= 1e-9 * np.abs(z).sum()
        shift = X.mean(axis=0) if kind != "sparse" else shift
    scores = (X - shift) @ w + b
    primal = (c * loss_and_slope(loss, y, scores)[0]).sum()
    primal += l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w
    correlation = (X - shift).T @ z
    over = np.maximum((correlation if positive else np.abs(correlation)) - l1_ratio, 0.0)
    dual = dual_value(loss, y, c, z)
    if l1_ratio == 1:
        assert over.max() <= 1e-12
    else:
        dual -= (over**2).sum() / (2 * (1 - l1_ratio))
    assert told.primal == pytest.approx(primal, rel=1e-9)
    assert told.dual == pytest.approx(dual, rel=1e-9, abs=1e-9 * primal)
    assert told.gap == pytest.approx(primal - dual, rel=1e-7, abs=1e-9 * primal)
    np.testing.assert_allclose(found.scores[:, 0], scores, atol=1e-8 * (1 + np.abs(scores).max()))


def test_lanes_side_by_side_are_lanes_alone():
    case = make(3, "log_loss", "wide", l1_ratio=0.8)
    u = np.random.default_rng(0).normal(size=(60, 5))
    lanes = [Lane(C) for C in (0.1, 0.2, 0.4, 0.8, 1.6)]
    together = certify(case.problem, lanes, None, 1e-3, u)
    for k, lane in enumerate(lanes):
        alone = certify(case.problem, [lane], None, 1e-3, u[:, k : k + 1]).certificates[0]
        assert together.certificates[k].gap == pytest.approx(alone.gap, rel=1e-9)


def test_dual_point_of_ones_own_is_made_feasible():
    case = make(4, "squared_error")
    found = certify(
        case.problem, [Lane(1.0)], np.ones((len(case.y), 1)), 1e-3, np.zeros((case.X.shape[1], 1))
    )
    assert not found.dual.any()  # of one sign alone: nothing is left of it
    assert found.certificates[0].dual == 0


@pytest.mark.parametrize(("l1_ratio", "distance"), [(1.0, np.inf), (0.75, np.sqrt(8 * 0.02))])
def test_distance_knows_the_l2_part(l1_ratio, distance):
    from dataclasses import replace

    case = make(5, "log_loss", l1_ratio=l1_ratio)
    told = certify(case.problem, [Lane(1.0)], None, 1e-3, np.zeros((case.X.shape[1], 1)))
    assert replace(told.certificates[0], gap=0.02).distance == pytest.approx(distance)
    assert told.certificates[0].times(3.0, convexity=3.0).distance == pytest.approx(
        told.certificates[0].distance
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("kind", ["plain", "shifted"])
def test_one_pass_over_dense_rows_says_what_two_say(monkeypatch, kind, l1_ratio, fit_intercept):
    case = make(3, "squared_error", kind, l1_ratio=l1_ratio, fit_intercept=fit_intercept)
    u = np.random.default_rng(0).normal(size=(case.dense.shape[1], 1))
    once = certify(case.problem, [Lane(0.3)], None, 1e-3, u)
    monkeypatch.setattr(gap, "_read_once", lambda *_: None)
    twice = certify(case.problem, [Lane(0.3)], None, 1e-3, u)
    for name in ("primal", "gap"):
        one, two = (getattr(found.certificates[0], name) for found in (once, twice))
        assert one == pytest.approx(two, rel=1e-10)
    np.testing.assert_allclose(once.scores, twice.scores, rtol=1e-10)
    size = np.abs(twice.dual).max()
    np.testing.assert_allclose(once.dual, twice.dual, atol=1e-10 * size)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_where_the_dual_point_says_less_than_nothing_the_bound_is_0(l1_ratio):
    case = make(5, "log_loss", l1_ratio=l1_ratio)
    far = np.full((case.X.shape[1], 1), 1e3)
    found = certify(case.problem, [Lane(1e6)], None, 1e-3, far)
    certificate = found.certificates[0]
    assert 0 <= certificate.dual <= certificate.primal
    assert certificate.gap <= certificate.primal
    assert 0 < certificate.relative_gap <= 1
