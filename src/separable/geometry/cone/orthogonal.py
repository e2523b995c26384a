"""Orthogonal complement of some vectors, and the vectors orthogonal to it; in floating point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr, solve_triangular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["find_orthogonal", "null_basis", "spanning"]

#: Relative size below which a column is linearly dependent on the others.
RANK_TOLERANCE = 1e-9
#: Relative size below which the projection of a vector is 0.
PROJECTION_TOLERANCE = 1e-8
#: Sample size: this many vectors, or 4 D.
MIN_SAMPLE = 1000


def find_orthogonal(cone: ConeRows, chosen: Indices) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a basis of the orthogonal complement, and a mask of the vectors orthogonal to it.

    Returns
    -------
    basis : ndarray, shape (D, q)
    without : ndarray of bool, shape (m,)
        Of all vectors.
    """
    return _look(cone, chosen)[:2]


def spanning(cone: ConeRows, chosen: Indices) -> Indices:
    """Return a subset of the chosen vectors with the same span."""
    return chosen if len(chosen) <= _most(cone) else _look(cone, chosen)[2]


def _most(cone: ConeRows) -> int:
    return max(MIN_SAMPLE, 4 * cone.dimension)


def _look(cone: ConeRows, chosen: Indices) -> tuple[Floats, NDArray[np.bool_], Indices]:
    random = np.random.default_rng(0)
    most = _most(cone)
    sample = chosen if len(chosen) <= most else random.choice(chosen, most // 2, replace=False)
    while True:
        basis = null_basis(cone.take(sample))
        without = _without_part(cone, basis, random)
        missed = chosen[~without[chosen]]
        fresh = missed[~np.isin(missed, sample)]
        if len(fresh) == 0:
            return basis, without, sample
        if len(fresh) > cone.dimension:
            fresh = random.choice(fresh, cone.dimension, replace=False)
        sample = np.append(sample, fresh)


def null_basis(vectors: Floats) -> Floats:
    """Return a basis of the u with z.u = 0 for all vectors, each with one column of its own.

    Examples
    --------
    >>> null_basis(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])).round(12).tolist()
    [[0.0, -1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    size = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors = vectors[size > 0] / size[size > 0][:, None]
    columns = np.sqrt(np.einsum("ij,ij->j", vectors, vectors))
    columns = np.where(columns > 0, columns, 1.0)
    triangle, order = qr(vectors / columns, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)).sum())
    basis = np.zeros((len(order), len(order) - rank))
    free = order[rank:]
    basis[free, np.arange(len(free))] = 1.0
    if rank:
        basis[order[:rank]] = -solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    basis /= columns[:, None]
    basis[np.abs(basis) <= 1e-13 * np.abs(basis).max(axis=0, initial=0.0)] = 0.0
    basis /= np.abs(basis).max(axis=0, initial=0.0)
    return basis[:, np.argsort(free)]


def _without_part(cone: ConeRows, basis: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which vectors are orthogonal to a basis.

    Two random directions of its span decide: a vector is orthogonal to one by chance with
    probability 0.
    """
    none = np.ones(cone.size, bool)
    if basis.shape[1] == 0:
        return none
    for _ in range(min(2, basis.shape[1])):
        u = basis @ random.standard_normal(basis.shape[1])
        none &= np.abs(cone.scores(u)) <= PROJECTION_TOLERANCE * cone.magnitudes(u)
    return none
