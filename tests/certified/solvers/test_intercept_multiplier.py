"""The multiplier of the intercept finds the root of a sum, lane by lane."""

from __future__ import annotations

import numpy as np

from separable.certified.solvers.intercept_multiplier import Multipliers

ALL = np.ones(3, bool)


def passes_until_root(answer, rho, awake=ALL, most=40):
    """Move multipliers until all sums are nearly 0; return how many passes that took, and them."""
    steps = Multipliers(rho)
    used = np.zeros(len(rho))
    for number in range(most):
        sums = answer(used)
        if np.abs(sums[awake]).max() < 1e-6:
            return number, used
        used = steps.after_pass(used, sums, awake)
    return most, used


def test_a_sum_that_falls_evenly_is_found_as_soon_as_steps_may_grow():
    gradient, root = np.array([2.0, 50.0, 300.0]), np.array([-5.0, 1.0, 0.1])
    number, found = passes_until_root(lambda used: gradient * (root - used), np.full(3, 0.01))
    np.testing.assert_allclose(found, root, atol=1e-6)
    assert number <= 8


def test_a_sum_that_bends_is_found():
    number, found = passes_until_root(lambda used: 40 * np.tanh(-2.0 - used), np.full(3, 0.01))
    np.testing.assert_allclose(found, -2.0, atol=1e-6)
    assert number <= 15


def test_lanes_that_are_asleep_keep_their_multiplier_and_what_they_saw():
    rho = np.full(2, 0.1)
    steps, both = Multipliers(rho), Multipliers(rho)
    used, sums = np.array([0.0, 0.0]), np.array([3.0, -1.0])
    first = steps.after_pass(used, sums, np.array([True, False]))
    np.testing.assert_allclose(first, [0.3, 0.0])
    later = steps.after_pass(np.array([0.0, 0.0]), sums, np.array([False, True]))
    np.testing.assert_array_equal(later, both.after_pass(used, sums, np.ones(2, bool)) * [0, 1])


def test_a_sum_that_says_nothing_changes_steps_no_more_than_it_may():
    steps = Multipliers(np.array([0.1]))
    first = steps.after_pass(np.array([0.0]), np.array([5.0]), np.array([True]))
    again = steps.after_pass(first, np.array([5.0]), np.array([True]))  # no answer at all
    np.testing.assert_allclose(again - first, [0.5])
    rising = steps.after_pass(again, np.array([9.0]), np.array([True]))  # the wrong way
    np.testing.assert_allclose(rising - again, [0.9])


def test_without_an_intercept_nothing_moves():
    steps = Multipliers(np.zeros(2))
    for sums in ([3.0, -2.0], [1.0, -1.0]):
        moved = steps.after_pass(np.zeros(2), np.array(sums), np.ones(2, bool))
        np.testing.assert_array_equal(moved, 0.0)
