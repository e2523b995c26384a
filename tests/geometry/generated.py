"""Generated sets of two classes, many of them on the border between separable and not.

Where ties decide, numbers are whole and changes of scale are powers of two: ties stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Case:
    """One set, and how it is asked about.

    ``borderline``: whether rows may lie within rounding of the boundary without lying on it.
    """

    seed: int
    name: str
    X: object
    y: np.ndarray
    fit_intercept: bool = True
    borderline: bool = False


def _labels(score):
    y = (score > np.median(score)).astype(int)
    y[np.argmin(score)], y[np.argmax(score)] = 0, 1
    return y


def _whole(rng, n, d, top=4):
    return rng.integers(-top, top + 1, (n, d)).astype(float)


def grid(rng):
    """Whole numbers with a noisy plane: exact ties, duplicates, any kind."""
    X = _whole(rng, rng.integers(4, 40), rng.integers(1, 5), rng.integers(1, 5))
    return X, _labels(
        X @ _whole(rng, X.shape[1], 1)[:, 0] + rng.choice([0.01, 1, 4]) * rng.normal(size=len(X))
    )


def twins(rng):
    """A separable set, with one or more rows again under the other label."""
    X = _whole(rng, rng.integers(4, 40), rng.integers(1, 5), 5)
    y = _labels(X @ rng.normal(size=X.shape[1]))
    again = rng.integers(0, len(X), rng.integers(1, 4))
    return np.vstack([X, X[again]]), np.r_[y, 1 - y[again]]


def on_the_plane(rng):
    """Rows exactly on the planted plane have either label."""
    X = _whole(rng, rng.integers(6, 40), rng.integers(1, 5), 3)
    w = _whole(rng, X.shape[1], 1, 2)[:, 0]
    side = np.sign(X @ w + rng.integers(-1, 2))
    y = np.where(side == 0, rng.integers(0, 2, len(X)), side > 0).astype(int)
    y[:2] = 0, 1
    return X, y


def rare_indicator(rng):
    """Overlap but for a column that is 1 in a few rows of one class."""
    X = rng.normal(size=(rng.integers(12, 60), rng.integers(1, 4)))
    y = np.r_[0, 1, rng.integers(0, 2, len(X) - 2)]
    rare = np.zeros(len(X))
    rare[rng.permutation(np.flatnonzero(y == 1))[: rng.integers(1, 4)]] = 1
    return np.column_stack([X, rare]), y


def low_rank(rng):
    """Columns that depend on each other, exactly."""
    X = _whole(rng, rng.integers(4, 40), rng.integers(1, 4), 3)
    X = X @ _whole(rng, X.shape[1], rng.integers(3, 9), 2)
    return X, _labels(X[:, 0] + rng.choice([0.01, 3]) * rng.normal(size=len(X)))


def wide(rng):
    """At least as many columns as rows; sometimes rows again under the other label."""
    n = rng.integers(2, 16)
    X = rng.normal(size=(n, n + rng.integers(0, 20)))
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    if rng.random() < 0.5:
        X, y = np.vstack([X, X[:2]]), np.r_[y, 1 - y[:2]]
    return X, y


def capacity(rng):
    """Random labels of about twice as many rows as columns: half of these are separable."""
    d = rng.integers(2, 9)
    X = rng.normal(size=(2 * d + rng.integers(-1, 4), d))
    return X, np.r_[0, 1, rng.integers(0, 2, len(X) - 2)]


def blobs(rng):
    """Two clouds, near or far."""
    n, d = rng.integers(4, 60), rng.integers(1, 6)
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    return rng.normal(size=(n, d)) + y[:, None] * rng.choice([0.5, 2, 5]), y


def imbalanced(rng):
    """One to three rows of a class among many."""
    n = rng.integers(20, 80)
    X = rng.normal(size=(n, rng.integers(1, 6)))
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: rng.integers(1, 4)]] = 1
    X[y == 1] += rng.choice([0, 2, 4])
    return X, y


def two_rows(rng):
    """Two rows, which may be the same."""
    X = _whole(rng, 2, rng.integers(1, 4), 1)
    return X, np.array([0, 1])


def touching(rng):
    """Hulls that share a vertex, an edge or more, and nothing else."""
    d = rng.integers(1, 4)
    X = np.abs(_whole(rng, rng.integers(4, 30), d, 4))
    y = rng.integers(0, 2, len(X))
    X[y == 0, 0] *= -1
    X[:2], y[:2] = 0, [0, 1]  # the origin under both labels
    return X @ (np.eye(d) + np.triu(_whole(rng, d, d, 2), 1)), y


def empty(rng):
    """Rows of zeros, columns of zeros and constant columns."""
    X = _whole(rng, rng.integers(4, 30), rng.integers(2, 6), 2) * (rng.random() < 0.9)
    X[rng.integers(0, len(X), 3)] = 0
    X[:, -1] = rng.integers(0, 2)
    return X, _labels(X[:, 0] + rng.choice([0.01, 2]) * rng.normal(size=len(X)))


def near(rng):
    """Two parallel sheets whose distance is a small share of their size, or which just overlap."""
    n, d = rng.integers(6, 30), rng.integers(2, 5)
    gap = rng.choice([-1, 1]) * 10.0 ** -rng.integers(3, 10)
    X = rng.normal(size=(n, d))
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    X[:, 0] = np.where(y == 1, gap, -gap) + np.abs(X[:, 0]) * np.where(y == 1, 1, -1) * (
        np.arange(n) > 5
    )
    return X @ np.linalg.qr(rng.normal(size=(d, d)))[0], y


FAMILIES = [
    grid, twins, on_the_plane, rare_indicator, low_rank, wide, capacity, blobs, imbalanced,
    two_rows, touching, empty, near,
]  # fmt: skip


def _change_columns(rng, X):
    """Columns times a million or a millionth, or plus a million: about, by powers of two."""
    if rng.random() < 0.5:
        return X * 2.0 ** rng.choice([-20, 0, 20], X.shape[1])
    return X + 2.0**20 * rng.integers(0, 2, X.shape[1])


def _store(rng, X):
    if rng.random() < 0.2:
        X = X.astype(np.float32)
    if rng.random() < 0.25:
        X = [sp.csr_matrix, sp.csc_array, sp.coo_array][rng.integers(0, 3)](X)
        if X.format == "csr" and rng.random() < 0.5:
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def case(seed):
    """Return set number ``seed``: families in turn, then scale, storage and intercept by chance."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    X, y = family(rng)
    name = family.__name__
    if rng.random() < 0.2:
        X, name = _change_columns(rng, X), name + ", columns changed"
    fit_intercept = bool(rng.random() < 0.75)
    return Case(seed, name, _store(rng, X), y, fit_intercept, family is near)
