"""Gaps of lanes with the l2 penalty, against sums in fractions and 50 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from separable._core import native

LOSSES = ("hinge", "squared_hinge", "log_loss", "epsilon_insensitive", "squared_error")
EPSILON = 0.25


def log(x: Fraction) -> Fraction:
    return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln())


def exp(x: Fraction) -> Fraction:
    return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def loss_of(name: str, y: Fraction, s: Fraction) -> Fraction:
    if name == "hinge":
        return max(Fraction(0), 1 - y * s)
    if name == "squared_hinge":
        return max(Fraction(0), 1 - y * s) ** 2
    if name == "log_loss":
        return log(1 + exp(-y * s))
    if name == "epsilon_insensitive":
        return max(Fraction(0), abs(y - s) - Fraction(EPSILON))
    return (y - s) ** 2 / 2


def dual_of(name: str, y: Fraction, c: Fraction, z: Fraction) -> Fraction:
    """Return min over s of c loss(y, s) + z s, which is finite."""
    a = y * z
    if name == "hinge":
        return a
    if name == "squared_hinge":
        return a - a**2 / (4 * c)
    if name == "log_loss":
        parts = (a / c, 1 - a / c)
        return -c * sum((u * log(u) for u in parts if u), start=Fraction(0))
    if name == "epsilon_insensitive":
        return a - Fraction(EPSILON) * abs(z)
    return a - z**2 / (2 * c)


def case(name: str, seed: int, k: int = 2, n: int = 70, d: int = 3):
    """Return targets, costs and the arguments of the kernel, in padded columns."""
    rng = np.random.default_rng([seed, LOSSES.index(name)])
    regression = name in ("epsilon_insensitive", "squared_error")
    label = rng.integers(0, 2, n).astype(np.int32)
    number, weight = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    C = 10.0 ** rng.uniform(-1, 1, k)
    lanes = np.ones(k, np.int32), np.full(k, -1, np.int32), C
    given = (None, number) if regression else (label, None)
    targets = native.LaneTargets(name, EPSILON, *given, weight, None, *lanes)
    y = number if regression else np.where(label == 1, 1.0, -1.0)
    c = weight[:, None] * C
    z = np.zeros((n, 8))
    z[:, :k] = rng.normal(size=(n, k)) * c if regression else y[:, None] * c * rng.random((n, k))
    native.make_feasible(targets, z, True)
    scores = np.zeros((n, 8))
    scores[:, :k] = 2 * rng.normal(size=(n, k))
    u, v = rng.normal(size=(2, d, 8))
    return targets, y, c, z, scores, u, v


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", LOSSES)
def test_gaps_are_those_of_fractions(name: str, seed: int) -> None:
    targets, y, c, z, scores, u, v = case(name, seed)
    before = scores.copy()
    b, primal, dual, gap = native.lane_gaps(targets, z, scores, u, v, True)
    with localcontext() as context:
        context.prec = 50
        for k in range(2):
            np.testing.assert_array_equal(scores[:, k], before[:, k] + b[k])
            rows = [
                tuple(Fraction(float(x)) for x in row)
                for row in zip(y, scores[:, k], c[:, k], z[:, k], strict=True)
            ]
            uk, vk = ([Fraction(float(x)) for x in each[:, k]] for each in (u, v))
            losses = sum(ci * loss_of(name, yi, si) for yi, si, ci, _ in rows)
            values = sum(dual_of(name, yi, ci, zi) for yi, _, ci, zi in rows)
            size = sum(x * x for x in uk) / 2
            conjugate = sum(x * x for x in vk) / 2
            apart = sum((x - w) ** 2 for x, w in zip(uk, vk, strict=True)) / 2
            together = sum(si * zi for _, si, _, zi in rows)
            assert primal[k] == pytest.approx(float(losses + size), rel=1e-14)
            assert dual[k] == pytest.approx(float(values - conjugate), rel=1e-12, abs=1e-12)
            # of each row: loss - (value - s z), which is not negative
            exact = losses - values + together + apart
            assert gap[k] == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_intercepts_are_the_best_ones(name: str) -> None:
    targets, _, _, z, scores, u, v = case(name, 9)
    b, primal, _, _ = native.lane_gaps(targets, z, scores, u, v, True)
    for step in (-1e-3, 1e-3):
        moved = np.ascontiguousarray(scores + step)
        none, worse, _, _ = native.lane_gaps(targets, z, moved, u, v, False)
        assert not any(none)
        assert (np.array(worse) >= np.array(primal) * (1 - 1e-14)).all()
    assert any(b)
