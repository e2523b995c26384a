"""L5: of the Boolean functions of 2, 3 and 4 inputs, 14, 104 and 1 882 are separable."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from separable.geometry import separability


def vertices(inputs):
    """Return all inputs as rows; row r holds the bits of r."""
    return np.array(list(itertools.product([0.0, 1.0], repeat=inputs)))[:, ::-1]


def is_separable(function, X):
    """Return whether a boundary gives the function whose value in row r is bit r of the number."""
    y = function >> np.arange(len(X)) & 1
    if len(set(y)) == 1:
        return True  # a constant: the boundary lies outside all corners
    verdict = separability(X, y)
    assert verdict.separable is not None
    assert verdict.verify(X, y)
    return verdict.separable


def one_of_each_pair(inputs):
    """Return functions without their complements, which the same boundary gives."""
    return range(2 ** (2**inputs - 1))


def count(inputs):
    X = vertices(inputs)
    return 2 * sum(is_separable(function, X) for function in one_of_each_pair(inputs))


def moved_by_a_symmetry(inputs):
    """Yield for each way to name and negate the inputs where every corner goes."""
    X = vertices(inputs).astype(int)
    for order in itertools.permutations(range(inputs)):
        for negated in itertools.product([0, 1], repeat=inputs):
            yield (X[:, order] ^ negated) @ (1 << np.arange(inputs))


def orbits(inputs):
    """Return one function of each orbit under these and complements, and the sizes of the orbits.

    The same boundary gives a function and its complement.
    """
    functions = np.arange(2 ** (2**inputs))
    bits = (functions[:, None] >> np.arange(2**inputs) & 1).astype(float)
    first = functions.astype(float)  # products of floats are quick, and these are exact
    for exponents in moved_by_a_symmetry(inputs):
        moved = bits @ 2.0**exponents
        for same in (moved, functions[-1] - moved):
            np.minimum(first, same, out=first)
    return np.unique(first.astype(int), return_counts=True)


@pytest.mark.parametrize(("inputs", "expected"), [(2, 14), (3, 104)])
def test_all_functions_of_two_and_three_inputs(inputs, expected):
    assert count(inputs) == expected


def test_functions_of_four_inputs_up_to_the_names_and_signs_of_inputs():
    X = vertices(4)
    functions, sizes = orbits(4)
    assert sizes.sum() == 65_536
    assert (
        sum(size for f, size in zip(functions, sizes, strict=True) if is_separable(f, X)) == 1_882
    )


@pytest.mark.long
def test_all_functions_of_four_inputs():
    assert count(4) == 1_882


def test_xor_proves_itself_in_exact_arithmetic():
    X, y = vertices(2), np.array([0, 1, 1, 0])
    verdict = separability(X, y)
    assert verdict.kind == "overlap"
    assert verdict.verify(X, y, exact=True)
    # all four corners, with the same multiplier: the middle lies in both hulls
    np.testing.assert_array_equal(np.sort(verdict.proof.rows), range(4))
    np.testing.assert_allclose(verdict.proof.multipliers, verdict.proof.multipliers[0])
