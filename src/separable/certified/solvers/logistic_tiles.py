"""Rows in tiles for the passes of logistic regression, their preconditioner, and lanes.

Weights are seen in coordinates u with w = A u, AA' = (I + a C Z'Z)^-1, in which every C is well
conditioned: a C Z'Z bounds the Hessian of the losses, or is close to it. Of many sparse columns
those with the largest squared norms have such an A; the others are scaled, which is enough for
columns with few values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dtrtri

from separable._core import native
from separable.certified.problem import TOGETHER, Lane, Problem
from separable.certified.solvers.solved import Start
from separable.linalg.blas import add_rows_to_scatter, fill_lower
from separable.linalg.design_matrix import DENSE_IS_FASTER, MAX_MEAN, DesignMatrix, SparseMatrix
from separable.linalg.row_space import RowSpace
from separable.losses.softmax import totals
from separable.typing import Floats

#: The preconditioner is estimated from about this many rows, and this many for each column.
SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN = 4096, 16
#: The least fraction of the expected sum of squares of a column for that; else from all rows.
MIN_SAMPLED_SQUARES = 0.5
#: Sparse rows with at least 1 / 8 of their values, one-hot tables for example, are as good as
#: dense up to this many cells: 256 MB in float32.
MAX_SPREAD_CELLS = 1 << 26
#: Equally heavy columns of scattered rows: text has 2000 and more, one-hot tables 20 to 300.
SCATTERED_COLUMNS = 1000
#: Maximum columns of dense rows.
MAX_DENSE_COLUMNS = 2000
#: Up to this many sparse columns have a full preconditioner. Of more, the heaviest have one and the
#: others are scaled only.
FULL_COLUMNS, HEAVIEST_COLUMNS = 512, 256
#: A fit begins with every 8th tile if that leaves at least 20 rows per weight.
SAMPLE_STEP, ROWS_PER_WEIGHT = 8, 20
#: Steps that L-BFGS remembers, and the values of a column that pay for one.
MIN_MEMORY, MAX_MEMORY, PASS_PER_MEMORY = 5, 20, 16
#: Numbers of the L-BFGS states of a batch of lanes: 256 MB.
MAX_BATCH_NUMBERS = 1 << 25
#: Weights and intercepts of all classes for which their full Hessian is factored.
MAX_JOINT_WEIGHTS = 1000


def is_worth_spreading(problem: Problem) -> bool:
    """Return whether sparse rows are faster with their zeros."""
    n, d = problem.rows.shape
    is_full = DENSE_IS_FASTER * problem.rows.values.size >= n * d
    return is_full and d <= min(n, MAX_DENSE_COLUMNS) and n * d <= MAX_SPREAD_CELLS


def is_scattered(problem: Problem) -> bool:
    """Return whether no few columns carry the squared norm of sparse rows, as in text.

    If s_j are the squared norms of the centred columns, (sum s_j)^2 / sum s_j^2 equal columns would
    be as heavy. Rows are then almost orthogonal, which suits dual coordinate descent.
    """
    ones = np.ones(problem.rows.n_rows)
    squares = problem.x.squared_norms(ones, centred=problem.fit_intercept)
    return float(squares.sum()) ** 2 > SCATTERED_COLUMNS * float(squares @ squares)


@dataclass(frozen=True)
class Curvature:
    """Z'CZ of some columns, for a full preconditioner, and its diagonal for all.

    Parameters
    ----------
    gram : ndarray, shape (m, m)
    diagonal : ndarray, shape (d,), or None
        None: ``gram`` has all columns.
    columns : ndarray of int32, shape (m,), or None
        The columns of ``gram``.
    """

    gram: Floats
    diagonal: Floats | None = None
    columns: NDArray[np.int32] | None = None

    @cached_property
    def eigen(self) -> tuple[Floats, Floats]:
        """Eigenvalues and eigenvectors of the Gram matrix."""
        values, vectors = eigh(self.gram, check_finite=False)
        return np.maximum(values, 0.0), vectors

    def basis(self, scale: float, *, many: bool) -> Floats:
        """Return A with AA' = (I + scale gram)^-1; many: one decomposition for all scales."""
        if not many:
            return inverse_root(scale * self.gram)
        values, vectors = self.eigen
        return np.ascontiguousarray(vectors / np.sqrt(1.0 + scale * values))


class LogisticTiles:
    """The rows of a problem in the format of the compiled passes.

    Dense rows, and sparse rows that are worth spreading, are centred.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.is_joint = problem.n_classes > 2
        self.width = problem.n_classes if self.is_joint else 1  # columns of a lane
        self.starts_diagonal = False  # the first Hessian of dense rows is its diagonal
        self.is_sparse = problem.rows.is_sparse and not is_worth_spreading(problem)

    @property
    def size(self) -> int:
        """Number of columns, of the row space if n < d."""
        return (self.problem.x if self._space is None else self._space).shape[1]

    @property
    def _sample_size(self) -> int:
        """Rows from which a Hessian is estimated."""
        return max(SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * self.size)

    @property
    def memory(self) -> int:
        """Steps that L-BFGS remembers: as many as cost little beside a pass over the rows."""
        if not self.is_sparse:
            return MAX_MEMORY
        per_column = self.problem.x.nnz // (PASS_PER_MEMORY * max(1, self.size))
        return min(max(per_column, MIN_MEMORY), MAX_MEMORY)

    @property
    def sample_step(self) -> int:
        """Take one of so many tiles for the first run of a fit; 1: all."""
        rows = self.problem.rows.n_rows // SAMPLE_STEP
        return SAMPLE_STEP if rows >= ROWS_PER_WEIGHT * self.width * self.size else 1

    def hessian_passes(self, blas_speed: float) -> float:
        """Return how many passes over the rows take as long as a Hessian and its factor."""
        n, m = self.problem.rows.n_rows, self.size
        if self.is_sparse:
            m, values = min(m, FULL_COLUMNS), max(1, self.problem.x.nnz)
            return values / n / 4 + m**3 / (8 * blas_speed) / (2 * values)
        rows = min(n, self._sample_size)
        return (rows * m**2 / 2 + m**3) / blas_speed / (2 * n * m * self.width)

    @property
    def has_joint_hessian(self) -> bool:
        """Whether the full Hessian of all classes is small enough for a preconditioner."""
        weights = self.width * (self.size + 1)
        return self.is_joint and not self.is_sparse and weights <= MAX_JOINT_WEIGHTS

    @property
    def most_lanes(self) -> int:
        """Lanes of a batch whose states fit the memory limit."""
        numbers = (2 * self.memory + 6) * self.width * (self.size + 1)
        return max(1, MAX_BATCH_NUMBERS // numbers)

    def start_of(self, start: Start, at: int) -> tuple[Floats, Floats]:
        """Return the starting weights of a lane, (m, K) in the columns of the tiles, and b."""
        one = start.take(list(range(at * self.width, (at + 1) * self.width)))
        weights = one.weights_of(self.problem)
        if self._space is not None:
            return self._space.project(weights), np.zeros(len(one.intercept))
        return weights, one.intercept + (0.0 if self._shift is None else self._shift @ weights)

    def scores(self, batch: Batch) -> tuple[Floats, Floats, Floats]:
        """Return weights, intercepts and scores in the problem's columns; absent classes: -inf."""
        parts = [self._scores_of(batch.take(at)) for at in range(len(batch.lanes))]
        weights, b, scores = zip(*parts, strict=True)
        return np.hstack(weights), np.concatenate(b), np.hstack(scores)

    def _scores_of(self, lane: Batch) -> tuple[Floats, Floats, Floats]:
        """Return those of one lane: BLAS sums columns of a wider array in another order."""
        u, b, present = lane.columns(self.width)
        weights = np.ascontiguousarray(u if self._space is None else self._space.expand(u))
        scores = self.problem.x.matvec(weights)
        if self._space is not None:  # its columns are centred elsewhere
            b = b + (self._space.take(np.arange(1)) @ u - scores[:1])[0]
        if self._shift is not None:
            b = b - self._shift @ weights
        b = np.where(present, b, -np.inf)
        scores += b
        return weights, b, scores

    @cached_property
    def _space(self) -> RowSpace | None:
        n, d = self.problem.rows.shape
        if self.is_sparse or n >= d:
            return None
        return RowSpace(self.problem.x, centred=self.problem.fit_intercept)

    def _blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first row and the values of each block, centred and scaled."""
        x = self.problem.x if self._space is None else self._space
        for here, block in x.blocks():
            yield here.start, block if self._shift is None else block - self._shift

    @cached_property
    def _centre(self) -> Floats | None:
        """Means of sparse columns, which the problem leaves where they are, in its units."""
        problem = self.problem
        if not problem.rows.is_sparse or not problem.fit_intercept:
            return None
        mean: Floats = problem.x.rmatvec(np.ones((problem.rows.n_rows, 1)))[:, 0]
        return mean / problem.rows.n_rows

    @property
    def _shift(self) -> Floats | None:
        """What the tiles of sparse rows that are spread lack."""
        return None if self.is_sparse else self._centre

    # ------------------------------------------------------------------ tiles

    def _tiled(self, *, is_float32: bool) -> tuple[native.LogisticLanes, Curvature]:
        """Return the rows in tiles, and Z'Z with the weights of the rows."""
        problem = self.problem
        label = np.ascontiguousarray(problem.target, dtype=np.int32)
        if not self.is_sparse:
            tiles = native.LogisticLanes(self.size, label, problem.weight, problem.fold, is_float32)
            return tiles, self._fill(tiles)
        assert isinstance(problem.x, SparseMatrix)
        tiles = native.LogisticLanes(
            problem.x.core, label, problem.weight, problem.fold, is_float32
        )
        return tiles, self._sparse_curvature

    def _fill(self, tiles: native.LogisticLanes) -> Curvature:
        """Write dense rows into tiles, and return Z'Z, or its diagonal.

        Correlations are estimated from a sample if there are many rows, unless the sample misses
        values that dominate a column, as in rare indicators.
        """
        problem, m = self.problem, self.size
        if self.starts_diagonal:
            squares = np.zeros(m)
            for start, block in self._blocks():
                tiles.set_rows(start, block)
                add_rows_to_scatter(squares, self._weighted(start, block))
            return Curvature(np.empty((0, 0)), squares, np.empty(0, np.int32))
        step = max(1, problem.rows.n_rows // self._sample_size)
        gram, squares = np.zeros((m, m)), np.zeros(m)
        for start, block in self._blocks():
            tiles.set_rows(start, block)
            weighted = self._weighted(start, block)
            if step > 1:
                squares += np.einsum("ij,ij->j", weighted, weighted)
                weighted = np.ascontiguousarray(weighted[-start % step :: step])
            if len(weighted):
                add_rows_to_scatter(gram, weighted)
        if step > 1 and is_missing(gram.diagonal() * step, squares):
            step, gram = 1, np.zeros((m, m))
            for start, block in self._blocks():
                add_rows_to_scatter(gram, self._weighted(start, block))
        fill_lower(gram)
        if step > 1:
            rescale(gram, squares)
        return Curvature(gram)

    def _weighted(self, start: int, block: Floats) -> Floats:
        """Return a block of rows, from row ``start`` on, times the roots of their weights."""
        weight = self.problem.weight
        if weight is None:
            return block
        return block * np.sqrt(weight[start : start + len(block), None])

    @cached_property
    def float64(self) -> tuple[native.LogisticLanes, Curvature]:
        """The tiles in float64, and Z'Z."""
        return self._tiled(is_float32=False)

    @cached_property
    def float32(self) -> tuple[native.LogisticLanes, Curvature]:
        """The tiles in float32, and Z'Z; in float64 if float32 loses the digits of scores."""
        if self.is_sparse and self._centre is not None:
            weight = np.ones(self.problem.rows.n_rows)
            squares = self.problem.x.squared_norms(weight) / len(weight) - self._centre**2
            if (self._centre**2 > MAX_MEAN**2 * np.maximum(squares, 0.0))[squares > 0].any():
                return self.float64
        return self._tiled(is_float32=True)

    # ------------------------------------------------------------------ preconditioner

    @cached_property
    def _sparse_curvature(self) -> Curvature:
        """Z'Z of sparse rows with their weights, centred."""
        weight, n = self.problem.weight, self.problem.rows.n_rows
        return self.weighted_gram(np.ones(n) if weight is None else weight)

    @cached_property
    def _full_columns(self) -> NDArray[np.int32] | None:
        """The sparse columns with a full preconditioner; None: all columns."""
        m = self.size
        if not self.is_sparse:
            return None
        squares = self.problem.x.squared_norms(np.ones(self.problem.rows.n_rows), centred=True)
        most = np.argsort(-squares, kind="stable")[: m if m <= FULL_COLUMNS else HEAVIEST_COLUMNS]
        return np.sort(most).astype(np.int32)

    @cached_property
    def _full_x(self) -> DesignMatrix:
        columns = self._full_columns
        x = self.problem.x if self._space is None else self._space
        if columns is None or len(columns) == x.shape[1]:
            return x
        return x.take_columns(columns.astype(np.intp))

    def weighted_gram(self, c: Floats) -> Curvature:
        """Return Z'diag(c)Z about the centre, with its diagonal for sparse columns.

        It is estimated from a sample of dense rows if that is less than half of them: of many
        rows, or if a few have most of the weight.
        """
        if self.is_sparse:
            return Curvature(*self._gram(c), self._full_columns)
        drawn = systematic_sample(c, self._sample_size)
        if 2 * np.count_nonzero(drawn) < np.count_nonzero(c):
            gram, squares = self._gram(drawn)[0], self._squares(c)
            if not is_missing(gram.diagonal(), squares):
                return Curvature(rescale(gram, squares))
        return Curvature(self._gram(c)[0])

    def _gram(self, c: Floats) -> tuple[Floats, Floats | None]:
        """Return the Gram matrix of the columns with a full preconditioner, and its diagonal."""
        gram, centre = self._full_x.gram(c), self._centre
        if centre is not None:
            sums = self.problem.x.rmatvec(c)
            here = slice(None) if self._full_columns is None else self._full_columns
            both = np.outer(centre[here], sums[here])
            gram += float(c.sum()) * np.outer(centre[here], centre[here]) - both - both.T
        return gram, self._squares(c) if self.is_sparse else None

    def _squares(self, c: Floats) -> Floats:
        """Return the diagonal of Z'diag(c)Z about the centre."""
        x = self.problem.x if self._space is None else self._space
        squares, centre = x.squared_norms(c), self._centre
        if centre is not None:
            sums = self.problem.x.rmatvec(c)
            squares = np.maximum(squares + centre * (float(c.sum()) * centre - 2.0 * sums), 0.0)
        return squares

    def preconditioner(
        self, curvature: Curvature, scale: float, total: float, *, many: bool = False
    ) -> native.Preconditioner:
        """Return the coordinates for a Hessian of ``scale`` times the curvature.

        ``total`` is the sum of the weights of the rows; many: there will be other scales.
        """
        has_b = self.problem.fit_intercept and scale * total > 0
        s = 1.0 / math.sqrt(scale * total) if has_b else 0.0
        basis = curvature.basis(scale, many=many)
        if curvature.diagonal is None:
            return native.Preconditioner(basis, s)
        others = 1.0 / np.sqrt(1.0 + scale * curvature.diagonal)
        centre = self._centre if self.is_sparse else None  # else its tiles are centred
        return native.Preconditioner(basis, s, curvature.columns, others, centre)

    def joint_preconditioner(self, q: Floats, c: Floats) -> native.Preconditioner:
        """Return the coordinates of the full Hessian of all classes.

        Parameters
        ----------
        q : ndarray, shape (n, K)
            Probabilities of the classes.
        c : ndarray, shape (n,)
            Costs of the rows.
        """
        K, size, root = q.shape[1], self.size + 1, np.sqrt(c)
        coupling, own = np.zeros((K * size, K * size)), np.zeros((K, size, size))
        for start, block in self._blocks():
            here = slice(start, start + len(block))
            z = np.empty((len(block), size))
            np.multiply(block, root[here, None], out=z[:, :-1])
            z[:, -1] = root[here] if self.problem.fit_intercept else 0.0
            add_rows_to_scatter(coupling, (q[here, :, None] * z[:, None]).reshape(len(z), -1))
            for k in range(K):
                add_rows_to_scatter(own[k], z * np.sqrt(q[here, k, None]))
        hessian = -coupling
        for k in range(K):
            of_class = slice(k * size, (k + 1) * size)
            hessian[of_class, of_class] += own[k]
        fill_lower(hessian)
        basis = inverse_root(hessian)
        least = float(hessian.diagonal()[size - 1 :: size].min())  # of the rarest class
        if least > 0:
            return native.Preconditioner(basis, 1.0 / math.sqrt(least))
        basis[size - 1 :: size] = 0.0
        return native.Preconditioner(basis, 0.0)


def inverse_root(gram: Floats) -> Floats:
    """Return A with AA' = (I + gram)^-1; the diagonal of I + gram if it is singular."""
    if len(gram) == 0:  # which LAPACK refuses
        return gram.copy()
    matrix = gram.copy()
    matrix[np.diag_indices(len(matrix))] += 1.0
    size = np.sqrt(matrix.diagonal())  # equilibrated, as columns differ in scale
    factor, failed = dpotrf((matrix / size / size[:, None]).T, overwrite_a=1)
    if failed:
        return np.diag(1.0 / size)
    inverse, _ = dtrtri(factor, overwrite_c=1)
    return np.ascontiguousarray(inverse / size[:, None])


def systematic_sample(c: Floats, size: int) -> Floats:
    """Return weights of a sample of about ``size`` rows, with chances in proportion to theirs.

    Examples
    --------
    >>> systematic_sample(np.array([4.0, 1.0, 1.0, 1.0, 1.0]), 4)
    array([4., 0., 2., 0., 2.])
    """
    share = np.cumsum(c)
    share *= size / share[-1]
    weights: Floats = np.diff(np.floor(share), prepend=0.0)
    weights *= c.sum() / size
    return weights


def is_missing(sampled: Floats, squares: Floats) -> bool:
    """Return whether a sample misses values that dominate a column, as in rare indicators."""
    return bool((sampled < MIN_SAMPLED_SQUARES * squares).any())


def rescale(gram: Floats, squares: Floats) -> Floats:
    """Scale a Gram matrix of a sample, in place, to the sums of squares of all rows."""
    sampled = gram.diagonal()
    root = np.sqrt(np.divide(squares, sampled, out=np.ones(len(gram)), where=sampled > 0))
    gram *= root
    gram *= root[:, None]
    gram[np.diag_indices(len(gram))] = squares
    return gram


@dataclass(frozen=True)
class Batch:
    """Lanes of one C.

    Parameters
    ----------
    code : ndarray of int32, shape (L, K) or (L, 0)
        The weight vector of each class, -1 if it is absent from the lane; no column if binary.
    null_loss : ndarray, shape (L,)
        Loss of the intercept-only model, for C = 1.
    weights : ndarray, shape (L, K, m + 1)
        One vector for each class present, with its intercept.
    """

    lanes: list[Lane]
    code: NDArray[np.int32]
    null_loss: Floats
    weights: Floats = field(repr=False)

    @classmethod
    def of(cls, problem: Problem, lanes: list[Lane], size: int) -> Batch:
        """Return lanes with ``size`` weights for each class, all 0."""
        K = problem.n_classes if problem.n_classes > 2 else 0
        code = np.zeros((len(lanes), K), np.int32)
        null_loss = np.zeros(len(lanes))
        weight = np.ones(problem.rows.n_rows) if problem.weight is None else problem.weight
        label = problem.target.astype(np.int32, copy=False)
        for k, lane in enumerate(lanes):
            c = weight if problem.fold is None else np.where(problem.fold == lane.fold, 0.0, weight)
            of_class = totals(label, c, max(K, int(label.max(initial=0)) + 1))
            if lane.target != TOGETHER:
                positive = float(of_class[lane.target]) if lane.target < len(of_class) else 0.0
                of_class = np.array([positive, float(of_class.sum()) - positive])
            present = of_class > 0
            share = of_class[present] / of_class.sum()
            null_loss[k] = -float(of_class[present] @ np.log(share))
            if K:
                code[k] = np.where(present, np.cumsum(present) - 1, -1)
        return cls(lanes, code, null_loss, np.zeros((len(lanes), max(K, 1), size + 1)))

    def take(self, at: int) -> Batch:
        """Return one lane; its weights are views."""
        one = slice(at, at + 1)
        return Batch(self.lanes[one], self.code[one], self.null_loss[one], self.weights[one])

    def set_weights(self, at: int, weights: Floats, intercept: Floats) -> None:
        """Write the weights of a lane, (m, K), and its intercepts."""
        present = np.ones(1, np.bool_) if self.code.shape[1] == 0 else self.code[at] >= 0
        end = int(present.sum())
        self.weights[at, :end, :-1] = weights[:, present].T
        self.weights[at, :end, -1] = np.where(np.isfinite(intercept), intercept, 0.0)[present]

    def columns(self, width: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return weights, (m, L K), intercepts and which classes are present."""
        if width == 1:
            return self.weights[:, 0, :-1].T, self.weights[:, 0, -1], np.ones(len(self.lanes), bool)
        present = self.code >= 0
        every = np.zeros((len(self.lanes), width, self.weights.shape[2]))
        for k, some in enumerate(present):
            every[k, some] = self.weights[k, : int(some.sum())]
            every[k, some] -= every[k, some].mean(axis=0)  # softmax: sums over classes are free
        flat = every.reshape(-1, self.weights.shape[2])
        return flat[:, :-1].T, flat[:, -1], present.ravel()
