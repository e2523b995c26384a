"""Search strategy for a verdict, by the shape of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.data.rows import Rows
from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.cone.signed_rows import SeenRows, SignedRows
from separable.geometry.proofs.sparse_proofs import tidy_direction
from separable.geometry.search.facial_reduction import ZERO_TOLERANCES, reduce_faces, reduce_many
from separable.geometry.search.max_margin import DualPasses, by_passes, start_of
from separable.geometry.search.single_columns import peel, untangle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.search.facial_reduction import FacialReduction
    from separable.geometry.search.max_margin import Bracket
    from separable.typing import Indices

__all__ = ["MAX_SECOND_SEARCH", "MAX_UNTANGLED", "SearchResult", "reduce_untangled", "search"]

#: Maximum number of columns or rows for Newton's method; the second after peeling single columns.
MAX_NEWTON, MAX_NEWTON_REST = 1500, 2500
#: Maximum size for a second search if the first gives no proof, and for untangling columns.
MAX_SECOND_SEARCH, MAX_UNTANGLED = 100_000, 1_000_000
#: Up to this many numbers the vectors are stored densely.
MAX_DENSE_SIZE = 1 << 14
#: Above these numbers of columns and values, dual coordinate descent comes first.
DESCENT_COLUMNS, DESCENT_NUMBERS = 100, 1_000_000
#: Passes of dual coordinate descent: as a first attempt, and as the only method.
FIRST_PASSES, ONLY_PASSES = 40, 600


@dataclass(frozen=True)
class SearchResult:
    """Result of a search.

    Parameters
    ----------
    reduction : FacialReduction or None
        In the original columns.
    bracket : Bracket or None
        Separating weights from dual coordinate descent.
    passes : DualPasses or None
    """

    reduction: FacialReduction | None = None
    bracket: Bracket | None = None
    passes: DualPasses | None = None


def search(cone: SignedRows, none: float = ZERO_TOLERANCES[0]) -> SearchResult:
    """Search for a separating hyperplane, a weak one, or multipliers; see `reduce_faces`."""
    n, d = cone.size, cone.dimension
    if n * d <= MAX_DENSE_SIZE:
        return SearchResult(_reduced(SeenRows(cone), none))
    passes = bracket = None
    if d > DESCENT_COLUMNS and n * d > DESCENT_NUMBERS:
        passes = DualPasses(cone)
        bracket = _passed(cone, passes, start_of(cone, np.zeros(d)), FIRST_PASSES)
        if bracket.margin > 0:
            return SearchResult(None, bracket, passes)
    peeled = peel(cone)
    if not peeled.levels and min(n, d) <= MAX_NEWTON:
        return SearchResult(_reduced(SeenRows(cone), none), None, passes)
    rest, columns = _rest(cone, peeled.left)
    if min(rest.size, rest.dimension) <= (MAX_NEWTON_REST if peeled.levels else MAX_NEWTON):
        result = _reduced_rest(rest, columns, cone.dimension, none)
        return SearchResult(peeled.joined(cone, result), None, passes)
    assert passes is not None
    assert bracket is not None
    return SearchResult(None, _passed(cone, passes, bracket, ONLY_PASSES), passes)


def reduce_untangled(cone: ConeRows) -> FacialReduction | None:
    """Run facial reduction after untangling dependent columns; None: none, or too large."""
    untangled = untangle(cone) if cone.size * cone.dimension <= MAX_UNTANGLED else None
    if untangled is None:
        return None
    result = reduce_many(untangled)
    return result if result.u is None else replace(result, u=untangled.raw(result.u))


def _passed(cone: SignedRows, passes: DualPasses, bracket: Bracket, most: int) -> Bracket:
    """Run dual coordinate descent until the margin is positive: a relative gap below 1."""
    return by_passes(cone, passes, bracket, 1.0 - 1e-9, most)


def _rest(cone: SignedRows, left: Indices) -> tuple[SignedRows, Indices]:
    """Return the remaining rows without constant columns, and the remaining coordinates."""
    rows = cone.rows.take(left)
    live = np.flatnonzero(_varies(rows, cone.fit_intercept))
    columns = np.append(live, rows.n_features) if cone.fit_intercept else live
    if 0 < len(live) < rows.n_features:
        rows = _of_columns(rows, live)
    else:
        columns = np.arange(cone.dimension)
    return SignedRows(rows, cone.sign[left], cone.fit_intercept), columns


def _varies(rows: Rows, fit_intercept: bool) -> NDArray[np.bool_]:
    """Return the non-constant columns of dense rows, or the non-empty ones of sparse rows."""
    if rows.indices is not None:
        return np.bincount(rows.indices, minlength=rows.n_features) > 0
    low = rows.values.min(axis=0, initial=np.inf)
    high = rows.values.max(axis=0, initial=-np.inf)
    varies: NDArray[np.bool_] = low < high if fit_intercept else (low != 0) | (high != 0)
    return varies


def _of_columns(rows: Rows, columns: Indices) -> Rows:
    """Return rows with some columns; for sparse rows these are all non-empty columns."""
    if rows.indices is None:
        return Rows(np.ascontiguousarray(rows.values[:, columns]), len(columns))
    position = np.zeros(rows.n_features, rows.indices.dtype)
    position[columns] = np.arange(len(columns))
    return Rows(rows.values, len(columns), position[rows.indices], rows.indptr)


def _reduced_rest(
    rest: SignedRows, columns: Indices, size: int, none: float
) -> FacialReduction | None:
    """Reduce the remaining rows; a weak direction is made exact on them, which is faster."""
    if rest.size == 0:
        return None
    result = _reduced(SeenRows(rest), none)
    if result.u is None:
        return result
    tidy = None
    if result.a.any():
        tidy = tidy_direction(rest, result.u, np.flatnonzero(result.boundary))
    u = np.zeros(size)
    u[columns] = result.u if tidy is None else tidy[0]
    return replace(result, u=u)


def _reduced(seen: SeenRows, none: float) -> FacialReduction:
    if seen.size * seen.dimension <= MAX_DENSE_SIZE:
        result = reduce_faces(WrittenRows(seen.take(np.arange(seen.size))), none)
    elif seen.dimension <= MAX_NEWTON or seen.dimension <= seen.size:
        result = reduce_many(seen, none)
    else:
        result = reduce_faces(WrittenRows(seen.kernel()), none)
        if result.u is not None:
            result = replace(result, u=seen.sums(result.u))
    return result if result.u is None else replace(result, u=seen.raw(result.u))
