"""Newton's method for the squared hinge loss without a penalty: u separates, or its dual cancels.

    minimize f(u) = 1/2 sum_i max(0, 1 - z_i.u)^2

A minimum always exists. The gradient is -Z'a with a_i = max(0, 1 - z_i.u), so either a = 0 and u
separates, or a >= 0 is not 0 and Z'a = 0: nothing separates (Gordan's theorem). f is piecewise
quadratic, and Newton's method with an exact line search ends after finitely many steps
(Mangasarian, A finite Newton method for classification, 2002). u is not bounded, so classes are
separated at any margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from separable.linalg.lstsq import lstsq

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["Face", "LeastViolation", "find_least_violation"]

#: Maximum number of steps. Ten to forty are usual; hundreds for a very small margin.
MAX_STEPS = 400
#: Gradients below this fraction of their terms are rounding errors.
GRADIENT_TOLERANCE = 1e-14
#: Stop when all scores are above this.
MIN_SCORE = 1e-3
#: Relative decrease of f below which a step counts as stalled; two in a row end the search.
MIN_DECREASE = 1e-16
#: Diagonal entries below this fraction of the largest are rounding errors.
DIAGONAL_TOLERANCE = 1e-14
#: Largest step length, in Newton steps: longer ones would follow rounding errors.
MAX_STEP_LENGTH = 64.0
#: Up to this many numbers steps solve least squares with the vectors; its relative cut-off.
MAX_LSTSQ_SIZE, LSTSQ_TOLERANCE = 1 << 14, 1e-13
#: Up to this many unknowns the system is solved in one call.
MAX_DIRECT = 40
#: Ridges added to the Hessian, relative to its diagonal; the next is tried if f does not decrease.
RIDGES = (1e-14, 1e-12, 1e-10)


@dataclass(frozen=True)
class Face:
    """A face: the active vectors and the subspace of u.

    Parameters
    ----------
    cone : ConeRows
    basis : ndarray, shape (D, r), or None
        u = basis c. None: all of R^D.
    taking_part : ndarray of bool, shape (m,), or None
        None: all vectors.
    """

    cone: ConeRows
    basis: Floats | None = None
    taking_part: NDArray[np.bool_] | None = None

    @property
    def dimension(self) -> int:
        """The number of coordinates of c."""
        return self.cone.dimension if self.basis is None else self.basis.shape[1]

    def direction(self, c: Floats) -> Floats:
        """Return u."""
        return c if self.basis is None else self.basis @ c

    def scores(self, c: Floats) -> Floats:
        """Return z_i.u, infinite for inactive vectors."""
        scores = self.cone.scores(self.direction(c))
        if self.taking_part is not None:
            scores[~self.taking_part] = np.inf
        return scores

    def sums(self, a: Floats) -> Floats:
        """Return the sum of a_i z_i in coordinates of c."""
        sums = self.cone.sums(a)
        return sums if self.basis is None else self.basis.T @ sums

    def vectors(self, chosen: Indices) -> Floats:
        """Return some vectors in coordinates of c."""
        vectors = self.cone.take(chosen)
        return vectors if self.basis is None else vectors @ self.basis

    def gram(self, chosen: Floats) -> Floats:
        """Return the sum of chosen_i z_i z_i' in coordinates of c."""
        gram = self.cone.gram(chosen)
        return gram if self.basis is None else self.basis.T @ gram @ self.basis


@dataclass(frozen=True)
class LeastViolation:
    """Result of the minimization.

    Parameters
    ----------
    u : ndarray, shape (D,)
    scores : ndarray, shape (m,)
        z_i.u; infinite for inactive vectors.
    a : ndarray, shape (m,)
        max(0, 1 - z_i.u).
    separates : bool
        Whether all scores are above 0 by more than rounding.
    ended : bool
        Whether u separates or is the minimum, up to rounding; False if steps ran out.
    """

    u: Floats
    scores: Floats
    a: Floats
    separates: bool
    ended: bool


def find_least_violation(face: Face) -> LeastViolation:
    """Minimize f over a face.

    Parameters
    ----------
    face : Face

    Returns
    -------
    LeastViolation
        As soon as u separates, or else at the minimum.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> from separable.geometry.cone.signed_rows import SignedRows
    >>> cone = SignedRows(as_rows([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1, 1, 1]), True)
    >>> found = find_least_violation(Face(cone))
    >>> found.separates, bool((found.scores > 0).all())
    (True, True)
    """
    c = np.zeros(face.dimension)
    scores = face.scores(c)
    stalled, ended = 0, True
    for _ in range(MAX_STEPS):
        a = np.maximum(0.0, 1.0 - scores)
        gradient = face.sums(a)
        active = (a > 0).astype(np.float64)
        gram = face.gram(active)
        if (np.abs(gradient) <= GRADIENT_TOLERANCE * _sizes(gram) * np.sqrt(float(a @ a))).all():
            break
        value = _value(scores)
        for move in _moves(face, a, gram, gradient):
            after, scores_after = _stepped(face, c, scores, move)
            value_after = _value(scores_after)
            if value_after < value:
                break
        else:  # only rounding errors are left
            break
        c, scores = after, scores_after
        if scores.min() > MIN_SCORE:
            break
        stalled = stalled + 1 if value - value_after <= MIN_DECREASE * value else 0
        if stalled == 2:
            break
    else:
        ended = False
    u, a = face.direction(c), np.maximum(0.0, 1.0 - scores)
    far = scores > DIAGONAL_TOLERANCE * face.cone.magnitudes(u)
    separates = bool(far.all()) or not a.any()
    return LeastViolation(u, scores, a, separates, ended or separates)


def _moves(face: Face, a: Floats, gram: Floats, gradient: Floats) -> Iterator[Floats]:
    """Yield Newton steps: from the vectors if few, which is more accurate, then from the Gram."""
    if face.cone.size * face.dimension <= MAX_LSTSQ_SIZE:
        active = np.flatnonzero(a)
        vectors = face.vectors(active)
        size = np.sqrt(np.einsum("ij,ij->j", vectors, vectors))
        size = np.where(size > 0, size, 1.0)
        if np.isfinite(size).all() and np.isfinite(a[active]).all():
            yield lstsq(vectors / size, a[active], cond=LSTSQ_TOLERANCE) / size
    for ridge in RIDGES:
        yield _solve(gram, gradient, ridge)


def _stepped(face: Face, c: Floats, scores: Floats, move: Floats) -> tuple[Floats, Floats]:
    """Return the point after an exact line search, and its scores."""
    change = face.scores(move)
    change[np.isinf(change)] = 0.0  # inactive vectors
    after = c + _line_search(scores, change) * move
    return after, face.scores(after)


def _value(scores: Floats) -> float:
    a = np.maximum(0.0, 1.0 - scores)
    return 0.5 * float(a @ a)


def _sizes(gram: Floats) -> Floats:
    """Return square roots of the diagonal; 1 where it is 0 up to rounding."""
    diagonal = np.diag(gram)
    positive = diagonal > DIAGONAL_TOLERANCE * diagonal.max(initial=0.0)
    return np.sqrt(np.where(positive, diagonal, 1.0))


def _solve(gram: Floats, gradient: Floats, ridge: float) -> Floats:
    """Return a Newton step; if the system is singular, one of several."""
    size = _sizes(gram)
    scaled = gram / size / size[:, None]
    target = gradient / size
    scaled[np.diag_indices(len(scaled))] += ridge * len(scaled)
    try:
        if len(target) <= MAX_DIRECT:
            return np.linalg.solve(scaled, target) / size
        solved: Floats = cho_solve(cho_factor(scaled), target) / size
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        values = np.where(values > ridge * len(scaled) * values[-1], values, np.inf)
        solved = (vectors @ ((vectors.T @ target) / values)) / size
    return solved


def _line_search(scores: Floats, change: Floats) -> float:
    """Return the t that minimizes f(u + t move): safeguarded Newton on its derivative."""
    with np.errstate(invalid="ignore"):
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(60):
            left = 1.0 - (scores + t * change)
            active = left > 0
            gradient = -float(left[active] @ change[active])
            curvature = float(change[active] @ change[active])
            if gradient < 0:
                low = t
            elif gradient > 0:
                high = t
            else:
                return t
            if curvature == 0:
                return t
            after = t - gradient / curvature
            if not low < after < high:
                after = 2.0 * t if high == np.inf else 0.5 * (low + high)
            if abs(after - t) <= 1e-15 * t or (t == MAX_STEP_LENGTH and after > t):
                return min(after, MAX_STEP_LENGTH)
            t = min(after, MAX_STEP_LENGTH)
    return t
