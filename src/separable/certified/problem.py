"""A convex problem over rows, and the many models, one a lane, that are learned from it.

In each lane, over weights u of the problem's columns z = (x - shift) scale, and b,

    minimise  value (penalty(u) + sum_i c_i loss(y_i, u.z_i + b)),   c_i = C weight_i / value

with its own class, C and fold: c_i is 0 for rows held out. The penalty is 1/2 |u|^2, or a mixture
with |u|_1 (`Penalty`). Without standardisation the columns are as they were but for a common power
of two, whose square is ``value``; then it is the objective of raw weights w = scale u, if |u|_1
costs 1 / sqrt(value) as much. With it, scale is 1 / standard deviation and value is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native, portable
from separable.certified.number_range import check_objective
from separable.data.core_rows import core_rows
from separable.linalg.blas import aligned_zeros

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.losses.base import Loss
    from separable.typing import Floats


__all__ = [
    "BLOCK",
    "TOGETHER",
    "Columns",
    "Lane",
    "Penalty",
    "Problem",
    "RowSize",
    "dense_blocks",
    "extents",
    "in_lines",
]

#: Numbers of a block of rows that is read, centred or written out at a time.
BLOCK = 1 << 16
#: Numbers of a problem that is small enough to be solved to rounding, whatever was asked.
SMALL = 1_000_000
#: An alpha that is larger, or smaller than its inverse, leaves too few numbers for sums of losses.
LARGEST = 1e300
#: Doubles of a cache line.
LINE = 8
#: The target of a lane that learns all classes together.
TOGETHER = -1


def in_lines(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers by lane, shape (m, k), with zeros up to whole lines; one lane stays alone.

    Examples
    --------
    >>> in_lines(np.ones((2, 3))).shape, in_lines(np.ones((2, 1))).shape
    ((2, 8), (2, 1))
    """
    m, k = numbers.shape
    if k == 1 or (k % LINE == 0 and numbers.flags.c_contiguous):
        return np.ascontiguousarray(numbers)
    wide = aligned_zeros((m, -(-k // LINE) * LINE), numbers.dtype)
    wide[:, :k] = numbers
    return wide


def dense_blocks(rows: Rows) -> Iterator[tuple[int, Floats]]:
    """Yield blocks of dense rows in float64, and where they start."""
    step = max(1, BLOCK // max(1, rows.n_features))
    for start in range(0, rows.n_rows, step):
        yield start, np.asarray(rows.values[start : start + step], dtype=np.float64)


@dataclass(frozen=True)
class Lane:
    """What one model learns.

    Parameters
    ----------
    C : float
        C.
    target : int
        The class that is +1 against the rest, or `TOGETHER`; of no use in regression.
    fold : int
        Rows of this fold are held out; -1: none.
    """

    C: float
    target: int = 1
    fold: int = -1


@dataclass(frozen=True)
class Penalty:
    """l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2.

    Parameters
    ----------
    l1_ratio : float
        From 0, the l2 penalty, to 1, the l1 penalty.
    positive : bool
        Weights below 0 are not allowed.
    """

    l1_ratio: float = 0.0
    positive: bool = False

    @property
    def is_smooth(self) -> bool:
        """Whether it is the l2 penalty and nothing else."""
        return self.l1_ratio == 0 and not self.positive


@dataclass(frozen=True)
class Columns:
    """How the problem sees columns: z = (x - shift) scale.

    Parameters
    ----------
    shift : ndarray, shape (d,), or None
        Only of dense rows; None: 0.
    scale : ndarray, shape (d,), or None
        None: 1.
    level : float
        What was taken off the target, and belongs to the intercept.
    """

    shift: Floats | None = None
    scale: Floats | None = None
    level: float = 0.0

    def raw(self, u: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return weights, shape (d, k), and intercepts, shape (k,), of the columns as they came."""
        w = u if self.scale is None else u * self.scale[:, None]
        b = b if self.shift is None else b - self.shift @ w
        return w, b + self.level if self.level else b

    def seen(self, w: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return the u and b of weights, shape (d, k), and intercepts of the columns as they came.

        Examples
        --------
        >>> columns = Columns(np.array([3.0]), np.array([0.5]))
        >>> columns.raw(*columns.seen(np.array([[2.0]]), np.array([1.0])))
        (array([[2.]]), array([1.]))
        """
        u = w
        if self.scale is not None:
            scale = self.scale[:, None]
            u = np.divide(w, scale, out=np.zeros_like(w), where=scale > 0)
        b = b - self.level if self.level else b
        return u, b if self.shift is None else b + self.shift @ w


@dataclass(frozen=True)
class RowSize:
    """Bounds on the size of rows, for bounds on rounding.

    Parameters
    ----------
    extent : ndarray, shape (d,)
        No |x - shift| of a column is larger.
    length, largest : float
        Of the problem's columns z: no row is longer, no value larger.
    far : ndarray, shape (d,)
        No |x| of a column is larger.
    terms : int
        Most values of a row.
    """

    extent: Floats
    length: float
    largest: float
    far: Floats
    terms: int

    @staticmethod
    def of(rows: Rows, columns: Columns, extent: Floats) -> RowSize:
        """Bound rows by the extents of their columns."""
        scale = np.ones(rows.n_features) if columns.scale is None else columns.scale
        unit = float(scale.max(initial=0.0))
        if rows.indptr is not None:
            terms = int(np.diff(rows.indptr).max(initial=0))
            largest = float(extent.max(initial=0.0)) * unit
            length = math.sqrt(terms) * largest
        else:
            seen, terms = extent * scale, rows.n_features
            length, largest = _norm(seen), float(seen.max(initial=0.0))
        far = extent if columns.shift is None else extent + np.abs(columns.shift)
        return RowSize(extent, length, largest, far, terms)


def _norm(x: Floats) -> float:
    """Return the length of a vector whose squares may overflow."""
    most = float(np.abs(x).max(initial=0.0))
    if not 0 < most < np.inf:
        return most
    return most * float(np.linalg.norm(x / most))


def extents(rows: Rows, shift: Floats | None) -> Floats:
    """Return the largest |x| of each column after a shift; of sparse rows that of all."""
    if rows.values.size == 0:
        return np.zeros(rows.n_features)
    if rows.is_sparse:
        return np.full(rows.n_features, float(max(rows.values.max(), -rows.values.min())))
    high, low = rows.values.max(axis=0), rows.values.min(axis=0)
    if shift is not None:
        high, low = high - shift, low - shift
    largest: Floats = np.maximum(high, -low).astype(np.float64)
    return largest


@dataclass(frozen=True)
class Problem:
    """Rows and targets.

    Parameters
    ----------
    rows : Rows
        Finite; of sparse rows no column twice.
    loss : Loss
    target : ndarray of int32 or float64, shape (n,)
        Classes by number, or the numbers to predict.
    weight : ndarray, shape (n,), or None
        Above 0.
    fold : ndarray of int32, shape (n,), or None
    fit_intercept : bool
    columns : Columns
    value : float
    penalty : Penalty
    n_classes : int
        Of lanes that learn all classes together; of no use to others.
    extent : ndarray, shape (d,), or None
        No |x - shift| of a column is larger, where that is known.
    """

    rows: Rows
    loss: Loss
    target: NDArray[np.int32] | Floats
    weight: Floats | None = None
    fold: NDArray[np.int32] | None = None
    fit_intercept: bool = True
    columns: Columns = field(default_factory=Columns)
    value: float = 1.0
    penalty: Penalty = field(default_factory=Penalty)
    n_classes: int = 2
    extent: Floats | None = None

    @cached_property
    def core(self) -> portable.Rows:
        """The rows as the compiled core takes them."""
        return core_rows(self.rows)

    @cached_property
    def size(self) -> RowSize:
        """How large rows are, at most."""
        extent = extents(self.rows, self.columns.shift) if self.extent is None else self.extent
        return RowSize.of(self.rows, self.columns, extent)

    @property
    def is_small(self) -> bool:
        """Whether it is solved to rounding, whatever was asked."""
        return self.rows.n_rows * self.rows.n_features <= SMALL

    @property
    def is_regression(self) -> bool:
        """Whether numbers are predicted."""
        return self.target.dtype == np.float64

    # ------------------------------------------------------------------ lanes

    def alpha_lane(self, alpha: float, target: int = 1, fold: int = -1) -> Lane:
        """Return the lane whose objective, times alpha, is the mean loss and alpha times a penalty.

        The mean is that of the rows that it learns from, by their weights.
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
        """Return y of each row: +1 or -1, or the number."""
        if self.is_regression:
            return np.asarray(self.target, dtype=np.float64)
        return np.where(self.target == lane.target, 1.0, -1.0)

    def costs(self, lane: Lane) -> Floats:
        """Return c of each row."""
        c = np.full(self.rows.n_rows, lane.C / self.value)
        if self.weight is not None:
            c *= self.weight
        if self.fold is not None:
            c[self.fold == lane.fold] = 0.0
        return c

    def in_lanes(self, lanes: Sequence[Lane]) -> native.LaneTargets:
        """Return targets and costs of all rows in each lane, as the compiled core takes them."""
        target: Any = self.target
        label, number = (None, target) if self.is_regression else (target, None)
        return native.LaneTargets(
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

    # ------------------------------------------------------------------ products

    def rmatvec(self, r: Floats) -> Floats:
        """Return Z'r for r of shape (n, k), in the problem's columns."""
        if self.rows.is_sparse:
            wide = in_lines(r)
            sums = aligned_zeros((self.rows.n_features, wide.shape[1]), wide.dtype)
            native.add_rows(self.core, wide, sums)
            sums = sums[:, : r.shape[1]]
        else:
            sums = np.zeros((self.rows.n_features, r.shape[1]))
            for start, block in self.blocks():
                sums += block.T @ r[start : start + len(block)]
        return sums if self.columns.scale is None else sums * self.columns.scale[:, None]

    def matvec(self, u: NDArray[Any]) -> Floats:
        """Return Zu for u of shape (d, k), float32 or float64."""
        w = u if self.columns.scale is None else u * self.columns.scale[:, None]
        if self.rows.is_sparse:
            wide = in_lines(w)
            scores = aligned_zeros((self.rows.n_rows, wide.shape[1]), np.dtype(np.float64))
            native.score_rows(self.core, wide, scores)
            return scores[:, : w.shape[1]]
        w = np.asarray(w, dtype=np.float64)
        scores = np.empty((self.rows.n_rows, w.shape[1]))
        for start, block in self.blocks():
            scores[start : start + len(block)] = block @ w
        return scores

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield blocks of dense rows, shifted but not scaled, in float64, and where they start.

        A block may be written over when the next is asked for.
        """
        shift, centred = self.columns.shift, None
        for start, block in dense_blocks(self.rows):
            if shift is None:
                yield start, block
                continue
            if centred is None:
                centred = np.empty_like(block)
            yield start, np.subtract(block, shift, out=centred[: len(block)])
