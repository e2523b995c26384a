"""Facial reduction: the vectors on the boundary of every weakly separating direction.

Repeat until step 1 or 2 ends it:

1. if no direction is left, or all vectors are orthogonal to those left, the vectors overlap
2. if some u among the directions left has z.u > 0 for all vectors that are not orthogonal to them,
   it separates as strictly as possible; the boundary is what step 3 collected
3. otherwise there are multipliers a >= 0 with sum a_i z_i = 0 there (Gordan's alternative). The
   vectors with a_i > 0 lie on the boundary of every weakly separating direction, so only
   directions orthogonal to them are left

Many vectors: row generation. Solve for a sample, check all vectors, add the violated ones, repeat.
If the sample overlaps and no other vector leaves its span, all vectors overlap. If the direction of
the sample violates no other vector, it is a solution for all.

This is floating point and proves nothing by itself: proofs are built from it and checked elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.cone.dependencies import find_orthogonal
from separable.geometry.search.least_violation import Face, find_least_violation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["ZERO_TOLERANCES", "FacialReduction", "reduce_faces", "reduce_many"]

#: Multipliers below this fraction of the largest count as 0; tried in order until a proof holds.
ZERO_TOLERANCES = (1e-10, 1e-6)
#: Relative residuals of a cancelling sum: clean, and the largest that is accepted.
CLEAN_RESIDUAL, MAX_RESIDUAL = 1e-12, 1e-8
#: Eigenvalues below this fraction of the largest belong to the null space.
EIGENVALUE_TOLERANCE = 1e-13


@dataclass(frozen=True)
class FacialReduction:
    """Result of facial reduction in floating point.

    Parameters
    ----------
    u : ndarray, shape (D,), or None
        A separating direction, weak unless `a` is 0. None: there is none.
    a : ndarray, shape (m,)
        Multipliers with sum a_i z_i = 0, positive on vectors that span the boundary; all 0 if u
        separates strictly.
    boundary : ndarray of bool, shape (m,)
        Vectors with z.u = 0.
    first : ndarray, shape (m,)
        The first cancelling multipliers found, on some vectors of the boundary.
    ended : bool
        False if the search ran out of steps; then the result is not reliable.
    """

    u: Floats | None
    a: Floats
    boundary: NDArray[np.bool_]
    first: Floats
    ended: bool = True


def reduce_faces(cone: ConeRows, none: float = ZERO_TOLERANCES[0]) -> FacialReduction:
    """Run facial reduction; multipliers below the fraction ``none`` of the largest count as 0."""
    face = Face(cone)
    a = np.zeros(cone.size)
    boundary = np.zeros(cone.size, bool)
    first = a
    while True:
        result = find_least_violation(face)
        if result.separates:
            return FacialReduction(result.u, a, boundary, first)
        if not result.ended:
            return FacialReduction(None, a, boundary, first, ended=False)
        a, left = _joined(cone, a, result.a, none)
        if left > MAX_RESIDUAL:
            return FacialReduction(None, a, boundary, first, ended=False)
        first = first if first.any() else a
        before = boundary.sum()
        basis, boundary = find_orthogonal(cone, np.flatnonzero(a))
        if boundary.all() or boundary.sum() <= before:  # no progress: rounding
            return FacialReduction(None, a, boundary, first)
        face = Face(cone, basis, ~boundary)


def _joined(cone: ConeRows, before: Floats, result: Floats, none: float) -> tuple[Floats, float]:
    """Combine both sets of multipliers into cancelling ones; return them and the residual.

    Multipliers that are rounding errors prevent cancellation, so the smallest tolerance is used at
    which the others cancel.
    """
    best = np.zeros(cone.size), np.inf
    for tolerance in ZERO_TOLERANCES:
        if tolerance < none:
            continue
        joined = _joined_at(cone, before, result, tolerance)
        size = np.sqrt(np.diag(cone.gram(joined)) * joined.sum())
        left = np.abs(cone.sums(joined)) / np.where(size > 0, size, 1.0)
        worst = float(left.max(initial=0.0))
        best = (joined, worst) if worst < best[1] else best
        if worst <= CLEAN_RESIDUAL:
            break
    return best


def _joined_at(cone: ConeRows, before: Floats, result: Floats, none: float) -> Floats:
    """Return multipliers that cancel in all directions, not only in those left."""
    result = np.where(result > none * result.max(), result, 0.0)
    result = result / result.max()
    if before.any():
        change = _cancel(cone, before, cone.sums(result))
        result = result + before * (1.0 + max(0.0, -change.min()) + change)
    result = result * (1.0 + np.clip(_cancel(cone, result, cone.sums(result)), -0.5, 0.5))
    multipliers: Floats = result / result.max()
    return multipliers


def _cancel(cone: ConeRows, a: Floats, left: Floats) -> Floats:
    """Return relative changes of the multipliers a that change their sum by -left."""
    gram = cone.gram(a)
    size = np.sqrt(np.diag(gram))
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(gram / size / size[:, None])
    values = np.where(values > EIGENVALUE_TOLERANCE * values[-1], values, np.inf)
    step = (vectors @ ((vectors.T @ (left / size)) / values)) / size
    multipliers: Floats = np.where(a > 0, -cone.scores(step), 0.0)
    return multipliers


#: Sample size: this many vectors, or this many times the dimension.
MIN_SAMPLE, SAMPLE_MULTIPLE = 1000, 10
#: Number of violated vectors added per round: this many, or this many times the dimension.
MIN_ADDED, ADDED_MULTIPLE = 200, 2
#: Scores below this fraction of their magnitude count as violated.
SCORE_TOLERANCE = 1e-9


def reduce_many(cone: ConeRows, none: float = ZERO_TOLERANCES[0]) -> FacialReduction:
    """Run facial reduction on many vectors by row generation; see `reduce_faces`."""
    size = max(MIN_SAMPLE, SAMPLE_MULTIPLE * cone.dimension)
    if cone.size <= 3 * size:
        return reduce_faces(cone, none)
    random = np.random.default_rng(0)
    sample = random.choice(cone.size, size, replace=False)
    while len(sample) < cone.size // 2:
        part = reduce_faces(WrittenRows(cone.take(sample)), none)
        if not part.ended:  # a sample may be separable by a tiny margin where more vectors are not
            sample = random.choice(cone.size, min(2 * len(sample), cone.size), replace=False)
            continue
        result, wrong = _look(cone, part, sample)
        if len(wrong) == 0:
            return result
        sample = np.append(sample, _worst(wrong, sample, cone.dimension, random))
    return reduce_faces(cone, none)


def _look(
    cone: ConeRows, part: FacialReduction, sample: Indices
) -> tuple[FacialReduction, Indices]:
    """Return the result for all vectors, and the violated ones, the worst first."""
    a, first = np.zeros(cone.size), np.zeros(cone.size)
    a[sample], first[sample] = part.a, part.first
    boundary = np.zeros(cone.size, bool)
    if a.any():
        boundary = find_orthogonal(cone, np.flatnonzero(a))[1]
    result = FacialReduction(part.u, a, boundary, first)
    if part.u is None:
        return result, np.flatnonzero(~boundary)
    scores, magnitudes = cone.scores(part.u), cone.magnitudes(part.u)
    relative = np.where(magnitudes > 0, scores / np.where(magnitudes > 0, magnitudes, 1.0), 0.0)
    wrong = np.flatnonzero(~boundary & (relative <= SCORE_TOLERANCE))
    return result, wrong[np.argsort(relative[wrong], kind="stable")]


def _worst(wrong: Indices, sample: Indices, dimension: int, random: np.random.Generator) -> Indices:
    """Return vectors to add: half of them the worst, the others random violated ones."""
    fresh = wrong[~np.isin(wrong, sample)]
    most = max(MIN_ADDED, ADDED_MULTIPLE * dimension)
    if len(fresh) <= most:
        return fresh
    first, rest = fresh[: most // 2], fresh[most // 2 :]
    return np.append(first, random.choice(rest, most // 2, replace=False))
