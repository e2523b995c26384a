"""Triangular factor R of a design: R'R is its Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, qr, solve_triangular
from scipy.linalg.lapack import dgeqrf, dpocon, dpotrf, dpotrs, dtrtrs

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
        return _solve_upper(self.r, self.targets)

    def correct(self, gradient: Floats) -> Floats:
        """Return (R'R)^-1 g."""
        correction: Floats = dpotrs(self.r.T, gradient, lower=1)[0]
        return correction

    def inverse(self) -> Floats:
        """Return R^-1."""
        return _solve_upper(self.r, np.eye(len(self.r)))


def _solve_upper(r: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Return R^-1 b, or R^-T b, by LAPACK itself: SciPy's checks cost more than a small solve.

    In C order R is the lower triangular R' of LAPACK's column order.
    """
    if not len(r):
        return np.zeros_like(right)
    solution, singular = dtrtrs(r.T, right, lower=1, trans=0 if transposed else 1)
    if singular:
        raise LinAlgError(f"The triangular factor is singular: entry {singular - 1} is 0.")
    return np.asarray(solution, dtype=np.float64)


def factor_from_gram(
    gram: Floats, cross: Floats, target_squares: Floats
) -> tuple[Factor | None, float]:
    """Return the Cholesky factor and an estimate of the condition number of the Gram matrix.

    LAPACK estimates the condition number in the 1-norm at a cost of d^2. Divided by sqrt(d), which
    is its ratio to the 2-norm for random matrices, it is within a factor of sqrt(d) of the truth.
    None and infinity if the matrix is not positive definite.
    """
    if not len(gram):
        return Factor(gram, cross, target_squares.copy()), 1.0
    lower, failed = dpotrf(gram.T, lower=1)
    if failed:
        return None, np.inf
    reciprocal = float(dpocon(lower, np.abs(gram).sum(axis=0).max(), uplo="L")[0])
    targets = _solve_upper(lower.T, cross, transposed=True)
    left = target_squares - np.einsum("ij,ij->j", targets, targets)
    factor = Factor(lower.T, targets, np.maximum(left, 0.0))
    squared = 1.0 / (reciprocal * np.sqrt(len(gram))) if reciprocal > 0 else np.inf
    return factor, max(float(squared), 1.0)


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
