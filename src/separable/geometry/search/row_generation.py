"""Many vectors, of which a few decide: settle some, look at all, add those that disagree.

Vectors that overlap overlap whatever is added, if no vector has a part in other directions. A
direction that some vectors give is that of all if none of the others is on its wrong side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dense_rows import WrittenRows
from separable.geometry.cone.orthogonal import find_orthogonal
from separable.geometry.search.facial_reduction import NONE, Settled, settle

if TYPE_CHECKING:
    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Indices

__all__ = ["settle_many"]

#: A sample is so many vectors, or so many times the dimension.
SAMPLE, TIMES = 1000, 10
#: Vectors that disagree and are added: so many, or so many times the dimension.
ADDED, TIMES_ADDED = 200, 2
#: Of its size: a score below is on the wrong side.
CLEAR = 1e-9


def settle_many(cone: ConeRows, none: float = NONE[0]) -> Settled:
    """Settle vectors of any number by some of them; see `settle`."""
    size = max(SAMPLE, TIMES * cone.dimension)
    if cone.size <= 3 * size:
        return settle(cone, none)
    random = np.random.default_rng(0)
    some = random.choice(cone.size, size, replace=False)
    while len(some) < cone.size // 2:
        part = settle(WrittenRows(cone.take(some)), none)
        if not part.ended:  # some vectors may separate by next to nothing, where more do not
            some = random.choice(cone.size, min(2 * len(some), cone.size), replace=False)
            continue
        found, wrong = _look(cone, part, some)
        if len(wrong) == 0:
            return found
        some = np.append(some, _worst(wrong, some, cone.dimension, random))
    return settle(cone, none)


def _look(cone: ConeRows, part: Settled, some: Indices) -> tuple[Settled, Indices]:
    """Return what it means for all vectors, and those that disagree, the worst first."""
    a, first = np.zeros(cone.size), np.zeros(cone.size)
    a[some], first[some] = part.a, part.first
    boundary = np.zeros(cone.size, bool)
    if a.any():
        boundary = find_orthogonal(cone, np.flatnonzero(a))[1]
    found = Settled(part.u, a, boundary, first)
    if part.u is None:
        return found, np.flatnonzero(~boundary)
    scores, magnitudes = cone.scores(part.u), cone.magnitudes(part.u)
    share = np.where(magnitudes > 0, scores / np.where(magnitudes > 0, magnitudes, 1.0), 0.0)
    wrong = np.flatnonzero(~boundary & (share <= CLEAR))
    return found, wrong[np.argsort(share[wrong], kind="stable")]


def _worst(wrong: Indices, some: Indices, dimension: int, random: np.random.Generator) -> Indices:
    """Return vectors to add: half of them the worst, the others any that disagree."""
    fresh = wrong[~np.isin(wrong, some)]
    most = max(ADDED, TIMES_ADDED * dimension)
    if len(fresh) <= most:
        return fresh
    first, rest = fresh[: most // 2], fresh[most // 2 :]
    return np.append(first, random.choice(rest, most // 2, replace=False))
