"""Losses of the compiled core against their formulas in plain NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import xlog1py, xlogy

from separable.losses.loss import HINGE, LOGISTIC, SQUARED_ERROR, SQUARED_HINGE, epsilon_insensitive
from tests.reference import losses as reference

if TYPE_CHECKING:
    from separable.losses.loss import Loss

PAIRS = [
    (HINGE, reference.Hinge()),
    (SQUARED_HINGE, reference.SquaredHinge()),
    (LOGISTIC, reference.Logistic()),
    (epsilon_insensitive(0.3), reference.EpsilonInsensitive(0.3)),
    (SQUARED_ERROR, reference.SquaredError()),
]
every_loss = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].name)


def rows(loss: Loss, n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Targets, scores, costs (some of them 0) and dual points, feasible and infeasible."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    if loss.name not in ("squared_error", "epsilon_insensitive"):
        y = np.where(y > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = rng.normal(size=n) * 10.0 ** rng.integers(-3, 3, n)
    c = rng.exponential(size=n) * (rng.random(n) < 0.8)
    c[:2] = 1.0
    return y, s, c, rng.normal(size=n)


@every_loss
@pytest.mark.parametrize("n", [2, 63, 64, 500])
def test_terms_of_rows_are_those_of_the_formulas(pair, n):
    loss, oracle = pair
    y, s, c, z = rows(loss, n, n)
    inside = loss.clip_dual(y, c, z)
    np.testing.assert_allclose(inside, oracle.clip_dual(y, c, z), rtol=1e-15)
    assert loss.total(y, s, c) == pytest.approx(oracle.total(y, s, c), rel=1e-13)
    assert loss.dual_total(y, c, inside) == pytest.approx(
        oracle.dual_total(y, c, inside), rel=1e-12, abs=1e-12
    )
    gap = loss.gap(y, s, c, inside)
    assert (gap >= 0).all()
    np.testing.assert_allclose(gap, oracle.gap(y, s, c, inside), rtol=1e-10, atol=1e-13)
    if loss.is_smooth:
        for ours, theirs in zip(
            loss.derivatives(y, s, c), oracle.derivatives(y, s, c), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("fraction", [0.0, 1e-310, 1e-12, 1e-3, 0.3, 0.5, 0.7, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("cost", [1e-200, 1.0, 1e8])
def test_entropies_keep_their_digits_near_the_ends(fraction, cost):
    """The dual value of one row is a cost times an entropy, all of whose digits count."""
    a = cost * fraction
    u = a / cost
    exact = -cost * (xlogy(u, u) + xlog1py(1 - u, -u))
    found = LOGISTIC.dual_total(np.ones(1), np.array([cost]), np.array([a]))
    assert found == pytest.approx(float(exact), rel=1e-14, abs=1e-300)


@every_loss
@pytest.mark.parametrize("seed", range(20))
def test_gaps_are_primal_minus_dual_plus_the_product(pair, seed):
    loss, _ = pair
    y, s, c, z = rows(loss, 40, seed)
    z = loss.clip_dual(y, c, z)
    expected = loss.total(y, s, c) - loss.dual_total(y, c, z) + float(z @ s)
    assert loss.gap(y, s, c, z).sum() == pytest.approx(expected, rel=1e-11)


@every_loss
@pytest.mark.parametrize("seed", range(20))
def test_no_intercept_has_a_smaller_loss_than_the_best(pair, seed):
    loss, oracle = pair
    y, s, c, _ = rows(loss, 50, seed)
    b = loss.best_intercept(y, s, c)
    least = oracle.total(y, s + b, c)
    other = oracle.best_intercept(y, s, c)
    for at in (other, *(b + np.geomspace(1e-6, 1e2, 9)), *(b - np.geomspace(1e-6, 1e2, 9))):
        assert least <= oracle.total(y, s + at, c) * (1 + 1e-13)


def test_a_loss_that_is_not_smooth_has_no_derivatives():
    with pytest.raises(ValueError, match="not smooth"):
        HINGE.core.derivatives(np.ones(2), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="one number a row"):
        HINGE.total(np.ones(2), np.ones(3), np.ones(2))
