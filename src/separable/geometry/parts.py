"""Many rows: some of them settle the question, and the others are looked at in one pass.

Where some rows overlap, so do all, as soon as these span as much. Where a direction clears some
rows, those that it does not clear are added to them, until it clears all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.facial_reduction import Settled, settle
from separable.geometry.orthogonal import find_orthogonal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.geometry.cone_rows import ConeRows, Floats, Places

__all__ = ["settle_in_parts"]

#: Rows to start with, and rows that are added at a time, at most.
START, MORE = 12_000, 6_000
#: Rounds, at most.
ROUNDS = 40
#: Of its size: a score that is smaller is 0, as far as floats see.
ZERO = 1e-9


def settle_in_parts(
    whole: ConeRows, part_of: Callable[[Places], ConeRows], label: NDArray[np.intp]
) -> Settled:
    """Settle vectors of many rows.

    Parameters
    ----------
    whole : ConeRows
        Of all rows, as many vectors a row.
    part_of : callable
        Returns the vectors of some rows, seen in the same coordinates.
    label : ndarray of int, shape (n,)
        The class of each row.
    """
    n = len(label)
    each = whole.size // n
    if n <= START:
        return settle(whole)
    random = np.random.default_rng(0)
    rows = _sample(label, random)
    for _ in range(ROUNDS):
        part = settle(part_of(rows))
        mine = (rows[:, None] * each + np.arange(each)).ravel()
        a = np.zeros(whole.size)
        a[mine] = part.a
        boundary, left = _unsettled(whole, part, a)
        if not left.any():
            return Settled(part.u, a, boundary)
        fresh = np.setdiff1d(np.flatnonzero(left) // each, rows)
        if len(fresh) == 0:
            break
        if len(fresh) > MORE:
            fresh = random.choice(fresh, MORE, replace=False)
        rows = np.sort(np.append(rows, fresh))
    return settle(whole)


def _unsettled(
    whole: ConeRows, part: Settled, a: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which vectors are on the boundary, and for which the answer of a part fails."""
    boundary = np.zeros(whole.size, np.bool_)
    if a.any():
        boundary = find_orthogonal(whole, np.flatnonzero(a))[1]
    if part.u is None:
        return boundary, ~boundary
    low = whole.scores(part.u) <= ZERO * whole.magnitudes(part.u)
    return boundary, low & ~boundary


def _sample(label: NDArray[np.intp], random: np.random.Generator) -> Places:
    """Return some rows, of rare classes as many as of others if there are so many."""
    counts = np.bincount(label)
    share = max(1, START // int(np.count_nonzero(counts)))
    chosen = [
        mine if len(mine) <= share else random.choice(mine, share, replace=False)
        for mine in (np.flatnonzero(label == k) for k in range(len(counts)))
    ]
    return np.sort(np.concatenate(chosen))
