"""Share of random sets that are separable: Cover's count and simulated sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from separable.plot import SeparableShareDisplay
from separable.plot.lectures.separable_fraction import cover_fraction
from tests.plot.clouds import texts_of

pytestmark = pytest.mark.native


def is_separable(X, side):
    """Whether y (w.x + b) >= 1 has a solution, by a linear program."""
    rows = -side[:, None] * np.column_stack([X, np.ones(len(X))])
    free = [(None, None)] * rows.shape[1]
    return linprog(np.zeros(rows.shape[1]), rows, -np.ones(len(X)), bounds=free).status == 0


@pytest.mark.parametrize(("n", "d"), [(4, 1), (5, 2), (6, 2), (6, 4), (5, 4), (4, 7)])
def test_covers_count_is_the_number_of_labellings(n, d):
    X = np.random.default_rng(n * d).normal(size=(n, d))
    labellings = np.array(list(product([-1.0, 1.0], repeat=n)))
    count = sum(is_separable(X, side) for side in labellings)
    assert cover_fraction(n, d) * 2**n == count


def test_covers_count_in_the_limit():
    assert cover_fraction(10, 9) == cover_fraction(3, 50) == 1.0
    assert cover_fraction(2 * 30 + 2, 30) == 0.5
    assert cover_fraction(2000, 900) < 1e-4
    assert cover_fraction(2000, 1100) > 1 - 1e-4


def test_simulated_shares():
    display = SeparableShareDisplay.from_simulation((8, 14), ratios=(0.2, 0.5), repeats=30)
    rng = np.random.default_rng(0)
    for n, d, share in zip(display.n_rows, display.n_columns, display.fractions, strict=True):
        sets = [(rng.normal(size=(n, d)), rng.integers(0, 2, n)) for _ in range(30)]
        assert share == np.mean([is_separable(X, 2.0 * y - 1) for X, y in sets])
    assert display.undecided == 0
    expected = np.sqrt(display.expected * (1 - display.expected) / 30)
    assert (np.abs(display.fractions - display.expected) <= 4 * expected + 1e-12).all()


def test_what_is_drawn():
    display = SeparableShareDisplay.from_simulation((6,), ratios=(0.3, 0.9), repeats=5)
    line = display.ax_.lines[0]
    np.testing.assert_allclose(line.get_xdata(), np.arange(1, 6) / 6)
    expected = [7 / 32 - 1 / 32, 0.5, 26 / 32, 31 / 32, 1.0]
    np.testing.assert_allclose(line.get_ydata(), expected)
    assert any("5 simulations per point" in text for text in texts_of(display))


def test_refusals():
    with pytest.raises(ValueError, match=r"repeats must be an int >= 1. Got 0"):
        SeparableShareDisplay.from_simulation(repeats=0)
    with pytest.raises(ValueError, match=r"n_rows must be an int >= 1. Got 2.5"):
        SeparableShareDisplay.from_simulation((2.5,))


def test_few_rows_have_each_number_of_columns_once():
    display = SeparableShareDisplay.from_simulation((4,), ratios=(0.2, 0.25, 0.5, 2.0), repeats=2)
    assert display.n_columns.tolist() == [1, 2, 8]
    assert display.ax_.get_xlim()[1] > 2
