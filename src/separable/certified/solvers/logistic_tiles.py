"""Dense rows in tiles for the passes of logistic regression, their preconditioner, and lanes.

Weights are seen in coordinates u with w = A u, AA' = (I + a C Z'Z)^-1, in which every C is well
conditioned: a C Z'Z bounds the Hessian of the losses, or is close to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, solve_triangular

from separable._core import native
from separable.certified.problem import TOGETHER
from separable.linalg.blas import add_rows_to_scatter, fill_lower
from separable.linalg.row_space import RowSpace
from separable.losses.softmax import totals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.solved import Start
    from separable.typing import Floats

__all__ = ["Batch", "LogisticTiles", "inverse_root"]

#: The preconditioner is estimated from about this many rows, and this many for each column.
SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN = 4096, 16


class LogisticTiles:
    """The rows of a problem, centred, in the format of the compiled passes.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.is_joint = problem.n_classes > 2
        self.width = problem.n_classes if self.is_joint else 1  # columns of a lane

    @property
    def size(self) -> int:
        """Number of columns, of the row space if n < d."""
        return (self.problem.x if self._space is None else self._space).shape[1]

    def start_of(self, start: Start, at: int) -> tuple[Floats, Floats]:
        """Return the starting weights of a lane, (m, K) in the columns of the tiles, and b."""
        one = start.take(list(range(at * self.width, (at + 1) * self.width)))
        weights = one.weights_of(self.problem)
        if self._space is not None:
            return self._space.project(weights), np.zeros(len(one.intercept))
        return weights, one.intercept + (0.0 if self._centre is None else self._centre @ weights)

    def scores(self, batch: Batch) -> tuple[Floats, Floats, Floats]:
        """Return weights, intercepts and scores in the problem's columns; absent classes: -inf."""
        u, b, present = batch.columns(self.width)
        weights = np.ascontiguousarray(u if self._space is None else self._space.expand(u))
        scores = self.problem.x.matvec(weights)
        if self._space is not None:  # its columns are centred elsewhere
            b = b + (self._space.take(np.arange(1)) @ u - scores[:1])[0]
        if self._centre is not None:
            b = b - self._centre @ weights
        b = np.where(present, b, -np.inf)
        scores += b
        return weights, b, scores

    @cached_property
    def _space(self) -> RowSpace | None:
        n, d = self.problem.rows.shape
        return RowSpace(self.problem.x, centred=self.problem.fit_intercept) if n < d else None

    def _blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first row and the values of each block, centred and scaled."""
        x = self.problem.x if self._space is None else self._space
        for here, block in x.blocks():
            yield here.start, block if self._centre is None else block - self._centre

    @cached_property
    def _centre(self) -> Floats | None:
        """Means of sparse columns, which the problem leaves where they are, in its units."""
        problem = self.problem
        if not problem.rows.is_sparse or not problem.fit_intercept:
            return None
        mean: Floats = problem.x.rmatvec(np.ones((problem.rows.n_rows, 1)))[:, 0]
        return mean / problem.rows.n_rows

    def _tiled(self, *, is_float32: bool) -> tuple[native.LogisticLanes, Floats]:
        """Return the rows in tiles, and Z'Z with the weights of the rows.

        Correlations are estimated from a sample if there are many rows.
        """
        problem, m = self.problem, self.size
        label = np.ascontiguousarray(problem.target, dtype=np.int32)
        tiles = native.LogisticLanes(m, label, problem.weight, problem.fold, is_float32)
        step = max(1, problem.rows.n_rows // max(SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * m))
        gram, squares = np.zeros((m, m)), np.zeros(m)
        for start, block in self._blocks():
            tiles.set_rows(start, block)
            weighted = block
            if problem.weight is not None:
                weighted = block * np.sqrt(problem.weight[start : start + len(block), None])
            if step > 1:
                squares += np.einsum("ij,ij->j", weighted, weighted)
                weighted = np.ascontiguousarray(weighted[-start % step :: step])
            if len(weighted):
                add_rows_to_scatter(gram, weighted)
        fill_lower(gram)
        if step > 1:
            sampled = gram.diagonal().copy()
            root = np.sqrt(np.divide(squares, sampled, out=np.ones(m), where=sampled > 0))
            gram *= root
            gram *= root[:, None]
            gram[np.diag_indices(m)] = squares
        return tiles, gram

    @cached_property
    def float64(self) -> tuple[native.LogisticLanes, Floats]:
        """The tiles in float64, and Z'Z."""
        return self._tiled(is_float32=False)

    @cached_property
    def float32(self) -> tuple[native.LogisticLanes, Floats]:
        """The tiles in float32, and Z'Z."""
        return self._tiled(is_float32=True)

    def weighted_gram(self, c: Floats) -> Floats:
        """Return Z'diag(c)Z."""
        x = self.problem.x if self._space is None else self._space
        gram = x.gram(c)
        if self._centre is not None:  # about the centre of the tiles
            sums, total = x.rmatvec(c), float(c.sum())
            both = np.outer(self._centre, sums)
            gram += total * np.outer(self._centre, self._centre) - both - both.T
        return gram

    @cached_property
    def eigen(self) -> tuple[Floats, Floats]:
        """Eigenvalues and eigenvectors of Z'Z."""
        gram = (self.float64 if "float64" in self.__dict__ else self.float32)[1]
        values, vectors = eigh(gram, check_finite=False)
        return np.maximum(values, 0.0), vectors


def inverse_root(gram: Floats) -> Floats:
    """Return A with AA' = (I + gram)^-1; the diagonal of I + gram if it is singular."""
    matrix = gram.copy()
    matrix[np.diag_indices(len(matrix))] += 1.0
    size = np.sqrt(matrix.diagonal())  # equilibrated, as columns differ in scale
    try:
        factor = np.linalg.cholesky(matrix / size / size[:, None])
    except np.linalg.LinAlgError:
        return np.diag(1.0 / size)
    inverse = solve_triangular(factor, np.eye(len(matrix)), lower=True, check_finite=False)
    return np.ascontiguousarray(inverse.T / size[:, None])


@dataclass(frozen=True)
class Batch:
    """Lanes of one C.

    Parameters
    ----------
    lanes : list of Lane
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
