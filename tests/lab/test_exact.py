"""The verdict of the lab against that of the library, and its proofs in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separable.geometry import separability
from tests.lab.in_node import in_node


def random_problems():
    """Yield small integers: collinear points, touching hulls, equal rows."""
    rng = np.random.default_rng(0)
    for k in range(400):
        d = 2 + k % 3
        n = int(rng.integers(2, 5 + 2 * d))
        y = rng.permutation(np.append([-1, 1], rng.choice([-1, 1], n - 2)))
        yield rng.integers(0, 4, (n, d)).tolist(), y.tolist()


def test_verdicts_and_proofs_are_exact():
    given = list(random_problems())
    tiny = 2.0**-60  # floating-point orientations would be 0
    given.append(([[0, 0], [1, 1], [0.5, 0.5 + tiny]], [-1, -1, 1]))
    given.append(([[0.1, 0.1], [0.3, 0.3], [0.2, 0.2]], [-1, -1, 1]))
    given.append(([[1e300, 1], [1e-300, 1], [5e299, 1]], [-1, -1, 1]))
    verdicts = in_node("given.map(([X, y]) => exact.separability(X, y))", given)
    for (X, y), verdict in zip(given, verdicts, strict=True):
        kind = separability(np.array(X, float), y).kind
        assert verdict["separable"] == (kind == "separable")
        if not verdict["separable"]:
            check_cancelling(X, y, verdict)
    assert 100 < sum(verdict["separable"] for verdict in verdicts) < 300


def check_cancelling(X, y, verdict):
    """The sum of multiplier times y (1, x) is zero, and no multiplier is."""
    multipliers = [int(m) for m in verdict["multipliers"]]
    assert min(multipliers) > 0
    assert len(multipliers) <= len(X[0]) + 2
    rows = [[Fraction(1), *map(Fraction, X[i])] for i in verdict["rows"]]
    signed = [m * y[i] for m, i in zip(multipliers, verdict["rows"], strict=True)]
    for j in range(len(X[0]) + 1):
        assert sum(s * row[j] for s, row in zip(signed, rows, strict=True)) == 0


def test_weights_of_a_separable_problem_separate_it():
    given = [(X, y) for X, y in random_problems() if separability(X, y).kind == "separable"]
    columns = "given.map(([X, y]) => [exact.integerColumns(X), exact.separability(X, y).weights])"
    for (X, y), (scaled, weights) in zip(given, in_node(columns, given), strict=True):
        b, *w = map(int, weights)
        for i in range(len(X)):
            assert (
                y[i] * (b + sum(v * int(column[i]) for v, column in zip(w, scaled, strict=True)))
                > 0
            )


def test_more_numbers_than_the_limit_are_not_decided():
    X = np.zeros((10_001, 2)).tolist()
    assert in_node("exact.separability(given, given.map(() => 1))", X) is None


def test_larger_problems_are_decided():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 5))
    y = np.where(X @ rng.normal(size=5) > 0.1, 1, -1)
    noisy = y * np.where(rng.random(600) < 0.05, -1, 1)
    given = [[X.tolist(), y.tolist()], [X.tolist(), noisy.tolist()]]
    verdicts = in_node("given.map(([X, y]) => exact.separability(X, y).separable)", given)
    assert verdicts == [True, False]
