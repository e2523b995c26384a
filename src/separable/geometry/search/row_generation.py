"""Row generation: solve for a sample of vectors, check all, add the violated ones, repeat.

If the sample overlaps and no other vector leaves its span, all vectors overlap. If the direction
of the sample violates no other vector, it is a solution for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.cone.orthogonal import find_orthogonal
from separable.geometry.search.facial_reduction import (
    ZERO_TOLERANCES,
    FacialReduction,
    reduce_faces,
)

if TYPE_CHECKING:
    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Indices

__all__ = ["reduce_many"]

#: Sample size: this many vectors, or this many times the dimension.
SAMPLE, TIMES = 1000, 10
#: Number of violated vectors added per round: this many, or this many times the dimension.
ADDED, TIMES_ADDED = 200, 2
#: Scores below this fraction of their magnitude count as violated.
SCORE_TOLERANCE = 1e-9


def reduce_many(cone: ConeRows, none: float = ZERO_TOLERANCES[0]) -> FacialReduction:
    """Run facial reduction on many vectors by row generation; see `reduce_faces`."""
    size = max(SAMPLE, TIMES * cone.dimension)
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
    most = max(ADDED, TIMES_ADDED * dimension)
    if len(fresh) <= most:
        return fresh
    first, rest = fresh[: most // 2], fresh[most // 2 :]
    return np.append(first, random.choice(rest, most // 2, replace=False))
