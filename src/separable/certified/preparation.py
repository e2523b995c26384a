"""Preprocessing of checked rows into a problem: centring, standardization, common scale."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separable.certified.number_range import LARGEST_CELL, check_cells, inverse_scales
from separable.certified.problem import Columns, Problem, column_ranges, extents, extents_about
from separable.data.rows import Rows, core_rows
from separable.linalg.design_matrix import dense_blocks
from separable.losses.loss import Loss
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.typing import Floats

#: Values up to 2^RANGE and down to 2^-RANGE are taken as they are; their squares fit a float32.
RANGE = 40
#: Exponents of a power of two whose square is a number, or that is one itself.
SQUARED, PLAIN = 500, 1000
#: A column whose standard deviation is below this share of its mean is constant.
CONSTANT = 1e-15


def without_duplicates(rows: Rows) -> Rows:
    """Return rows in which no column stands twice, as norms need it."""
    if not rows.is_sparse or not core_rows(rows).has_repeats():
        return rows
    matrix = rows.to_matrix().copy()
    matrix.sum_duplicates()
    return Rows(matrix.data, rows.n_features, matrix.indices, matrix.indptr)


def prepare(
    rows: Rows,
    loss: Loss,
    target: NDArray[np.int32] | Floats,
    weight: Floats | None,
    *,
    fit_intercept: bool,
    standardize: bool,
    penalty: ElasticNetPenalty | None = None,
    n_classes: int = 2,
    most: int = SQUARED,
) -> Problem:
    """Return the problem of rows without duplicates.

    Dense columns are centred where there is an intercept, which changes nothing but rounding.
    ``most`` bounds the exponent of the common power of two, whose square is the problem's value.
    """
    shift, extent = _mean_and_extent(rows, weight, fit_intercept=fit_intercept)
    value = 1.0
    scale: Floats | None = None
    if standardize:
        scale = inverse_scales(column_scales(rows, weight, shift))
    else:
        size = math.frexp(float(extent.max(initial=0.0)) or 1.0)[1]
        if abs(size) > RANGE:
            unit = math.ldexp(1.0, -min(max(size, -most), most))
            scale, value = np.full(rows.n_features, unit), unit * unit
    return Problem(
        rows,
        loss,
        target,
        weight,
        fit_intercept=fit_intercept,
        columns=Columns(shift, scale),
        value=value,
        penalty=ElasticNetPenalty() if penalty is None else penalty,
        n_classes=n_classes,
        extent=extent,
    )


def _mean_and_extent(
    rows: Rows, weight: Floats | None, *, fit_intercept: bool
) -> tuple[Floats | None, Floats]:
    """Return the shift of the columns and max |x - shift|; refuse cells whose sums overflow."""
    if rows.is_sparse:
        check_cells(rows)
        return None, extents(rows, None)
    mean, low, high = column_ranges(core_rows(rows), weight)
    if max(float(high.max()), -float(low.min())) > LARGEST_CELL:
        check_cells(rows)  # names the cell
    shift = mean if fit_intercept else None
    return shift, extents_about(low, high, shift)


def level_target(problem: Problem) -> Problem:
    """Return the problem of squared errors with the mean of the target taken off.

    It is part of the intercept in any case; off, it takes no digits from what is left.
    """
    if not problem.loss.is_quadratic or not problem.fit_intercept:
        return problem
    target = np.asarray(problem.target, dtype=np.float64)
    away, weight = target - target[0], problem.weight
    mean = away.mean() if weight is None else np.average(away, weights=weight)
    level = float(target[0] + mean)
    if not math.isfinite(level):
        return problem
    columns = replace(problem.columns, level=problem.columns.level + level)
    return replace(problem, target=target - level, columns=columns)


def column_scales(rows: Rows, weight: Floats | None, mean: Floats | None = None) -> Floats:
    """Return the standard deviation of each column, with 1/n; 0 where it is constant."""
    if mean is None:
        mean = _means(rows, weight)
    total = rows.n_rows if weight is None else float(weight.sum())
    # squares neither overflow nor vanish
    extent = np.maximum(extents(rows, None), np.finfo(np.float64).tiny)
    unit = np.ldexp(1.0, np.frexp(extent)[1])
    mean = mean / unit
    if rows.indptr is None or rows.indices is None:
        sums = np.zeros(rows.n_features)
        for start, block in dense_blocks(rows):
            away = block / unit - mean
            away *= away
            sums += (
                away.sum(axis=0) if weight is None else weight[start : start + len(block)] @ away
            )
        deviation = np.sqrt(sums / total)
    else:
        mine = np.repeat(np.ones(rows.n_rows) if weight is None else weight, np.diff(rows.indptr))
        apart = rows.values / unit[rows.indices] - mean[rows.indices]
        d = rows.n_features
        squares = np.bincount(rows.indices, weights=mine * apart**2, minlength=d)
        absent = np.maximum(total - np.bincount(rows.indices, weights=mine, minlength=d), 0.0)
        deviation = np.sqrt((squares + absent * mean**2) / total)
    return np.where(deviation > CONSTANT * np.abs(mean), deviation * unit, 0.0)


def _means(rows: Rows, weight: Floats | None) -> Floats:
    if rows.indptr is None or rows.indices is None:
        mean: Floats = column_ranges(core_rows(rows), weight)[0]
        return mean
    total = rows.n_rows if weight is None else float(weight.sum())
    mine: Floats = np.asarray(rows.values, dtype=np.float64)
    if weight is not None:
        mine = mine * np.repeat(weight, np.diff(rows.indptr))
    return np.bincount(rows.indices, weights=mine, minlength=rows.n_features) / total
