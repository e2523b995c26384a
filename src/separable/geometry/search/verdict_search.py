"""How to look for a verdict, by the shape of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.data.rows import Rows
from separable.geometry.cone.dense_rows import WrittenRows
from separable.geometry.cone.signed_rows import SeenRows, SignedRows
from separable.geometry.proofs.weak_direction import tidy_direction
from separable.geometry.search.dependent_columns import untangle
from separable.geometry.search.facial_reduction import NONE, settle
from separable.geometry.search.max_margin import by_passes, start_of
from separable.geometry.search.max_margin_dual_cd import DualPasses
from separable.geometry.search.row_generation import settle_many
from separable.geometry.search.single_columns import peel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.search.facial_reduction import Settled
    from separable.geometry.search.max_margin import Bracket
    from separable.typing import Indices

__all__ = ["AGAIN", "CLOSELY", "Found", "search", "settle_untangled"]

#: Newton's steps take matrices of at most so many columns, or rows; where single columns have
#: cleared other rows and there is nothing else to ask, of a few more.
NEWTON, NEWTON_REST = 1500, 2500
#: The most numbers that are searched a second time, if the first search leads to no proof, and that
#: are looked at closely then.
AGAIN, CLOSELY = 100_000, 1_000_000
#: So few numbers are written out first.
TINY = 1 << 14
#: More columns, and numbers, are first passed over by rows.
COLUMNS, NUMBERS = 100, 1_000_000
#: Passes that look for a hyperplane: before anything else, and where nothing else is left.
FIRST, ONLY = 40, 600


@dataclass(frozen=True)
class Found:
    """What a search ended with.

    Parameters
    ----------
    settled : Settled or None
        What floats see, in columns as they came.
    bracket : Bracket or None
        Of weights that separate, by passes.
    passes : DualPasses or None
    """

    settled: Settled | None = None
    bracket: Bracket | None = None
    passes: DualPasses | None = None


def search(cone: SignedRows, none: float = NONE[0]) -> Found:
    """Look for a hyperplane, a weak direction or multipliers; see `settle`."""
    n, d = cone.size, cone.dimension
    if n * d <= TINY:
        return Found(_settled(SeenRows(cone), none))
    passes = bracket = None
    if d > COLUMNS and n * d > NUMBERS:
        passes = DualPasses(cone)
        bracket = _passed(cone, passes, start_of(cone, np.zeros(d)), FIRST)
        if bracket.margin > 0:
            return Found(None, bracket, passes)
    peeled = peel(cone)
    if not peeled.levels and min(n, d) <= NEWTON:
        return Found(_settled(SeenRows(cone), none), None, passes)
    rest, columns = _rest(cone, peeled.left)
    if min(rest.size, rest.dimension) <= (NEWTON_REST if peeled.levels else NEWTON):
        found = _settled_rest(rest, columns, cone.dimension, none)
        return Found(peeled.joined(cone, found), None, passes)
    assert passes is not None
    assert bracket is not None
    return Found(None, _passed(cone, passes, bracket, ONLY), passes)


def settle_untangled(cone: ConeRows) -> Settled | None:
    """Settle vectors without dependent columns; None: there are none, or too many numbers."""
    untangled = untangle(cone) if cone.size * cone.dimension <= CLOSELY else None
    if untangled is None:
        return None
    found = settle_many(untangled)
    return found if found.u is None else replace(found, u=untangled.raw(found.u))


def _passed(cone: SignedRows, passes: DualPasses, bracket: Bracket, most: int) -> Bracket:
    """Pass over rows until the margin is above 0, all that is asked for: the gap is less than 1."""
    return by_passes(cone, passes, bracket, 1.0 - 1e-9, most)


def _rest(cone: SignedRows, left: Indices) -> tuple[SignedRows, Indices]:
    """Return the rows left without the columns that are constant there, and coordinates left."""
    rows = cone.rows.take(left)
    live = np.flatnonzero(_varies(rows, cone.fit_intercept))
    columns = np.append(live, rows.n_features) if cone.fit_intercept else live
    if 0 < len(live) < rows.n_features:
        rows = _of_columns(rows, live)
    else:
        columns = np.arange(cone.dimension)
    return SignedRows(rows, cone.sign[left], cone.fit_intercept), columns


def _varies(rows: Rows, fit_intercept: bool) -> NDArray[np.bool_]:
    """Return which columns of dense rows are not constant, or of sparse ones not empty."""
    if rows.indices is not None:
        return np.bincount(rows.indices, minlength=rows.n_features) > 0
    low = rows.values.min(axis=0, initial=np.inf)
    high = rows.values.max(axis=0, initial=-np.inf)
    varies: NDArray[np.bool_] = low < high if fit_intercept else (low != 0) | (high != 0)
    return varies


def _of_columns(rows: Rows, columns: Indices) -> Rows:
    """Return rows of some columns, of sparse ones all that are not empty."""
    if rows.indices is None:
        return Rows(np.ascontiguousarray(rows.values[:, columns]), len(columns))
    place = np.zeros(rows.n_features, rows.indices.dtype)
    place[columns] = np.arange(len(columns))
    return Rows(rows.values, len(columns), place[rows.indices], rows.indptr)


def _settled_rest(rest: SignedRows, columns: Indices, size: int, none: float) -> Settled | None:
    """Settle the rows left; a weak direction is made exact where they are, which is quicker."""
    if rest.size == 0:
        return None
    found = _settled(SeenRows(rest), none)
    if found.u is None:
        return found
    tidy = None
    if found.a.any():
        tidy = tidy_direction(rest, found.u, np.flatnonzero(found.boundary))
    u = np.zeros(size)
    u[columns] = found.u if tidy is None else tidy[0]
    return replace(found, u=u)


def _settled(seen: SeenRows, none: float) -> Settled:
    if seen.size * seen.dimension <= TINY:
        found = settle(WrittenRows(seen.take(np.arange(seen.size))), none)
    elif seen.dimension <= NEWTON or seen.dimension <= seen.size:
        found = settle_many(seen, none)
    else:
        found = settle(WrittenRows(seen.kernel()), none)
        if found.u is not None:
            found = replace(found, u=seen.sums(found.u))
    return found if found.u is None else replace(found, u=seen.raw(found.u))
