"""The screen of pairs, against tables of single pairs in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from separable.select import screen_pairs
from separable.select.pair_screen import ScreenOptions, screen_codes

rng = np.random.default_rng(0)


def gain(a: np.ndarray, b: np.ndarray, r: np.ndarray) -> float:
    """The decrease of the squared error by cells beyond rows and columns, by least squares."""
    A, B = np.eye(a.max() + 1)[a], np.eye(b.max() + 1)[b]
    cells = (A[:, :, None] * B[:, None, :]).reshape(len(a), -1)
    cells = cells[:, cells.any(axis=0)]
    t = cells.T @ r
    counts = cells.sum(axis=0)
    W = (np.hstack([A, B]).T @ cells / counts).T  # each cell's row and column
    coef = np.linalg.lstsq(W * np.sqrt(counts)[:, None], t / np.sqrt(counts), rcond=None)[0]
    rest = t - counts * (W @ coef)
    free = cells.shape[1] - np.linalg.matrix_rank(W)
    return float((rest**2 / counts).sum() / (r**2).mean() - 2 * free)


def test_gains_are_those_of_single_tables():
    codes = {name: rng.integers(0, k, 900) for name, k in zip("abc", (3, 4, 5), strict=True)}
    r = (codes["a"] == 1) * (codes["b"] == 2) * 2.0 + rng.normal(size=900)
    r -= r.mean()
    pairs = screen_codes(codes, r[:, None], options=ScreenOptions(sweeps=200))
    assert pairs[0].columns == ("a", "b")
    for pair in pairs:
        expected = gain(codes[pair.first], codes[pair.second], r)
        assert pair.gain == pytest.approx(expected, rel=1e-6)


def test_noise_has_few_pairs():
    X = {f"x{k}": rng.normal(size=1000) for k in range(12)}
    assert len(screen_pairs(X, rng.normal(size=1000))) <= 3


def test_products_of_categories_and_numbers_come_first():
    n = 1500
    X = {f"x{k}": rng.normal(size=n) for k in range(6)}
    X["colour"] = rng.choice(["red", "green", "blue"], n)
    r = X["x3"] * np.where(X["colour"] == "red", 1.0, -1.0) + rng.normal(size=n)
    first = screen_pairs(X, r)[0]
    assert set(first.columns) == {"x3", "colour"}
    assert first.gain > 5 * first.standard_error > 0


def test_weights_count_as_rows():
    n = 400
    X = {"a": rng.integers(0, 4, n), "b": rng.choice(["x", "y"], n)}
    r = np.where(X["b"] == "x", X["a"], -X["a"]) + rng.normal(size=n)
    w = rng.integers(1, 4, n)
    codes = {"a": X["a"], "b": (X["b"] == "y").astype(int)}
    twice = {name: np.repeat(each, w) for name, each in codes.items()}
    ours = screen_codes(codes, r[:, None], w.astype(float))[0]
    theirs = screen_codes(twice, np.repeat(r, w)[:, None])[0]
    assert (ours.gain + 6) / n == pytest.approx((theirs.gain + 6) / w.sum(), rel=1e-6)


def test_too_few_columns_or_no_residuals():
    X = {"a": rng.normal(size=50), "b": rng.normal(size=50)}
    assert screen_pairs({"a": X["a"]}, X["b"]) == []
    assert screen_pairs(X, np.zeros(50)) == []
    with pytest.raises(ValueError, match="finite"):
        screen_pairs(X, np.full(50, np.nan))
