"""Bounds of rounding at published weights: exact intercepts, and the formulas in NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separable._core import native

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8), NUMBERS, NUMBERS)
def test_centred_intercepts_are_rounded_once(
    pairs: list[tuple[float, float]], b: float, level: float
) -> None:
    shift, w = (np.array(each) for each in zip(*pairs, strict=True))
    exact = Fraction(b) - Fraction(level) + sum(Fraction(x) * Fraction(y) for x, y in pairs)
    made = native.centred_intercepts(shift, w[:, None], np.array([b]), level)
    # Half a unit in the last place, and what a sum in twice the precision may lose: a sum between
    # two numbers may go either way. Products below the normal numbers have no exact error.
    size = abs(Fraction(b)) + abs(Fraction(level)) + sum(abs(Fraction(x * y)) for x, y in pairs)
    allowed = Fraction(math.ulp(made[0])) / 2 + size * Fraction(2) ** -100 + Fraction(1e-300)
    assert abs(Fraction(made[0]) - exact) <= allowed


def test_centred_intercepts_that_cancel() -> None:
    shift, w = np.array([1e16, 1.0, -1e16]), np.array([[1.0], [0.5], [1.0]])
    assert native.centred_intercepts(shift, w, np.array([0.25]), 0.0) == [0.75]


def test_centred_intercepts_beyond_the_numbers() -> None:
    w = np.array([[1e200, 1.0]])
    made = native.centred_intercepts(np.array([1e200]), w, np.array([0.0, -np.inf]), 0.0)
    assert made == [np.inf, -np.inf]


def test_added_errors_follow_the_formula() -> None:
    """gap <= (sqrt(gap (1 + n u) + more) + hypot(scores, vector))^2 + imbalance + rounding."""
    n, c, unit = 5, 2.0, 2.0**-53
    label, none = np.zeros(n, np.int32), np.full(1, -1, np.int32)
    targets = native.LaneTargets(
        "log_loss", 0.0, label, None, None, None, np.zeros(1, np.int32), none, np.array([c])
    )
    model = native.GapModel(False, True, True, 0.25, 0.0, 1.0, 3.0, 2.0)
    score, vector, largest, imbalance, within, weights = 1e-3, 1e-4, 0.0, 1e-5, 2.0, 4.0
    gap, primal, more, unbalanced = 1e-2, 7.0, 1e-6, 1e-7
    (made,) = native.add_errors(
        model,
        targets,
        *(np.array([each]) for each in (gap, primal, more, unbalanced)),
        np.array([[score, vector, largest, imbalance, within, weights]]),
    )
    of_scores = score * math.sqrt(0.5 * 0.25 * c * n)
    of_vector = (vector + imbalance * 3.0 + 2 * unit * weights) / math.sqrt(2.0)
    expected = (
        math.sqrt(gap * (1 + unit * n) + more) + math.hypot(of_scores, of_vector)
    ) ** 2 + unbalanced
    expected += 32 * unit * min(primal, 1e7 * math.exp(within) * (2 + 2 * within) * gap)
    assert made == pytest.approx(expected + 6 * unit * primal, rel=1e-13)
