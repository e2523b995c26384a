"""Triangular factor R of a design: R'R is its Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.linalg.lapack import dgeqrf

from separable._core import native
from separable.data.core_rows import core_rows, index_of_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.regression.design import Design
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["Factor", "factor_from_gram", "factor_from_rows"]


@dataclass(frozen=True)
class Factor:
    """QR decomposition U = QR of a design, without Q.

    Parameters
    ----------
    r : ndarray, shape (d, d)
        Upper triangular.
    targets : ndarray, shape (d, t)
        Q'y.
    residual_squares : ndarray, shape (t,)
        |y - QQ'y|^2.
    """

    r: Floats
    targets: Floats
    residual_squares: Floats

    def solve(self) -> Floats:
        """Return the least-squares weights, (d, t)."""
        weights: Floats = solve_triangular(self.r, self.targets)
        return weights

    def correct(self, gradient: Floats) -> Floats:
        """Return (R'R)^-1 g."""
        half = solve_triangular(self.r, gradient, trans="T")
        correction: Floats = solve_triangular(self.r, half)
        return correction

    def inverse(self) -> Floats:
        """Return R^-1."""
        inverse: Floats = solve_triangular(self.r, np.eye(len(self.r)))
        return inverse


def factor_from_gram(gram: Floats, cross: Floats, target_squares: Floats) -> Factor:
    """Return the Cholesky factor; LinAlgError if the Gram matrix lacks precision."""
    r = cholesky(gram)
    targets = solve_triangular(r, cross, trans="T")
    left = target_squares - np.einsum("ij,ij->j", targets, targets)
    return Factor(r, targets, np.maximum(left, 0.0))


def factor_from_rows(
    data: Data, design: Design, kept: NDArray[np.intp], alpha: float = 0.0
) -> Factor:
    """Return the factor of the kept columns by Householder QR, one block of rows at a time.

    Each block is stacked under the current triangle and the stack is factored again. Memory is
    d^2 for any number of rows, and only one block of sparse rows is dense at a time. The augmented
    rows of a penalty come first: they are already triangular.
    """
    d, t = len(kept), len(design.target_mean)
    column = index_of_columns(kept, data.rows.n_features)
    core = core_rows(data.rows)
    step = max(1024, 4 * (d + t))
    numbers = data.numbers
    width = d + t
    stacked = np.zeros((width + step, width), order="F")
    np.fill_diagonal(stacked[:d, :d], np.sqrt(alpha) / design.length[kept])
    for start in range(0, data.rows.n_rows, step):
        n = min(step, data.rows.n_rows - start)
        block = np.zeros((n, width))
        native.spread_columns(core, start, n, column, block)
        block[:, :d] -= design.mean[kept]
        block[:, :d] /= design.length[kept]
        block[:, d:] = (numbers[start : start + n] - design.target_mean) / design.target_unit
        if data.counted.weight is not None:
            block *= np.sqrt(data.counted.weight[start : start + n])[:, None]
        stacked[width:] = 0.0
        stacked[width : width + n] = block
        stacked = dgeqrf(stacked, overwrite_a=1)[0]
        stacked[np.tril_indices(width, -1)] = 0.0
    whole = stacked[:width]
    left = np.einsum("ij,ij->j", whole[d:, d:], whole[d:, d:])
    return Factor(np.ascontiguousarray(whole[:d, :d]), whole[:d, d:].copy(), left)


def dependent_columns(r: Floats, rank: int) -> list[tuple[int, list[int]]]:
    """Return the linearly dependent columns and the columns that span them, given the rank."""
    triangle, order = qr(r, mode="r", pivoting=True)
    dependent = []
    for column in range(rank, len(order)):
        coefficients = solve_triangular(triangle[:rank, :rank], triangle[:rank, column])
        used = np.flatnonzero(np.abs(coefficients) > 1e-6 * np.abs(coefficients).max(initial=0.0))
        dependent.append((int(order[column]), sorted(int(order[k]) for k in used)))
    return sorted(dependent)
