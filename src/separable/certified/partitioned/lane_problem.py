"""Regularized problems of rows in partitions: `Problem` without the rows.

Lanes, columns, value and penalty are those of `certified.problem`; `LaneProblem.of_batch` gives the
problem of some rows. Columns are centred and scaled by sums of one pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.number_range import LARGEST_CELL, inverse_scales
from separable.certified.problem import TOGETHER, Columns, Lane, Problem, RowSize, column_ranges
from separable.data.rows import core_rows
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.statistics.partitions import Task
from separable.statistics.row_sample import SAMPLE_BYTES, RowSample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.losses.loss import Loss
    from separable.statistics.partitions import Batch, Partitions, TaskSums
    from separable.typing import Floats, Indices

__all__ = ["ColumnTask", "LaneProblem", "column_sums"]

#: Cells of a tile of rows: of its values, and of the scores of all lanes.
TILE = 1 << 20
#: Values up to 2^RANGE and down to 2^-RANGE are taken as they are (as in `preparation`).
RANGE, MOST = 40, 500
#: A column whose standard deviation is below this share of its mean is constant.
CONSTANT = 1e-15


@dataclass(frozen=True)
class ColumnTask(Task):
    """Means, squares and ranges of columns and targets, weights of classes by fold, and a sample.

    Parameters
    ----------
    n_classes : int
        0: the target is numeric.
    n_folds : int
    sample_bytes : int
        Of the sample.
    """

    n_classes: int = 0
    n_folds: int = 0
    sample_bytes: int = SAMPLE_BYTES

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        n, weight = len(batch), batch.weight
        c = np.ones(n) if weight is None else np.asarray(weight, np.float64)
        mean, squares, low, high, terms = _of_columns(batch, c)
        sample = np.empty(1, dtype=object)
        sample[0] = RowSample.of(batch, self.sample_bytes)
        sums: TaskSums = {
            "sample": sample,
            "rows": np.array([n]),
            "longest": np.array([n]),
            "batches": np.array([1]),
            "terms": np.array([terms]),
            "weight": np.array([c.sum()]),
            "mean": mean,
            "squares": squares,
            "low": low,
            "high": high,
        }
        if self.n_classes:
            fold = np.zeros(n, np.int64) if batch.fold is None else batch.fold.astype(np.int64)
            cell = fold * self.n_classes + batch.y
            size = max(1, self.n_folds) * self.n_classes
            sums["classes"] = np.bincount(cell, c, size).reshape(-1, self.n_classes)
        else:
            y = np.asarray(batch.y, np.float64)
            middle = float(c @ y) / max(float(c.sum()), 1e-300)
            sums["y_mean"] = np.array([middle])
            sums["y_squares"] = np.array([c @ (y - middle) ** 2])
        return sums

    def merge(self, total: TaskSums, part: TaskSums) -> TaskSums:
        """Merge means and squares as Chan, Golub and LeVeque (1979) do."""
        both = total["weight"] + part["weight"]
        share = part["weight"] / np.maximum(both, 1e-300)
        for mean, squares in (("mean", "squares"), ("y_mean", "y_squares")):
            if mean in total:
                away = part[mean] - total[mean]
                total[squares] = total[squares] + part[squares] + total["weight"] * share * away**2
                total[mean] = total[mean] + share * away
        total["low"] = np.minimum(total["low"], part["low"])
        for name in ("high", "terms", "longest"):
            total[name] = np.maximum(total[name], part[name])
        for name in ("rows", "batches", "classes", "sample"):
            if name in total:
                total[name] = total[name] + part[name]
        total["weight"] = both
        return total


def _of_columns(batch: Batch, c: Floats) -> tuple[Floats, Floats, Floats, Floats, int]:
    """Return mean, squares about it, least and largest value of each column, and the row length."""
    rows, total = batch.rows, max(float(c.sum()), 1e-300)
    d = rows.n_features
    if rows.indptr is None or rows.indices is None:
        if not len(batch):
            return np.zeros(d), np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf), d
        mean, low, high = column_ranges(core_rows(rows), c)
        squares = np.zeros(d)
        for tile in batch.tiles(max(1, TILE // max(1, d))):
            away = tile.rows.values - mean
            squares += (np.ones(len(tile)) if tile.weight is None else tile.weight) @ (away * away)
        return mean, squares, low, high, d
    lengths = np.diff(rows.indptr)
    mine = np.repeat(c, lengths)
    mean = np.bincount(rows.indices, mine * rows.values, d) / total
    absent = np.maximum(total - np.bincount(rows.indices, mine, d), 0.0)
    away = rows.values - mean[rows.indices]
    squares = np.bincount(rows.indices, mine * away**2, d) + absent * mean**2
    largest = float(np.abs(rows.values).max(initial=0.0))
    low, high = np.full(d, -largest), np.full(d, largest)
    return mean, squares, low, high, int(lengths.max(initial=0))


def column_sums(partitions: Partitions, n_classes: int = 0, n_folds: int = 0) -> TaskSums:
    """Return the sums of `ColumnTask`, from one pass; refuse values whose sums overflow."""
    sample_bytes = min(SAMPLE_BYTES, 4 * partitions.most_numbers)  # half of what there may be
    sums = partitions.sums(ColumnTask(n_classes, n_folds, sample_bytes))
    far = np.maximum(sums["high"], -sums["low"])
    if float(far.max(initial=0.0)) > LARGEST_CELL:
        column = int(far.argmax())
        raise ValueError(
            f"Column {column} of X holds {far[column]:g}: sums of values above {LARGEST_CELL:.0e} "
            "are beyond the range of float64. Divide the column by its size."
        )
    return sums


@dataclass(frozen=True)
class LaneProblem:
    """Loss, penalty and lanes, in the columns z = (x - shift) scale.

    Parameters
    ----------
    loss : Loss
    lanes : tuple of Lane
        All `TOGETHER`, or none.
    size : RowSize
        Bounds on the size of all rows.
    n_added : int
        Upper bound of the additions of a sum over rows, one after the other.
    columns : Columns
    value : float
    penalty : ElasticNetPenalty
    fit_intercept : bool
    n_classes : int
    """

    loss: Loss
    lanes: tuple[Lane, ...]
    size: RowSize
    n_added: int
    columns: Columns = field(default_factory=Columns)
    value: float = 1.0
    penalty: ElasticNetPenalty = field(default_factory=ElasticNetPenalty)
    fit_intercept: bool = True
    n_classes: int = 2

    @staticmethod
    def prepare(
        sums: TaskSums,
        loss: Loss,
        lanes: Sequence[Lane],
        *,
        is_sparse: bool,
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty: ElasticNetPenalty | None = None,
        n_classes: int = 2,
    ) -> LaneProblem:
        """Return the problem of rows with the given sums, centred and scaled as in memory."""
        mean, total = sums["mean"], float(sums["weight"][0])
        shift = mean if fit_intercept and not is_sparse else None
        low, high = (
            each if shift is None else each - shift for each in (sums["low"], sums["high"])
        )
        extent = np.maximum(high, -low)
        value, scale = 1.0, None
        if standardize:
            deviation = np.sqrt(sums["squares"] / total)
            scale = inverse_scales(np.where(deviation > CONSTANT * np.abs(mean), deviation, 0.0))
        else:
            exponent = math.frexp(float(extent.max(initial=0.0)) or 1.0)[1]
            if abs(exponent) > RANGE:
                unit = math.ldexp(1.0, -min(max(exponent, -MOST), MOST))
                scale, value = np.full(len(mean), unit), unit * unit
        columns = Columns(shift, scale)
        return LaneProblem(
            loss,
            tuple(lanes),
            _row_size(columns, extent, int(sums["terms"][0]), is_sparse=is_sparse),
            int(sums["longest"][0] + sums["batches"][0]),
            columns,
            value,
            ElasticNetPenalty() if penalty is None else penalty,
            fit_intercept,
            n_classes,
        )

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.size.extent)

    @property
    def width(self) -> int:
        """Scores of a row in each lane: 1, or K if classes are learned jointly."""
        return self.n_classes if self.lanes[0].target == TOGETHER else 1

    @property
    def column_penalty(self) -> ElasticNetPenalty:
        """The penalty of the scaled columns, divided by ``value``."""
        return replace(self.penalty, unit=math.sqrt(self.value))

    def with_lanes(self, index: Sequence[int] | Indices) -> LaneProblem:
        """Return the problem of some of the lanes."""
        return replace(self, lanes=tuple(self.lanes[k] for k in index))

    def of_batch(self, batch: Batch) -> Problem:
        """Return the problem of some rows."""
        return Problem(
            batch.rows,
            self.loss,
            batch.y,
            batch.weight,
            batch.fold,
            self.fit_intercept,
            self.columns,
            self.value,
            self.penalty,
            self.n_classes,
            self.size.extent,
        )

    def tiles(self, batch: Batch) -> Iterator[tuple[Batch, Problem]]:
        """Yield tiles of a batch that fit the cache, and their problems."""
        cells = max(
            self.n_features if not batch.rows.is_sparse else 1, self.width * len(self.lanes)
        )
        for tile in batch.tiles(max(64, TILE // cells)):
            yield tile, self.of_batch(tile)


def _row_size(columns: Columns, extent: Floats, terms: int, *, is_sparse: bool) -> RowSize:
    """Bound rows by the extents of their columns, as `RowSize.of` does."""
    seen: Any = extent if columns.scale is None else extent * columns.scale
    largest = float(seen.max(initial=0.0))
    length = math.sqrt(terms) * largest if is_sparse else float(np.linalg.norm(seen))
    far = extent if columns.shift is None else extent + np.abs(columns.shift)
    return RowSize(extent, length, largest, far, terms)
