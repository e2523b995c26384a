"""Ridge regression of sparse rows with many columns, by preconditioned conjugate gradients.

The normal equations of (w, b) are solved for many alphas at once, one lane each. One-hot columns of
one feature share no rows: their block of the Gram matrix is diagonal. The preconditioner eliminates
this block and solves for the most filled other columns densely, by a Schur complement; of the rest
it has the diagonal alone. Without a rest it is the matrix itself, and one step is exact.

Source: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 2003, algorithm 9.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from separable._core import native
from separable.data.rows import core_rows, index_of_columns, largest_magnitude
from separable.linalg.design_matrix import SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data.rows import Rows
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats, Indices

__all__ = ["SparseRidge", "SparseSolution", "is_sparse_and_large", "may_stop_early"]

#: Columns above which sparse rows are solved here; below, sums and a dense factor are faster.
MIN_COLUMNS = 600
#: Dense products of columns that cost as much as one non-zero does in all iterations: rows with
#: many non-zeros are summed up to more columns.
PRODUCTS_PER_NONZERO = 12_000
#: Rows above which they are, if there are more columns than rows.
MIN_WIDE_ROWS = 2000
#: Maximum columns that the preconditioner solves for densely.
MAX_DENSE = 128
#: Lanes of a pass over the rows.
LANES = 16
#: Maximum iterations.
MAX_ITER = 300
#: Error relative to that of the null model that ends the iterations of lanes, and of a refinement.
LANE_TOL, STEP_TOL = 1e-10, 1e-8
#: Refinement ends at the first error, or when it does not help; it failed above the second.
REFINED, ACCEPTED, MAX_STEPS = 1e-15, 1e-7, 6
#: Rows or columns, the fewer, up to which a dense system is solved where iterations fail.
MAX_DENSE_SYSTEM = 6000
#: Smallest sum of squares of a column that has values.
SMALLEST_SQUARES = 1e-280
#: Numbers of a dense block of rows.
BLOCK_VALUES = 1 << 18


def is_sparse_and_large(data: Data) -> bool:
    """Return whether rows are sparse and too many columns for sums of their products."""
    if not data.rows.is_sparse or data.rows.n_features <= _most_columns(data):
        return False
    return not data.is_wide or data.n_counted > MIN_WIDE_ROWS


def _most_columns(data: Data) -> float:
    """Return up to how many columns sums of products cost less than conjugate gradients."""
    nonzeros = len(data.rows.values) / max(data.n_counted, 1)
    return max(MIN_COLUMNS, min(math.sqrt(PRODUCTS_PER_NONZERO * nonzeros), MAX_DENSE_SYSTEM))


def may_stop_early(data: Data) -> bool:
    """Return whether a dense system would be too large to take over from iterations that fail."""
    return min(data.n_counted, data.rows.n_features) > MAX_DENSE_SYSTEM


def orthogonal_run(rows: Rows) -> tuple[int, int]:
    """Return start and stop of the longest run of columns in which no row has two values.

    Such are the levels of a one-hot feature. ``rows``: with ascending columns, each once.
    """
    indices, d = np.asarray(rows.indices), rows.n_features
    previous = np.full(d, -1, indices.dtype)  # the nearest column to the left that shares a row
    follows = np.ones(len(indices), np.bool_)
    indptr = np.asarray(rows.indptr)
    follows[indptr[:-1][np.diff(indptr) > 0]] = False
    follows = follows[1:]
    np.maximum.at(previous, indices[1:][follows], indices[:-1][follows])
    start = np.maximum.accumulate(previous + 1)
    last = int((np.arange(d) - start).argmax())
    return int(start[last]), last + 1


@dataclass(frozen=True)
class SparseSolution:
    """Weights of one alpha and one target.

    Parameters
    ----------
    weights : ndarray, shape (d,)
    intercept : float
    residual_squares : float
        Sum of squared errors.
    relative_residual : float
        |X'C(y - Xw - b) - alpha w| / |X'C(y - mean)|, columns about their means.
    error : float
        Estimated error in the energy norm, relative to that of the null model.
    n_iter : int
        Iterations of all steps.
    """

    weights: Floats
    intercept: float
    residual_squares: float
    relative_residual: float
    error: float
    n_iter: int

    @property
    def converged(self) -> bool:
        """Whether the iterations ended at a small error."""
        return self.error <= ACCEPTED


class Lanes(NamedTuple):
    """Solutions of many alphas: weights (A, t, d), intercepts (A, t), and whether all converged."""

    weights: Floats
    intercept: Floats
    converged: bool


class SparseRidge:
    """Normal equations of ridge regression on sparse rows.

    The unknowns of a lane are the weights of x - shift and their intercept, (d + 1,). Only the
    columns that the preconditioner solves for densely have a shift: their mean.

    Parameters
    ----------
    data : Data
        Rows of positive weight.
    fit_intercept : bool
    """

    def __init__(self, data: Data, *, fit_intercept: bool) -> None:
        largest_magnitude(data.rows, data.X)
        self.rows = data.rows.astype(np.dtype(np.float64)).canonical()
        self.matrix, self.fit_intercept = SparseMatrix(self.rows, None), fit_intercept
        n, d = self.rows.shape
        self.weight = np.ones(n) if data.counted.weight is None else data.counted.weight
        self.total = float(self.weight.sum())
        self.run = orthogonal_run(self.rows)
        others = np.setdiff1d(np.arange(d), np.arange(*self.run))
        filled = np.bincount(np.asarray(self.rows.indices), minlength=d)
        order = np.argsort(-filled[others], kind="stable")
        self.dense: Indices = np.sort(others[order[:MAX_DENSE]])
        self.numbers = data.numbers
        self.mean, self.shift = np.zeros(d), np.zeros(d)
        self.target_mean = np.zeros(self.numbers.shape[1])
        if fit_intercept:
            self.mean = self.matrix.rmatvec(self.weight) / self.total
            self.shift[self.dense] = self.mean[self.dense]
            self.target_mean = self.weight @ self.numbers / self.total
        with np.errstate(over="ignore", invalid="ignore"):  # `solve` and `lanes` return None
            self.squares = self.matrix.squared_norms(self.weight)
            least = self.squares[filled > 0].min(initial=1.0)
            self._sum_products()
        self.is_usable = bool(least > SMALLEST_SQUARES and np.isfinite(self.corner).all())

    def _sum_products(self) -> None:
        """Sum what the preconditioner needs: products with the dense columns and the ones."""
        m, first, last = len(self.dense), *self.run
        self.corner = np.zeros((m + 1, m + 1))
        self.border = np.zeros((last - first, m + 1))
        columns = self.rows.to_matrix()[:, first:last]
        least, most = np.full(m + 1, np.inf), np.full(m + 1, -np.inf)
        for part, block in self._dense_blocks():
            np.minimum(least, block.min(axis=0), out=least)
            np.maximum(most, block.max(axis=0), out=most)
            weighted = block * self.weight[part, None]
            self.corner += block.T @ weighted
            self.border += columns[part].T @ weighted
        if self.fit_intercept:  # what is left of constant columns is rounding
            constant = np.flatnonzero(least[:m] == most[:m])
            self.corner[constant], self.corner[:, constant] = 0.0, 0.0
            self.border[:, constant] = 0.0
        self.squares[self.dense] = np.diagonal(self.corner)[:m]
        self.constant = self.squares == 0

    def _dense_blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of rows and their dense columns, shifted, and the ones, (b, m + 1)."""
        (n, d), m = self.rows.shape, len(self.dense)
        place, core = index_of_columns(self.dense, d), core_rows(self.rows)
        step = max(1024, BLOCK_VALUES // (m + 1))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            block = np.zeros((part.stop - start, m + 1))
            native.spread_columns(core, start, len(block), place, block)
            block[:, :m] -= self.shift[self.dense]
            block[:, m] = float(self.fit_intercept)
            yield part, block

    @property
    def mean_square(self) -> float:
        """The mean squared length of the centered columns."""
        moved = np.where(self.shift == 0, self.total * self.mean**2, 0.0)
        return float(np.maximum(self.squares - moved, 0.0).mean())

    @cached_property
    def right(self) -> Floats:
        """Products of the columns, and of the ones, with the centered targets, (d + 1, t)."""
        return self._rmatvec((self.numbers - self.target_mean) * self.weight[:, None])

    def _rmatvec(self, r: Floats) -> Floats:
        """Return the products with the columns and the ones, (d + 1, k)."""
        sums, total = np.zeros((self.rows.n_features + 1, r.shape[1])), r.sum(axis=0)
        sums[:-1] = self.matrix.rmatvec(r)
        sums[:-1] -= np.multiply.outer(self.shift, total)
        if self.fit_intercept:
            sums[-1] = total
        sums[:-1][self.constant] = 0.0
        return sums

    def _product(self, u: Floats, alphas: Floats) -> Floats:
        """Return the matrix of the normal equations times the unknowns of lanes, (d + 1, k)."""
        scores = self.matrix.matvec(u[:-1])
        scores += u[-1] - self.shift @ u[:-1]
        scores *= self.weight[:, None]
        product = self._rmatvec(scores)
        product[:-1] += alphas * u[:-1]
        return product

    # ------------------------------------------------------------------ solving

    def lanes(self, alphas: Floats) -> Lanes | None:
        """Return the solutions of many alphas; None if squares of values leave float64."""
        t, d = self.right.shape[1], self.rows.n_features
        each = np.repeat(alphas, t)
        weights, intercept = np.empty((len(each), d)), np.empty(len(each))
        converged = True
        for start in range(0, len(each), LANES):
            lanes = np.arange(start, min(start + LANES, len(each)))
            solved = self._solve(self.right[:, lanes % t], each[lanes], LANE_TOL)
            if solved is None:
                return None
            u, _, is_done = solved
            converged &= is_done
            weights[lanes] = u[:-1].T
            intercept[lanes] = u[-1] - self.shift @ u[:-1]
        shape = len(alphas), t
        intercept = intercept.reshape(shape) + self.target_mean
        return Lanes(weights.reshape(*shape, d), intercept, converged)

    def solve(self, alpha: float, target: int) -> SparseSolution | None:
        """Return the solution of one alpha, refined by residuals in twice the working precision.

        None if values are so extreme that squares leave float64.
        """
        core, alphas = core_rows(self.rows), np.array([alpha])
        y = np.ascontiguousarray(self.numbers[:, target])
        w, b, total = np.zeros_like(self.mean), float(self.target_mean[target]), 0.0
        zero, n_iter, best = np.zeros_like(w), 0, None
        gradient = self.right[:, [target]]
        gradient[:-1, 0] -= (self.mean - self.shift) * gradient[-1, 0]  # about the means
        gradient[-1] = 0.0
        precondition = _Preconditioner(self, alphas)
        null = float(np.linalg.norm(gradient)) or 1.0
        null_energy = float(_dots(gradient, precondition(gradient))[0]) or 1.0
        for _ in range(MAX_STEPS):
            solved = self._solve(gradient, alphas, STEP_TOL)
            if solved is None:
                break
            step, n_iter = solved[0][:-1, 0], n_iter + solved[1]
            w = w + step
            if self.fit_intercept:
                b += total / self.total - float(self.mean @ step)
            total, squares = native.residual_sums(
                core, y, self.weight, w, zero, b, 0.0, self.mean, gradient[:-1, 0], None
            )
            gradient[:-1, 0] -= alpha * w
            gradient[:-1, 0][self.constant] = 0.0
            energy = float(_dots(gradient, precondition(gradient))[0])
            error = float(np.sqrt(max(energy, 0.0) / null_energy))
            if not np.isfinite(error + squares) or (best is not None and error >= best.error):
                break
            size = float(np.linalg.norm(gradient)) / null
            best, last = SparseSolution(w, b, squares, size, error, n_iter), best
            stalls = last is not None and error > 0.5 * last.error
            if error <= REFINED or stalls or not solved[2]:
                break
        return best

    def leverages(self, alphas: Floats) -> Floats | None:
        """Return the leverages of the rows, (n, A): the diagonal of the hat matrices.

        None if the preconditioner is not the matrix of the normal equations itself, which is what
        makes them cheap.
        """
        first, last = self.run
        precondition = _Preconditioner(self, alphas)
        if last - first + len(self.dense) < len(self.mean) or not precondition.is_definite:
            return None
        leverages = np.empty((len(self.weight), len(alphas)))
        columns = self.rows.to_matrix()[:, first:last]
        level, x = np.zeros(len(leverages), np.intp), np.zeros(len(leverages))
        filled = np.diff(columns.indptr) > 0
        level[filled], x[filled] = columns.indices, columns.data
        for part, block in self._dense_blocks():
            for lane, lower in enumerate(precondition.factors):
                scaled = x[part] * precondition.inverse[first + level[part], lane]
                left = block - scaled[:, None] * self.border[level[part]]
                half = dtrtrs(lower, left.T, lower=1)[0]
                leverages[part, lane] = x[part] * scaled + _dots(half, half)
        leverages *= self.weight[:, None]
        return leverages

    def _solve(self, right: Floats, alphas: Floats, tol: float) -> tuple[Floats, int, bool] | None:
        """Return the solutions of lanes, (d + 1, k), the iterations, and whether all converged."""
        precondition = _Preconditioner(self, alphas)
        if not (self.is_usable and precondition.is_definite and np.isfinite(right).all()):
            return None
        u = precondition(right)
        limit = tol**2 * _dots(right, u)
        left = right - self._product(u, alphas)
        direction = z = precondition(left)
        energy, n_iter = _dots(left, z), 0
        while n_iter < MAX_ITER and (energy > limit).any():
            n_iter += 1
            product = self._product(direction, alphas)
            curvature = _dots(direction, product)
            active = (energy > limit) & (curvature > 0)
            length = np.divide(energy, curvature, out=np.zeros_like(energy), where=active)
            u += length * direction
            left -= length * product
            z = precondition(left)
            old, energy = energy, _dots(left, z)
            ratio = np.divide(energy, old, out=np.zeros_like(energy), where=old > 0)
            direction = z + ratio * direction
        if not (np.isfinite(u).all() and np.isfinite(energy).all()):
            return None
        return u, n_iter, bool((energy <= limit).all())


def _dots(a: Floats, b: Floats) -> Floats:
    """Return the inner product of each column of a with that of b."""
    dots: Floats = np.einsum("ij,ij->j", a, b)
    return dots


class _Preconditioner:
    """Inverse of the normal equations without the products among the rest of the columns."""

    def __init__(self, system: SparseRidge, alphas: Floats) -> None:
        m, d = len(system.dense), system.rows.n_features
        self._run, self._dense = slice(*system.run), np.append(system.dense, d)
        self._border, self.factors, self.is_definite = system.border, [], True
        self.inverse = 1.0 / (system.squares[:, None] + alphas)
        for lane, alpha in enumerate(alphas.tolist()):
            inverse = self.inverse[self._run, lane, None]
            schur = system.corner - system.border.T @ (inverse * system.border)
            schur.ravel()[: m * (m + 2) : m + 2] += alpha
            if not system.fit_intercept:
                schur[m, m] = 1.0
            lower, failed = dpotrf(schur, lower=1)
            self.is_definite &= not failed and bool(np.isfinite(lower).all())
            self.factors.append(lower)

    def __call__(self, left: Floats) -> Floats:
        """Return the approximate solutions of lanes, (d + 1, k)."""
        out = np.empty_like(left)
        out[:-1] = self.inverse * left[:-1]
        corner = left[self._dense] - self._border.T @ out[self._run]
        for lane, lower in enumerate(self.factors):
            corner[:, lane] = dpotrs(lower, corner[:, lane], lower=1)[0]
        out[self._dense] = corner
        out[self._run] -= self.inverse[self._run] * (self._border @ corner)
        return out
