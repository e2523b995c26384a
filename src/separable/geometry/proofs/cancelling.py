"""Proof that cancelling multipliers exist: a_i > 0 with sum_i a_i z_i = 0, from approximate ones.

Floating point gives multipliers whose sum is nearly 0. Choose a basis among the vectors, keep the
multipliers of the others, and solve a square system for those of the basis. Either a bound shows
that its solution is close enough to the floats to be positive, or it is solved in integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dependencies import (
    column_powers,
    find_dependencies,
    independent_rows,
    pivoted,
)
from separable.geometry.proofs.signs import rounding
from separable.linalg.exact import pivot_columns, solve_whole, whole_columns

if TYPE_CHECKING:
    from separable.geometry.cone.dependencies import Dependencies
    from separable.typing import Floats, Indices

__all__ = ["proved_cancelling", "solved_cancelling"]

#: Largest residual of the sum, relative to the sum of magnitudes.
RESIDUAL_TOLERANCE = 1e-8
#: Up to this rank, the multipliers are solved in integers if the bound fails.
MAX_SOLVED_RANK = 40
#: Up to this rank they are solved in integers on request: half a minute.
MAX_EXACT_RANK = 150


def proved_cancelling(vectors: Floats, a: Floats, *, exact: bool) -> Dependencies | None:
    """Prove that positive multipliers close to a cancel; None if the proof fails.

    Parameters
    ----------
    vectors : ndarray, shape (k, D)
    a : ndarray, shape (k,)
        Above 0.
    exact : bool
        Whether to solve for them in integers instead of bounding their distance. If the bound
        fails and the rank is small, this is done anyway.

    Returns
    -------
    Dependencies or None
        Dependencies of the columns; the rank of the vectors is proved to be its ``rank``.

    Examples
    --------
    >>> vectors = np.array([[1.0, 1.0], [1.0, -1.0], [-3.0, 0.1]])
    >>> proved_cancelling(vectors, np.array([1.45, 1.55, 1.0]), exact=True).rank
    2
    >>> proved_cancelling(vectors[:2], np.array([1.0, 1.0]), exact=True) is None
    True
    >>> proved_cancelling(np.zeros((1, 2)), np.array([1.0]), exact=True).rank
    0
    """
    if len(a) == 0 or not (np.isfinite(a) & (a > 0)).all():
        return None
    nonzero = vectors.any(axis=1)  # zero vectors cancel with any multiplier
    if not nonzero.any():
        return find_dependencies(vectors)
    vectors, a = vectors[nonzero], a[nonzero]
    result = find_dependencies(vectors)
    if result is None:
        return None
    part = vectors[:, result.pivots]
    part = part * column_powers(part)
    if (
        len(a) <= result.rank
        or (np.abs(part.T @ a) > RESIDUAL_TOLERANCE * (np.abs(part.T) @ a)).any()
    ):
        return None
    if exact and result.rank > MAX_EXACT_RANK:
        raise NotImplementedError(
            f"The proof has multipliers on rows of rank {result.rank}; rational arithmetic solves "
            f"for them up to rank {MAX_EXACT_RANK}. verify(X, y) without exact=True bounds "
            "rounding instead, which is a proof too."
        )
    basis = independent_rows(part, result.rank, a)
    if not exact and _is_near(part, a, basis):
        return result
    if not exact and result.rank > MAX_SOLVED_RANK:
        return None
    if _solves(part, a, basis):
        return result
    # for nearly dependent columns floating point may choose a poor basis
    is_solved = result.rank <= MAX_SOLVED_RANK and _solves(part, a, _heaviest_basis(part, a))
    return result if is_solved else None


def solved_cancelling(vectors: Floats, a: Floats) -> bool:
    """Return whether positive multipliers close to a cancel, for few vectors with many columns.

    The multipliers of a basis are solved in integers and the sum is computed exactly in every
    column, so the dependencies among the columns are not needed.

    Examples
    --------
    >>> wide = np.random.default_rng(0).standard_normal((2, 3000))
    >>> solved_cancelling(np.vstack([wide, -wide]), np.ones(4))
    True
    >>> solved_cancelling(np.vstack([wide, -wide[:1]]), np.ones(3))
    False
    """
    if len(a) == 0 or not (np.isfinite(a) & (a > 0)).all():
        return False
    power = column_powers(vectors)
    _, order, rank = pivoted(vectors * power)
    if rank > MAX_SOLVED_RANK:
        return False
    part = (vectors * power)[:, order[:rank]]
    solved = _solved(part, a, independent_rows(part, rank, a))
    if solved is None or not all(number > 0 for number in solved):
        return False
    return not (np.array(solved, dtype=object) @ whole_columns(vectors)[0]).any()


def _is_near(part: Floats, a: Floats, basis: Indices) -> bool:
    """Return whether the basis multipliers that make the sum 0 are provably positive.

    With V about the inverse of the basis B and E = I - VB of norm below 1, B has an inverse, and
    the change B'^-1 r is at most |V'| (|r| + |E'| |r| / (1 - |E'|)).
    """
    square = part[basis]
    rank = len(basis)
    try:
        inverse = np.linalg.inv(square)
    except np.linalg.LinAlgError:
        return False
    magnitudes = np.abs(inverse) @ np.abs(square)
    wrong = np.abs(np.eye(rank) - inverse @ square) + rounding(rank + 1, magnitudes)
    error = float(wrong.sum(axis=0).max()) * 1.01
    if not error < 0.5:
        return False
    left = np.abs(part.T @ a) + rounding(len(a), np.abs(part.T) @ a)
    left = left + error / (1.0 - error) * left.max()
    change = (np.abs(inverse.T) @ left) * (1.0 + 1e-6)
    return bool((change < a[basis]).all())


def _heaviest_basis(part: Floats, a: Floats) -> Indices:
    """Return exactly independent vectors, greedily by decreasing multiplier."""
    weight = a * np.sqrt(np.einsum("ij,ij->i", part, part))
    order = np.argsort(-weight, kind="stable")
    wholes, _ = whole_columns(part[order])
    return np.sort(order[pivot_columns(wholes.T)])


def _solves(part: Floats, a: Floats, basis: Indices) -> bool:
    """Solve for the multipliers of the basis in integers; return whether all are positive."""
    solved = _solved(part, a, basis)
    return solved is not None and all(number > 0 for number in solved)


def _solved(part: Floats, a: Floats, basis: Indices) -> list[int] | None:
    """Return cancelling integer multipliers, solving for those of the basis."""
    wholes, _ = whole_columns(part)
    multipliers, _ = whole_columns(a[:, None])
    others = np.ones(len(a), bool)
    others[basis] = False
    right = -(multipliers[others, 0] @ wholes[others])
    result = solve_whole(wholes[basis].T, np.asarray(right))
    if result is None:
        return None
    solved = multipliers[:, 0] * result[1]
    solved[basis] = result[0]
    return [int(number) for number in solved]
