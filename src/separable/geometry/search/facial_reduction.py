"""Which vectors every weak direction leaves on the boundary, and a direction that clears the rest.

Steps, until one of the first two answers:

1. no direction is left, or no vector has a part in those left: the vectors overlap
2. some u among the directions left has z.u > 0 for all vectors that have a part in them: it is as
   strict as any; vectors on the boundary are those found in step 3
3. otherwise there are multipliers that cancel there. Vectors with such multipliers lie on the
   boundary of every weak direction, so only directions orthogonal to them are left

Everything is in floats and claims nothing: proofs are made of it, and checked elsewhere.
(Borwein and Wolkowicz, Facial reduction for a cone-convex programming problem, 1981.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.orthogonal import find_orthogonal
from separable.geometry.search.least_violation import Face, find_least_violation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats

__all__ = ["ZERO_TOLERANCES", "FacialReduction", "reduce_faces"]

#: Of the largest: a multiplier below is 0. The first share that leads to a proof is right.
ZERO_TOLERANCES = (1e-10, 1e-6)
#: Of the size of its terms: what a sum that cancels may leave; more is no end, and proves nothing.
CLEAN, UNFINISHED = 1e-12, 1e-8
#: Of the largest eigenvalue of the products of vectors: one below belongs to a direction left.
EIGENVALUE_TOLERANCE = 1e-13


@dataclass(frozen=True)
class FacialReduction:
    """What floats see.

    Parameters
    ----------
    u : ndarray, shape (D,), or None
        A direction that separates, weakly unless `a` is 0. None: there is none.
    a : ndarray, shape (m,)
        Multipliers that cancel, above 0 on vectors that span the boundary; all 0 if u is strict.
    boundary : ndarray of bool, shape (m,)
        Vectors with z.u = 0.
    first : ndarray, shape (m,)
        Multipliers that cancel on some vectors of the boundary, those found first.
    ended : bool
        False where the search ran out of steps: then nothing of this need be so.
    """

    u: Floats | None
    a: Floats
    boundary: NDArray[np.bool_]
    first: Floats
    ended: bool = True


def reduce_faces(cone: ConeRows, none: float = ZERO_TOLERANCES[0]) -> FacialReduction:
    """Reduce the directions until the rest is clear; multipliers below a share ``none`` are 0."""
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
        if left > UNFINISHED:
            return FacialReduction(None, a, boundary, first, ended=False)
        first = first if first.any() else a
        before = boundary.sum()
        basis, boundary = find_orthogonal(cone, np.flatnonzero(a))
        if boundary.all() or boundary.sum() <= before:  # the second is rounding
            return FacialReduction(None, a, boundary, first)
        face = Face(cone, basis, ~boundary)


def _joined(cone: ConeRows, before: Floats, result: Floats, none: float) -> tuple[Floats, float]:
    """Return multipliers of both sets of vectors that cancel, and what their sum leaves.

    Multipliers that are nothing but rounding spoil it, so the smallest share is tried at which the
    others cancel.
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
        if worst <= CLEAN:
            break
    return best


def _joined_at(cone: ConeRows, before: Floats, result: Floats, none: float) -> Floats:
    """Return multipliers that cancel, and not only in directions left."""
    result = np.where(result > none * result.max(), result, 0.0)
    result = result / result.max()
    if before.any():
        change = _cancel(cone, before, cone.sums(result))
        result = result + before * (1.0 + max(0.0, -change.min()) + change)
    result = result * (1.0 + np.clip(_cancel(cone, result, cone.sums(result)), -0.5, 0.5))
    multipliers: Floats = result / result.max()
    return multipliers


def _cancel(cone: ConeRows, a: Floats, left: Floats) -> Floats:
    """Return shares by which to change multipliers a, so that their sum changes by -left."""
    gram = cone.gram(a)
    size = np.sqrt(np.diag(gram))
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(gram / size / size[:, None])
    values = np.where(values > EIGENVALUE_TOLERANCE * values[-1], values, np.inf)
    step = (vectors @ ((vectors.T @ (left / size)) / values)) / size
    multipliers: Floats = np.where(a > 0, -cone.scores(step), 0.0)
    return multipliers
