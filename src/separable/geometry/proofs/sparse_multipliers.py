"""Sparse cancelling multipliers, on few vectors with the same span."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dependencies import column_powers, independent_rows
from separable.geometry.cone.orthogonal import spanning
from separable.linalg.lstsq import nonnegative_squares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["cancelling", "sparse_multipliers"]

#: Sample size: this many vectors, or 4 D.
MIN_SAMPLE = 1000
#: Maximum number of entries for the search of a minimal cancelling set.
MAX_ENTRIES = 1 << 22
#: Largest relative residual of the cancelled sum.
RESIDUAL_TOLERANCE = 1e-9


def sparse_multipliers(cone: ConeRows, a: Floats) -> tuple[Indices, Floats]:
    """Return few vectors and positive multipliers that cancel, from cancelling multipliers a.

    The negative sum of a basis is a non-negative combination of at most rank many vectors
    (Caratheodory).
    """
    chosen = np.flatnonzero(a)
    limit = max(MIN_SAMPLE, 4 * cone.dimension)
    if len(chosen) <= limit:
        return chosen, a[chosen]
    independent = spanning(cone, chosen)
    vectors = cone.take(independent)
    rank = np.linalg.matrix_rank(vectors * column_powers(vectors))
    basis = independent[independent_rows(vectors * column_powers(vectors), int(rank))]
    random = np.random.default_rng(0)
    probability = a[chosen] / a[chosen].sum()
    size = limit
    while size < len(chosen):
        sample = random.choice(chosen, size, replace=False, p=probability)
        result = _opposite(cone, basis, np.unique(np.append(sample, independent)))
        if result is not None:
            return result
        size *= 4
    return chosen, a[chosen]


def cancelling(cone: ConeRows, a: Floats, first: Floats) -> Iterator[tuple[Indices, Floats]]:
    """Yield candidate vectors and multipliers for a proof of overlap, the best first."""
    yield sparse_multipliers(cone, a)
    yield sparse_multipliers(cone, first)
    yield _circle(cone, a)


def _circle(cone: ConeRows, a: Floats) -> tuple[Indices, Floats]:
    """Return few vectors that cancel: the heaviest, and a combination equal to its negative.

    Empty if there are too many numbers, or if no such combination is found.
    """
    chosen = np.flatnonzero(a)
    nothing = np.zeros(0, np.intp), np.zeros(0)
    vectors = cone.take_occupied(chosen)[0] if len(chosen) <= MIN_SAMPLE else np.zeros((0, 0))
    if not 0 < vectors.size <= MAX_ENTRIES:
        return nothing
    vectors = vectors * column_powers(vectors)
    first = int(np.argmax(a[chosen]))
    others = np.delete(np.arange(len(chosen)), first)
    solved = nonnegative_squares(vectors[others].T, -vectors[first])
    if solved is None:
        return nothing
    result, left = solved
    if left > RESIDUAL_TOLERANCE * np.abs(vectors[first]).max(initial=0.0):
        return nothing
    used = result > 0
    return chosen[np.append(first, others[used])], np.append(1.0, result[used])


def _opposite(cone: ConeRows, basis: Indices, candidates: Indices) -> tuple[Indices, Floats] | None:
    total = cone.take(basis).sum(axis=0)
    vectors = cone.take(candidates)
    power = column_powers(vectors)
    scaled, target = vectors * power, -total * power
    size = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    size = np.where(size > 0, size, 1.0)
    solved = nonnegative_squares((scaled / size[:, None]).T, target, 20 * len(target))
    if solved is None:
        return None
    result, left = solved
    if left > RESIDUAL_TOLERANCE * np.abs(target).max():
        return None
    a = np.zeros(cone.size)
    a[candidates] = result / size
    a[basis] += 1.0
    chosen = np.flatnonzero(a)
    return chosen, a[chosen]
