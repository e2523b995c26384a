"""Anderson extrapolation: the same optimum in fewer passes, and never a higher objective."""

from __future__ import annotations

import numpy as np
import pytest

from separable.certified.solvers.block_penalty.extrapolation import Extrapolated
from separable.penalties.group import GroupPenalty
from separable.penalties.lp import LpPenalty


def quadratic(seed, d):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2 * d, d)) + rng.normal(size=(2 * d, 1))
    return x.T @ x / d, x.T @ (x[:, 0] + rng.normal(size=2 * d))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["group", "1", "3/2"])
def test_same_optimum_in_fewer_passes(kind, seed):
    d = 40
    h, q = quadratic(seed, d)
    lam = np.full(d, 3.0)
    penalty = LpPenalty(kind, lam)
    if kind == "group":
        penalty = GroupPenalty(np.arange(d) // 4, lam[:10])
    descend = penalty.descent(np.arange(penalty.n_blocks), h)

    def solve(one):
        u, g = np.zeros(d), q.copy()
        passes, moved = one(u, g, 1e-20, 5000)
        np.testing.assert_allclose(g, q - h @ u, atol=1e-9)
        assert moved <= 1e-20
        return 0.5 * u @ h @ u - q @ u + penalty.value(u), passes

    plain, many = solve(descend)
    value, few = solve(Extrapolated(descend, penalty, h))
    assert value == pytest.approx(plain, rel=1e-12)
    assert few <= many


def test_passes_are_counted_and_limited():
    h, q = quadratic(0, 40)
    penalty = LpPenalty("1", np.full(40, 3.0))
    descend = Extrapolated(penalty.descent(np.arange(40), h), penalty, h)
    for most in (1, 9, 10, 13):
        assert descend(np.zeros(40), q.copy(), 0.0, most)[0] == most
