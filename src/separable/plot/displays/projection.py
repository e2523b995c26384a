"""Projections of any number of columns to two or three axes in which a hyperplane is a line.

A boundary w.x + b = 0 is a straight line in every plane that holds w. Of these planes, the one is
drawn whose other direction has the largest spread of the rows. Rows are only multiplied with
vectors: sparse ones stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.typing import Floats


__all__ = ["View", "columns_view", "differences_view", "length", "normal_view"]

#: Remaining spread below this fraction of the total is rounding.
NOTHING = 1e-12
#: A direction is named after a column that makes up this share of it.
MOSTLY = 0.5


@dataclass(frozen=True, eq=False)
class View:
    """Coordinates z = basis x + offset, with orthonormal directions.

    Parameters
    ----------
    basis : ndarray, shape (k, d)
    offset : ndarray, shape (k,)
    centre : ndarray, shape (d,)
        A point of the space; what coordinates leave open is taken from it.
    labels : tuple of str
        What each coordinate is, in words.
    """

    basis: Floats
    offset: Floats
    centre: Floats
    labels: tuple[str, ...]

    def coordinates(self, X: Any) -> Floats:
        """Return the coordinates of rows of the space, (n, k)."""
        result: Floats = np.asarray(X @ self.basis.T, dtype=np.float64) + self.offset
        return result

    def in_space(self, points: Floats) -> Floats:
        """Return points of the space, (m, d), that have these coordinates."""
        result = np.tile(self.centre, (len(points), 1))
        for _ in range(2):  # the second step takes back what the first one rounded
            result += (points - self.coordinates(result)) @ self.basis
        return result


def columns_view(names: Sequence[str]) -> View:
    """Return the columns themselves as coordinates."""
    d = len(names)
    return View(np.eye(d), np.zeros(d), np.zeros(d), tuple(names))


def normal_view(X: Any, w: Floats, b: float, names: Sequence[str] | None, k: int = 2) -> View:
    """Return w and the k - 1 directions of largest remaining spread; there are k columns or more.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n, d)
    w : ndarray, shape (d,)
        Not 0.
    b : float
    names : sequence of str, optional
        Of the columns.
    k : int, default 2
    """
    size = length(w)
    unit = w / size
    centre = _mean(X)
    basis = [unit]
    labels = ["distance to the boundary, (w.x + b) / |w|"]
    for step in range(1, k):
        direction = _largest_spread(X, centre, np.array(basis))
        basis.append(direction)
        labels.append(_spread_label(direction, names, step))
    offset = np.zeros(k)
    offset[0] = b / size
    return View(np.array(basis), offset, centre, tuple(labels))


def length(w: Floats) -> float:
    """Return |w|, also of numbers whose squares are too large or too small."""
    largest = float(np.abs(w).max())
    return largest * float(np.linalg.norm(w / largest)) if largest > 0 else 0.0


def differences_view(X: Any, weights: Floats) -> View:
    """Return the plane of the differences of the weights of three classes."""
    steps = weights[1:] - weights[0]
    steps = steps / np.abs(steps).max()
    basis, rank = np.linalg.qr(steps.T)
    if abs(rank[1, 1]) <= NOTHING * max(abs(rank[0, 0]), NOTHING):
        first = steps[np.argmax((steps**2).sum(axis=1))]
        first = first / np.linalg.norm(first)
        basis = np.array([first, _largest_spread(X, _mean(X), first[None])]).T
    label = "direction in the plane of the weight differences"
    labels = tuple(f"{word} {label}" for word in ("first", "second"))
    return View(np.ascontiguousarray(basis.T), np.zeros(2), _mean(X), labels)


def _mean(X: Any) -> Floats:
    n = X.shape[0]
    mean: Floats = np.asarray(np.ones(n) @ X, dtype=np.float64) / max(n, 1)
    return mean


def _largest_spread(X: Any, centre: Floats, taken: Floats) -> Floats:
    """Return the direction, at right angles to those taken, along which rows spread most."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    def free(v: Floats) -> Floats:
        left: Floats = v - (taken @ v) @ taken
        return left

    def spread(v: Floats) -> Floats:
        u = free(v.ravel())
        projected = (X @ u - centre @ u) / scale
        return free(np.asarray(projected @ X) / scale - projected.sum() * (centre / scale))

    d = len(centre)
    start = free(np.random.default_rng(0).standard_normal(d))
    scale = max(float(np.abs(X @ start).max()), abs(float(centre @ start)))
    if d <= len(taken) + 1 or scale == 0:  # one direction is left, or rows do not tell
        return _unit(start, taken)
    reached = spread(start)
    if np.linalg.norm(reached) <= NOTHING * X.shape[0]:
        return _unit(start, taken)
    unit = 1 / np.linalg.norm(reached)
    operator = LinearOperator((d, d), matvec=lambda v: spread(v) * unit, dtype=np.float64)
    _, vectors = eigsh(operator, k=1, v0=start, tol=1e-6)
    return _unit(free(vectors[:, 0]), taken)


def _unit(v: Floats, taken: Floats) -> Floats:
    """Return the unit vector at right angles to those taken, its largest entry positive."""
    v = v / np.linalg.norm(v)
    v = v - (taken @ v) @ taken
    v /= np.linalg.norm(v)
    return v if v[np.argmax(np.abs(v))] > 0 else -v


def _spread_label(direction: Floats, names: Sequence[str] | None, step: int) -> str:
    from separable.model.words import feature_name
    from separable.plot.style.theme import shortened

    label = "direction of largest remaining variance"
    if step > 1:
        label = "direction of next largest variance"
    most = int(np.argmax(np.abs(direction)))
    fraction = float(direction[most] ** 2)
    if fraction < MOSTLY:
        return label
    return f"{label}, {fraction:.0%} of it {shortened(feature_name(names, most))}"
