"""Regularized empirical risk minimization: one design matrix, one model a lane.

Each lane minimises, over weights u of the scaled columns z = (x - shift) scale and an intercept b,

    value (penalty(u) + sum_i c_i loss(y_i, u.z_i + b)),   c_i = C weight_i / value

with its own positive class, C and fold; c_i = 0 for held-out rows. The penalty is 1/2 |u|^2 or an
elastic net. With standardization, scale is 1 / standard deviation and ``value`` is 1. Without it,
scale is a common power of two with square ``value``: this is the objective of the raw weights w =
scale u, with the l1 weight divided by sqrt(value).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native, portable
from separable.certified.number_range import check_objective
from separable.data.rows import Rows, core_rows
from separable.linalg.design_matrix import DesignMatrix, design_matrix
from separable.linalg.row_space import compact
from separable.losses.loss import Loss
from separable.losses.row_losses import BinaryLosses, RowLosses, SoftmaxLosses
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.typing import Floats

#: Problems with at most this many cells are solved to rounding, whatever tol is.
SMALL = 1_000_000
#: Problems with at most this many cells times models are solved to rounding at the default tol.
TINY = 20_000
#: The largest alpha times total weight, and the inverse of the smallest, that float64 can handle.
LARGEST = 1e300
#: The target of a multinomial lane, which learns all classes jointly.
TOGETHER = -1


@dataclass(frozen=True)
class Lane:
    """One model of a problem: its C, positive class and held-out fold.

    Parameters
    ----------
    C : float
        Inverse regularization strength; inf: no penalty.
    target : int
        The positive class, one-vs-rest, or `TOGETHER`; unused in regression.
    fold : int
        The held-out fold; -1: none.
    """

    C: float
    target: int = 1
    fold: int = -1


@dataclass(frozen=True)
class Columns:
    """The affine map of the columns: z = (x - shift) scale.

    Parameters
    ----------
    shift : ndarray, shape (d,), or None
        Dense rows only; None: 0.
    scale : ndarray, shape (d,), or None
        None: 1.
    level : float
        The offset subtracted from the target, part of the intercept.
    """

    shift: Floats | None = None
    scale: Floats | None = None
    level: float = 0.0

    def raw(self, u: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return the weights, shape (d, k), and intercepts, shape (k,), for the raw columns."""
        w = u if self.scale is None else u * self.scale[:, None]
        if self.shift is not None:  # one by one: BLAS sums columns of wider arrays in another order
            b = b - np.array([each @ self.shift for each in np.ascontiguousarray(w.T)])
        return w, b + self.level if self.level else b

    def seen(self, w: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return u and b for given raw weights, shape (d, k), and intercepts.

        Examples
        --------
        >>> columns = Columns(np.array([3.0]), np.array([0.5]))
        >>> columns.raw(*columns.seen(np.array([[2.0]]), np.array([1.0])))
        (array([[2.]]), array([1.]))
        """
        u = self.seen_weights(w)
        b = b - self.level if self.level else b
        return u, b if self.shift is None else b + self.shift @ w

    def seen_weights(self, w: Floats) -> Floats:
        """Return u for given raw weights, shape (d, k)."""
        if self.scale is None:
            return w
        scale = self.scale[:, None]
        return np.divide(w, scale, out=np.zeros_like(w), where=scale > 0)


@dataclass(frozen=True)
class RowSize:
    """Bounds on the size of the rows, for bounds on rounding errors.

    Parameters
    ----------
    extent : ndarray, shape (d,)
        Upper bounds of |x - shift| for each column.
    length, largest : float
        Upper bounds of |z_i| and |z_ij|, in the scaled columns.
    far : ndarray, shape (d,)
        Upper bounds of |x| for each column.
    terms : int
        Maximum number of stored values of a row.
    """

    extent: Floats
    length: float
    largest: float
    far: Floats
    terms: int

    @staticmethod
    def of(rows: Rows, columns: Columns, extent: Floats) -> RowSize:
        """Bound rows by the extents of their columns."""
        unit = 1.0 if columns.scale is None else float(columns.scale.max(initial=0.0))
        if rows.indptr is not None:
            terms = int(np.diff(rows.indptr).max(initial=0))
            largest = float(extent.max(initial=0.0)) * unit
            length = math.sqrt(terms) * largest
        else:
            seen, terms = extent, rows.n_features
            if columns.scale is not None:
                seen = extent * columns.scale
            largest = float(seen.max(initial=0.0))
            length = _norm(seen, largest)
        far = extent if columns.shift is None else extent + np.abs(columns.shift)
        return RowSize(extent, length, largest, far, terms)


def _norm(x: Floats, most: float) -> float:
    """Return the Euclidean norm of numbers from 0 to ``most`` whose squares may overflow."""
    if not 0 < most < np.inf:
        return most
    x = x / most
    return most * math.sqrt(float(x @ x))


def extents(rows: Rows, shift: Floats | None) -> Floats:
    """Return max |x - shift| of each column; for sparse rows the maximum of all columns."""
    if rows.values.size == 0:
        return np.zeros(rows.n_features)
    if rows.is_sparse:
        return np.full(rows.n_features, float(max(rows.values.max(), -rows.values.min())))
    _, low, high = column_ranges(core_rows(rows))
    return extents_about(low, high, shift)


def extents_about(low: Floats, high: Floats, shift: Floats | None) -> Floats:
    """Return max |x - shift| of columns between ``low`` and ``high``."""
    if shift is not None:
        high, low = high - shift, low - shift
    largest: Floats = np.maximum(high, -low)
    return largest


def column_ranges(rows: portable.Rows, weight: Floats | None = None) -> Floats:
    """Return the mean, the least and the largest value of each dense column, from one pass."""
    ranges = np.empty((3, rows.n_features))
    native.column_ranges(rows, weight, *ranges)
    return ranges


@dataclass(frozen=True)
class Problem:
    """Rows, targets, loss and penalty of one or more models.

    Parameters
    ----------
    rows : Rows
        Finite; sparse rows have no duplicate columns.
    target : ndarray of int32 or float64, shape (n,)
        Class codes, or the values to predict.
    weight : ndarray, shape (n,), or None
        Positive sample weights.
    fold : ndarray of int32, shape (n,), or None
    n_classes : int
        K of multinomial lanes; unused otherwise.
    extent : ndarray, shape (d,), or None
        Known upper bounds of |x - shift| for each column.
    """

    rows: Rows
    loss: Loss
    target: NDArray[np.int32] | Floats
    weight: Floats | None = None
    fold: NDArray[np.int32] | None = None
    fit_intercept: bool = True
    columns: Columns = field(default_factory=Columns)
    value: float = 1.0
    penalty: ElasticNetPenalty = field(default_factory=ElasticNetPenalty)
    n_classes: int = 2
    extent: Floats | None = None

    @cached_property
    def core(self) -> portable.Rows:
        """The rows in the format of the compiled core."""
        return core_rows(self.rows)

    @cached_property
    def x(self) -> DesignMatrix:
        """The design matrix Z."""
        return design_matrix(self.rows, self.columns.shift, self.columns.scale)

    @cached_property
    def compact_x(self) -> DesignMatrix:
        """The design matrix of solvers that factor m x m systems."""
        return compact(self.x, centred=self.fit_intercept)

    @cached_property
    def size(self) -> RowSize:
        """Bounds on the size of the rows."""
        extent = extents(self.rows, self.columns.shift) if self.extent is None else self.extent
        return RowSize.of(self.rows, self.columns, extent)

    @cached_property
    def column_penalty(self) -> ElasticNetPenalty:
        """The penalty of the scaled columns, divided by ``value``."""
        if self.value == self.penalty.unit == 1:
            return self.penalty
        return replace(self.penalty, unit=math.sqrt(self.value))

    @property
    def is_small(self) -> bool:
        """Whether it is solved to rounding, whatever tol is."""
        return self.is_small_for(1)

    def is_small_for(self, n_models: int) -> bool:
        """Return whether calls from Python take a good part of the time of models."""
        return self.rows.n_rows * self.rows.n_features * n_models <= SMALL

    def is_tiny(self, n_models: int = 1) -> bool:
        """Return whether models are solved to rounding at the default tol.

        Then equal problems written in other ways, weights for repeated rows for example, agree to
        more digits than the tolerance: scikit-learn's checks compare weights to seven digits.
        """
        return self.rows.n_rows * self.rows.n_features * n_models <= TINY

    @property
    def is_regression(self) -> bool:
        """Whether the target is numeric."""
        return self.target.dtype == np.float64

    # ------------------------------------------------------------------ lanes

    def alpha_lane(self, alpha: float, target: int = 1, fold: int = -1) -> Lane:
        """Return the lane that minimises mean loss + alpha penalty, after division by alpha.

        The mean is the weighted mean over the training rows.
        """
        weight = np.ones(self.rows.n_rows) if self.weight is None else self.weight
        total = float((weight if self.fold is None else weight[self.fold != fold]).sum())
        if not 1.0 / LARGEST <= alpha * total <= LARGEST:
            raise ValueError(
                f"alpha={alpha:g} times the weight of all rows, {total:g}, is beyond the range of "
                "numbers. Choose an alpha closer to 1, or X and y in other units."
            )
        check_objective(self, 1.0 / alpha, f"alpha={alpha:g}")
        return Lane(1.0 / (alpha * total), target, fold)

    def targets(self, lane: Lane) -> Floats:
        """Return y of each row: +1 or -1, or the numeric target."""
        if self.is_regression:
            return np.asarray(self.target, dtype=np.float64)
        return np.where(self.target == lane.target, 1.0, -1.0)

    def costs(self, lane: Lane) -> Floats:
        """Return the cost c_i of each row."""
        c = np.full(self.rows.n_rows, lane.C / self.value)
        if self.weight is not None:
            c *= self.weight
        if self.fold is not None:
            c[self.fold == lane.fold] = 0.0
        return c

    def row_losses(self, lane: Lane) -> RowLosses:
        """Return the losses of all rows as functions of their scores."""
        if lane.target == TOGETHER:
            return self.softmax_losses(lane)
        return BinaryLosses(self.loss, self.targets(lane), self.costs(lane))

    def softmax_losses(self, lane: Lane) -> SoftmaxLosses:
        """Return those of a multinomial lane."""
        label = self.target.astype(np.int32, copy=False)
        return SoftmaxLosses(label, self.costs(lane), self.n_classes)

    def in_lanes(self, lanes: Sequence[Lane]) -> native.LaneTargets:
        """Return the targets and costs of all lanes in the format of the compiled core."""
        last = self.__dict__.get("_last_lanes")  # solver and certificate ask for the same lanes
        if last is not None and (last[0] is lanes or last[0] == lanes):
            made: native.LaneTargets = last[1]
            return made
        target: Any = self.target
        label, number = (None, target) if self.is_regression else (target, None)
        made = native.LaneTargets(
            self.loss.name,
            getattr(self.loss, "epsilon", 0.0),
            label,
            number,
            self.weight,
            self.fold,
            np.array([lane.target for lane in lanes], np.int32),
            np.array([lane.fold for lane in lanes], np.int32),
            np.array([lane.C / self.value for lane in lanes]),
        )
        self.__dict__["_last_lanes"] = list(lanes), made
        return made
