"""Losses of held-out rows for many models, as sums over rows from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.linalg.design_matrix import design_matrix
from separable.losses import softmax
from separable.losses.loss import LOGISTIC
from separable.statistics.partitions import Task

if TYPE_CHECKING:
    from separable.model.linear_model import Link
    from separable.statistics.partitions import Batch, Partitions, TaskSums
    from separable.typing import Floats

__all__ = ["ALL_ROWS", "FoldModels", "HeldOutTask", "held_out_means"]

#: Instead of a fold: every row is held out, as of a test set.
ALL_ROWS = -2
#: Scores of a tile of rows.
TILE = 1 << 20


@dataclass(frozen=True)
class FoldModels:
    """Models with the fold that each was not trained on.

    Parameters
    ----------
    weights : ndarray, shape (d, k m)
        Of m scores a model.
    intercept : ndarray, shape (k m,)
    folds : tuple of int
        k folds, or `ALL_ROWS`.
    link : str
        The link of the scores.
    """

    weights: Floats
    intercept: Floats
    folds: tuple[int, ...]
    link: Link

    @property
    def width(self) -> int:
        """Scores of each model."""
        return len(self.intercept) // len(self.folds)


@dataclass(frozen=True)
class HeldOutTask(Task):
    """Weights, losses and errors of the rows that each model holds out.

    Losses are log losses, of the link "score" hinge-free 0, of numbers squared errors; errors are
    wrong classes, or absolute errors.

    Parameters
    ----------
    models : FoldModels
    """

    models: FoldModels

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        models, m = self.models, self.models.width
        k = len(models.folds)
        sums: TaskSums = {name: np.zeros(k) for name in ("weight", "loss", "error")}
        for tile in batch.tiles(max(64, TILE // max(1, k * m))):
            scores = design_matrix(tile.rows).matvec(models.weights) + models.intercept
            c = np.ones(len(tile)) if tile.weight is None else tile.weight
            for lane, fold in enumerate(models.folds):
                weight = c if fold == ALL_ROWS or tile.fold is None else c * (tile.fold == fold)
                s = np.ascontiguousarray(scores[:, lane * m : (lane + 1) * m])
                sums["weight"][lane] += weight.sum()
                self._add(sums, lane, tile, s, weight)
        return sums

    def _add(self, sums: TaskSums, lane: int, tile: Batch, s: Floats, weight: Floats) -> None:
        if tile.y.dtype == np.float64:
            away = tile.y - s[:, 0]
            sums["loss"][lane] += weight @ away**2
            sums["error"][lane] += weight @ np.abs(away)
            return
        y = np.ascontiguousarray(tile.y, dtype=np.int32)
        predicted = s.argmax(axis=1) if s.shape[1] > 1 else (s[:, 0] > 0).astype(np.int32)
        sums["error"][lane] += weight @ (predicted != y)
        if s.shape[1] > 1 and self.models.link == "softmax":
            sums["loss"][lane] += weight @ softmax.losses(y, s)
        elif self.models.link in ("logistic", "softmax"):
            sums["loss"][lane] += LOGISTIC.total(np.where(y == 1, 1.0, -1.0), s[:, 0], weight)


def held_out_means(partitions: Partitions, models: FoldModels) -> tuple[Floats, Floats]:
    """Return the mean loss and the mean error of each model, (k,) each; NaN without rows."""
    sums = partitions.sums(HeldOutTask(models))
    weight = np.where(sums["weight"] > 0, sums["weight"], np.nan)
    return sums["loss"] / weight, sums["error"] / weight
