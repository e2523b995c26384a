"""How to look for a verdict, by the shape of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.data.rows import Rows
from separable.geometry.dual_passes import DualPasses
from separable.geometry.facial_reduction import NONE, settle
from separable.geometry.row_generation import settle_many
from separable.geometry.signed_rows import SeenRows, SignedRows
from separable.geometry.single_columns import peel
from separable.geometry.weak_direction import tidy_direction
from separable.geometry.widest_margin import by_passes, start_of
from separable.geometry.written_rows import WrittenRows

if TYPE_CHECKING:
    from separable.geometry.cone_rows import Places
    from separable.geometry.facial_reduction import Settled
    from separable.geometry.widest_margin import Bracket

__all__ = ["Found", "search"]

#: Newton's steps take matrices of at most so many columns, or rows.
NEWTON = 1500
#: So few numbers are written out first.
TINY = 1 << 14
#: More columns, and numbers, are first passed over by rows.
COLUMNS, NUMBERS = 100, 1_000_000
#: Passes that look for a hyperplane, before anything else and where there is nothing else.
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
    is_small = min(n, d) <= NEWTON
    passes = bracket = None
    if d > COLUMNS and n * d > NUMBERS:
        passes = DualPasses(cone)
        bracket = start_of(cone, np.zeros(d))
        # a margin above 0 is all that is asked for: then the gap is less than 1
        bracket = by_passes(cone, passes, bracket, 1.0 - 1e-9, FIRST if is_small else ONLY)
        if bracket.margin > 0 or not is_small:
            return Found(None, bracket, passes)
    if n * d <= TINY:
        return Found(_settled(SeenRows(cone), none))
    peeled = peel(cone)
    if not peeled.levels:
        return Found(_settled(SeenRows(cone), none))
    return Found(peeled.joined(cone, _rest(cone, peeled.left, none)))


def _rest(cone: SignedRows, left: Places, none: float) -> Settled | None:
    """Settle the rows left; a weak direction is made exact where they are, which is quicker."""
    if len(left) == 0:
        return None
    rows, columns = _varying(cone.rows.take(left), cone.fit_intercept)
    rest = SignedRows(rows, cone.sign[left], cone.fit_intercept)
    found = _settled(SeenRows(rest), none)
    if found.u is None:
        return found
    tidy = None
    if found.a.any():
        tidy = tidy_direction(rest, found.u, np.flatnonzero(found.boundary))
    u = np.zeros(cone.dimension)
    u[columns] = found.u if tidy is None else tidy[0]
    return replace(found, u=u)


def _varying(rows: Rows, fit_intercept: bool) -> tuple[Rows, Places]:
    """Return rows without constant columns, if dense, and the coordinates left."""
    columns = np.arange(rows.n_features)
    if not rows.is_sparse:
        low, high = rows.values.min(axis=0), rows.values.max(axis=0)
        live = low < high if fit_intercept else (low != 0) | (high != 0)
        if live.any() and not live.all():
            columns = np.flatnonzero(live)
            rows = Rows(np.ascontiguousarray(rows.values[:, columns]), len(columns))
            return rows, np.append(columns, len(live)) if fit_intercept else columns
    return rows, np.arange(rows.n_features + fit_intercept)


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
