"""Gram matrices of folds, from ``Moments``.

This is the only place where certified learners use the sums of the moment learners.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separable.certified.gram.gram_problem import GramProblem
from separable.data.resources import available_bytes
from separable.data.rows import Rows
from separable.fitting.splits import Split
from separable.fitting.targets import RowWeights
from separable.statistics.held_out import (
    gap_of_means,
    holds_out_each_once,
    merged_folds,
    squared_errors,
)
from separable.statistics.moments import Moments
from separable.statistics.sums import products_about
from separable.statistics.weighted_rows import Data
from separable.typing import Floats

#: Sums held at once, times the number of folds.
MATRICES = 3.5


@dataclass(frozen=True)
class FoldSums:
    """The sums of a fold.

    Parameters
    ----------
    learned, held_out : Moments
        Of the rows to learn from, and of the others.
    """

    fold: int
    learned: Moments
    held_out: Moments


def _no_sums() -> Moments:
    return Moments("numbers")


def _data(rows: Rows, target: Floats, weight: Floats | None) -> Data:
    counted = RowWeights()
    if weight is not None:
        present = np.flatnonzero(weight > 0)
        counted = RowWeights(None if len(present) == len(weight) else present, weight)
    return Data(rows, target, counted, rows)


def sums_of(rows: Rows, target: Floats, weight: Floats | None) -> Moments:
    """Return the sums of all rows."""
    return _no_sums().add_data(_data(rows, target, weight), is_whole=True)


class SummedFolds:
    """The sums of what each fold learns from and holds out.

    Where every row is held out once the rows are read once: what a fold learns from is merged from
    the sums of the others.

    Parameters
    ----------
    target : ndarray, shape (n,)
    weight : ndarray, shape (n,), or None
    """

    def __init__(
        self, rows: Rows, target: Floats, weight: Floats | None, splits: Sequence[Split]
    ) -> None:
        self._data, self._splits = _data(rows, target, weight), splits
        self._parts: tuple[list[Moments], list[Moments]] | None = None
        p = rows.n_features + 1
        if len(splits) > 1 and MATRICES * len(splits) * p * p * 8 <= available_bytes():
            self._sum_parts()

    def _sum_parts(self) -> None:
        """Sum what every fold learns from and holds out."""
        held_out = [self._sum(split.test) for split in self._splits]
        if all(split.is_complement for split in self._splits) and holds_out_each_once(
            [split.test for split in self._splits], self._data.rows.n_rows
        ):
            learned, self.total = merged_folds(held_out)
        else:
            learned = [self._sum(split.train) for split in self._splits]
        self._parts = learned, held_out

    def _sum(self, chosen: NDArray[np.intp] | None = None) -> Moments:
        return _no_sums().add_data(self._data, chosen)

    @cached_property
    def total(self) -> Moments:
        """The sums of all rows."""
        return self._sum()

    def of_fold(self, fold: int) -> FoldSums:
        """Return the sums of one fold."""
        split = self._splits[fold]
        if self._parts is not None:
            learned, held_out = (part[fold] for part in self._parts)
        else:
            whole = split.n_train == split.n_rows and split.is_complement
            learned = self.total if whole else self._sum(split.train)
            held_out = self._sum(split.test)
        if learned.is_empty:
            raise ValueError(f"All rows that fold {fold} trains on have weight 0.")
        return FoldSums(fold, learned, held_out)


def gram_problem(moments: Moments, *, fit_intercept: bool, standardize: bool) -> GramProblem:
    """Return the correlations of columns and target.

    Parameters
    ----------
    moments : Moments
        With one number a row as the target.
    fit_intercept : bool
        About the means; else about 0.
    standardize : bool
        Penalise weights times the standard deviation of their column.
    """
    sums, d = moments.sums, moments.n_features
    with np.errstate(over="ignore", invalid="ignore"):
        products, constant = products_about(sums, d, mean=fit_intercept)
    weight = float(sums.weight[0])
    if not np.isfinite(products).all():
        column = int(np.argmin(np.isfinite(np.diagonal(products))))
        raise ValueError(
            f"Sums of squares of {'y' if column == d else f'column {column} of X'} about 0 are "
            "beyond the range of float64. Divide it by its size, or use fit_intercept=True."
        )
    length = np.sqrt(np.diagonal(products) / weight)
    length[:d][constant] = 0.0
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    correlations = products / weight * inverse * inverse[:, None]
    gram = np.ascontiguousarray(correlations[:d, :d])
    np.fill_diagonal(gram, (length[:d] > 0).astype(np.float64))
    raw = length / sums.scale
    penalised = np.ones(d)
    if standardize:
        deviation = np.sqrt(np.diagonal(sums.scatter)[:d] / weight) / sums.scale[:d]
        penalised = np.where(products_about(sums, d, mean=True)[1], 0.0, deviation)
        gram[penalised == 0] = 0.0
        gram[:, penalised == 0] = 0.0
    return GramProblem(
        gram,
        np.where(penalised > 0, correlations[:d, d], 0.0),
        raw[:d],
        float(raw[d]),
        sums.means[0, :d],
        float(sums.means[0, d]),
        penalised,
        fit_intercept,
    )


def held_out_errors(
    sums: FoldSums, weights: Floats, *, fit_intercept: bool
) -> tuple[Floats, Floats]:
    """Return the mean squared errors of the rows held out, and the share of digits left.

    Parameters
    ----------
    weights : ndarray, shape (K, d)

    Returns
    -------
    errors, share : ndarray, shape (K,)
        Where a share is small the rows have to be asked.
    """
    d = weights.shape[1]
    held_out, gap = gap_of_means(sums.learned.sums, sums.held_out.sums, fit_intercept=fit_intercept)
    unit = float(held_out.scale[d])
    scaled = weights * (unit / held_out.scale[:d])
    squares, share = squared_errors(held_out, gap, np.arange(d), scaled[:, None, :])
    return squares[:, 0] / held_out.weight[0] / math.pow(unit, 2), share
