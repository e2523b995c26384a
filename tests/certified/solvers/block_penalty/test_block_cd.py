"""The kernels of descent by blocks: exact steps, what a pass leaves, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separable._core import native
from separable.certified.solvers.interior_point.max_norm_interior import bounded_least_squares
from separable.penalties.group import GroupPenalty
from separable.penalties.lp import POWERS, LpPenalty
from separable.penalties.max_norm import MaxPenalty, onto_l1_ball

pytestmark = [pytest.mark.native, pytest.mark.kernel]

sizes = st.floats(-6, 6).map(lambda x: float(np.sign(x) * 10 ** (abs(x) - 3)) if x else 0.0)


def step(power, h, m, strength):
    """The weight after one pass over one weight."""
    u, g = np.zeros(1), np.array([m])
    native.lp_descent(power, np.array([[h]]), np.array([strength]), 0.0, 1, u, g)
    assert g[0] == pytest.approx(m - h * u[0], rel=1e-12, abs=1e-12)
    return u[0]


@pytest.mark.parametrize("power", list(POWERS))
@given(m=sizes, log_h=st.floats(-3, 3), log_strength=st.floats(-4, 3))
def test_the_step_of_one_weight_is_exact(power, m, log_h, log_strength):
    h, strength, p = 10.0**log_h, 10.0**log_strength, POWERS[power]

    def value(x):
        size = (x != 0).astype(float) if p == 0 else np.abs(x) ** p
        return 0.5 * h * x * x - m * x + strength * size

    x = step(power, h, m, strength)
    top = m / h
    grid = np.concatenate(
        [np.linspace(0, top, 1001), x * (1 + np.linspace(-1e-3, 1e-3, 21)), [0.0]]
    )
    scale = abs(m * top) + 1e-300
    assert value(np.array([x]))[0] <= value(grid).min() + 1e-12 * scale
    numpy = LpPenalty(power, np.array([strength])).prox(np.array([top]), 1.0 / h)
    assert value(numpy)[0] == pytest.approx(value(np.array([x]))[0], abs=1e-11 * scale)


@pytest.mark.parametrize("power", ["1/2", "2/3"])
def test_a_step_jumps_where_both_minima_are_as_low(power):
    p = POWERS[power]
    bound = (2 - p) / (2 * (1 - p)) * (2 * (1 - p)) ** (1 / (2 - p))
    assert step(power, 1.0, bound * (1 - 1e-9), 1.0) == 0
    after = step(power, 1.0, bound * (1 + 1e-9), 1.0)
    assert after == pytest.approx((2 * (1 - p)) ** (1 / (2 - p)), rel=1e-6)


@given(seed=st.integers(0, 10**6), width=st.integers(1, 6), log_strength=st.floats(-3, 1))
@settings(max_examples=100, deadline=None)
def test_the_step_of_a_group_is_exact(seed, width, log_strength):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(1, 2 * width + 1), width))
    rows *= 10.0 ** rng.uniform(-2, 2, width)
    h = rows.T @ rows
    m = rows.T @ rng.normal(size=len(rows))
    strength = 10.0**log_strength * np.linalg.norm(m)
    penalty = GroupPenalty(np.zeros(width, np.intp), np.array([strength]))
    u, g = np.zeros(width), m.copy()
    penalty.descent(np.zeros(1, np.intp), h)(u, g, 0.0, 1)
    size = np.linalg.norm(u)
    if np.linalg.norm(m) <= strength * (1 + 1e-12):
        assert size * np.diagonal(h).max() <= 1e-9 * strength
    else:  # h u + strength u / |u| = m
        np.testing.assert_allclose(h @ u + strength * u / size, m, atol=1e-7 * np.linalg.norm(m))
    np.testing.assert_allclose(g, m - h @ u, atol=1e-10 * np.linalg.norm(m))


def test_passes_only_lower_the_objective():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 12))
    h, q = rows.T @ rows, rng.normal(size=12) * 10
    for power, p in POWERS.items():
        u, g, last = np.zeros(12), q.copy(), np.inf
        for _ in range(50):
            native.lp_descent(power, h, np.full(12, 2.0), 0.0, 1, u, g)
            size = np.count_nonzero(u) if p == 0 else (np.abs(u) ** p).sum()
            value = 0.5 * u @ h @ u - q @ u + 2 * size
            assert value <= last + 1e-10
            last = value
        np.testing.assert_allclose(g, q - h @ u, atol=1e-8)


def test_what_the_kernels_refuse():
    u, g, one = np.zeros(2), np.zeros(2), np.ones(2)
    with pytest.raises(ValueError, match="not square"):
        native.lp_descent("1", np.ones((2, 3)), one, 0.0, 1, u, g)
    with pytest.raises(ValueError, match="weights do not fit the products"):
        native.lp_descent("1", np.eye(3), one, 0.0, 1, u, g)
    with pytest.raises(ValueError, match="penalties do not fit the weights"):
        native.lp_descent("1", np.eye(2), np.ones(3), 0.0, 1, u, g)
    with pytest.raises(ValueError, match="unknown power"):
        native.lp_descent("3", np.eye(2), one, 0.0, 1, u, g)
    starts = {
        "groups do not fit the weights": [0, 1],
        "a group has no weights": [0, 0, 2],
        "penalties do not fit the groups": [0, 2],
    }
    for message, start in starts.items():
        with pytest.raises(ValueError, match=message):
            native.group_descent(
                np.eye(2), np.array(start), np.ones(3), np.ones(4), one, 0.0, 1, u, g
            )
    with pytest.raises(ValueError, match="axes do not fit"):
        native.group_descent(np.eye(2), np.array([0, 2]), np.ones(1), np.ones(3), one, 0.0, 1, u, g)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 8), radius=st.floats(0.01, 10))
@settings(max_examples=50, deadline=None)
def test_the_l1_ball_and_the_largest_weight(seed, d, radius):
    rng = np.random.default_rng(seed)
    t = rng.normal(size=d) * 3
    nearest = onto_l1_ball(t, radius)
    assert np.abs(nearest).sum() <= radius * (1 + 1e-12)
    for _ in range(50):  # no point of the ball is on the other side
        other = rng.normal(size=d)
        other *= radius / np.abs(other).sum()
        assert (t - nearest) @ (other - nearest) <= 1e-9
    x = MaxPenalty(radius).prox(t, 1.0)
    best, _ = bounded_least_squares(np.eye(d), t, radius)
    np.testing.assert_allclose(x, best, atol=1e-9)
