"""Many vectors, of which a few decide: settle some, look at all, add those that disagree.

Vectors that overlap overlap whatever is added, if no vector has a part in other directions. A
direction that some vectors give is that of all if none of the others is on its wrong side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dense_rows import WrittenRows
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

#: A sample is so many vectors, or so many times the dimension.
SAMPLE, TIMES = 1000, 10
#: Vectors that disagree and are added: so many, or so many times the dimension.
ADDED, TIMES_ADDED = 200, 2
#: Of its size: a score below is on the wrong side.
SCORE_TOLERANCE = 1e-9


def reduce_many(cone: ConeRows, none: float = ZERO_TOLERANCES[0]) -> FacialReduction:
    """Settle vectors of any number by some of them; see `reduce_faces`."""
    size = max(SAMPLE, TIMES * cone.dimension)
    if cone.size <= 3 * size:
        return reduce_faces(cone, none)
    random = np.random.default_rng(0)
    sample = random.choice(cone.size, size, replace=False)
    while len(sample) < cone.size // 2:
        part = reduce_faces(WrittenRows(cone.take(sample)), none)
        if not part.ended:  # some vectors may separate by next to nothing, where more do not
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
    """Return what it means for all vectors, and those that disagree, the worst first."""
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
    """Return vectors to add: half of them the worst, the others any that disagree."""
    fresh = wrong[~np.isin(wrong, sample)]
    most = max(ADDED, TIMES_ADDED * dimension)
    if len(fresh) <= most:
        return fresh
    first, rest = fresh[: most // 2], fresh[most // 2 :]
    return np.append(first, random.choice(rest, most // 2, replace=False))
