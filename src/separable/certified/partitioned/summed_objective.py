"""Objective, gradient and Hessian of all lanes as sums over rows, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.problem import TOGETHER
from separable.losses.row_losses import BinaryLosses
from separable.losses.smoothed import SmoothedLoss
from separable.statistics.partitions import Task

if TYPE_CHECKING:
    from separable.certified.partitioned.lane_problem import LaneProblem
    from separable.certified.problem import Problem
    from separable.linalg.design_matrix import DesignMatrix
    from separable.losses.row_losses import RowLosses, RowModel
    from separable.statistics.partitions import Batch, TaskSums
    from separable.typing import Floats

__all__ = ["SHORTER_STEPS", "LanePoint", "ObjectiveTask"]

#: Fractions of a step whose losses are known from the same pass, for the line search.
SHORTER_STEPS = (0.5, 0.25, 0.1, 0.03, 0.01, 0.003, 0.001)


@dataclass(frozen=True)
class LanePoint:
    """Weights of the scaled columns and intercepts of all lanes.

    Parameters
    ----------
    u : ndarray, shape (d, k m)
    b : ndarray, shape (k m,)
        Of the centred columns.
    smoothing : tuple of float
        The width by which the loss of each lane is smoothed; empty: not at all.
    """

    u: Floats
    b: Floats
    smoothing: tuple[float, ...] = ()

    def losses(self, problem: Problem, lanes: LaneProblem, k: int) -> RowLosses:
        """Return the losses of rows in one lane."""
        lane = lanes.lanes[k]
        if not self.smoothing or lane.target == TOGETHER:
            return problem.row_losses(lane)
        loss = SmoothedLoss.of(problem.loss, self.smoothing[k])
        return BinaryLosses(loss, problem.targets(lane), problem.costs(lane))

    def scores(self, x: DesignMatrix) -> Floats:
        """Return the scores of rows, one contiguous column for each model."""
        scores: Floats = x.matvec(self.u)
        scores += self.b
        return scores


@dataclass(frozen=True)
class ObjectiveTask(Task):
    """The losses of lanes, their gradients, and Hessians or diagonals of these.

    Parameters
    ----------
    lanes : LaneProblem
    point : LanePoint
    stride : int
        Every which row counts in the Hessian; 0: no Hessian.
    diagonal : bool
        Only the diagonal.
    step : LanePoint, optional
        The steps that led to the point: losses at fractions of these are summed, too.
    """

    lanes: LaneProblem
    point: LanePoint
    stride: int = 0
    diagonal: bool = False
    step: LanePoint | None = None

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        lanes, m = self.lanes, self.lanes.width
        k, d = len(lanes.lanes), lanes.n_features
        sums: TaskSums = {
            "loss": np.zeros(k),
            "gap": np.zeros(k),
            "size": np.zeros(k),
            "gradient": np.zeros((d, k * m)),
            "total": np.zeros(k * m),
        }
        if self.step is not None:
            sums["shorter"] = np.zeros((k, len(SHORTER_STEPS)))
        if self.stride and self.diagonal:
            sums["hessian"] = np.zeros((k, m * (d + 1)))
        elif self.stride:
            sums["hessian"] = np.zeros((k, m * (d + 1), m * (d + 1)))
        for tile, problem in lanes.tiles(batch):
            self._add(sums, tile, problem)
        return sums

    def _add(self, sums: TaskSums, tile: Batch, problem: Problem) -> None:
        m, s = self.lanes.width, self.point.scores(problem.x)
        steps = None if self.step is None else self.step.scores(problem.x)
        gradients = np.empty_like(s)
        part = None
        if self.stride:
            part = tile if self.stride == 1 else tile.take(np.arange(0, len(tile), self.stride))
            x = problem.x if self.stride == 1 else self.lanes.of_batch(part).x
        for k in range(len(self.lanes.lanes)):
            columns = slice(k * m, (k + 1) * m)
            mine = np.ascontiguousarray(s[:, columns])
            losses = self.point.losses(problem, self.lanes, k)
            model, loss = losses.evaluate(mine)
            gradients[:, columns] = model.gradient
            sums["loss"][k] += loss
            sums["size"][k] += np.abs(model.gradient).sum()
            if self.point.smoothing:
                lane = problem.row_losses(self.lanes.lanes[k])
                sums["gap"][k] += lane.gap(-model.gradient, mine)
            if steps is not None:
                back = np.ascontiguousarray(steps[:, columns])
                sums["shorter"][k] += [
                    losses.total(mine - (1.0 - fraction) * back) for fraction in SHORTER_STEPS
                ]
            if part is not None:
                sums["hessian"][k] += self._hessian(x, model)
        sums["gradient"] += problem.x.rmatvec(gradients)
        sums["total"] += gradients.sum(axis=0)

    def _hessian(self, x: DesignMatrix, model: RowModel) -> Floats:
        """Return the Hessian in weights and intercept, class after class."""
        m, size, step = self.lanes.width, self.lanes.n_features + 1, self.stride
        curvature = np.ascontiguousarray(model.curvature[::step]) * step
        if self.diagonal:
            diagonal = np.vstack([x.squared_norms(curvature), curvature.sum(axis=0)])
            return diagonal.T.ravel()
        whole = np.empty((m, size, m, size))
        for k in range(m):
            whole[k, :, k] = _bordered(x, np.ascontiguousarray(curvature[:, k]))
            for other in range(k):
                both = -_bordered(x, step * model.coupling(k, other)[::step])
                whole[k, :, other] = whole[other, :, k] = both
        return whole.reshape(m * size, m * size)


def _bordered(x: DesignMatrix, c: Floats) -> Floats:
    """Return Z'CZ with a last row and column for the intercept."""
    d = x.shape[1]
    matrix = np.empty((d + 1, d + 1))
    matrix[:d, :d] = x.gram(c)
    matrix[d, :d] = matrix[:d, d] = x.rmatvec(c)
    matrix[d, d] = c.sum()
    return matrix
