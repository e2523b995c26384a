"""Counts, means and scatter of columns by group: addition, merging, subtraction, serialization.

Columns are stored as z = (x - origin) scale. The origin lies among the data, so that means keep
their precision for columns far from 0. The scale is a power of two, 1 unless squares would overflow
or underflow. Both change results only by rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.statistics import precision as precision_module
from separable.statistics.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.typing import Floats

__all__ = [
    "IMPOSSIBLE",
    "Sums",
    "checked_labels",
    "checked_sums",
    "merge_sums",
    "products_about",
    "subtract_sums",
    "sums_as_tensors",
]

EPS = float(np.finfo(np.float64).eps)
#: Relative difference below which weights are equal.
SAME_WEIGHT = 1e-12
NOT_ADDED = "The rows to subtract are not among those that were added."


@dataclass
class Sums:
    """Sums of p columns over rows in G groups.

    Parameters
    ----------
    rows : ndarray of int64, shape (G,)
        Rows of each group.
    weight : ndarray, shape (G,)
        Their weight W_g.
    origin, scale : ndarray, shape (p,)
        z = (x - origin) scale.
    offset : ndarray, shape (G, p)
        The mean of z in each group, 0 for empty groups.
    scatter : ndarray, shape (p, p) or (p,)
        sum over groups and their rows of c (z - m_g)(z - m_g)', or only its diagonal.
    precision : Precision, optional
        Error bounds, stored after the first subtraction. None: the rounding error of a sum.
    """

    rows: NDArray[np.int64]
    weight: Floats
    origin: Floats
    scale: Floats
    offset: Floats
    scatter: Floats
    precision: Precision | None = None

    @classmethod
    def empty(cls, n_columns: int, n_groups: int, *, diagonal: bool) -> Sums:
        """Return the sums of no rows."""
        shape = (n_columns,) if diagonal else (n_columns, n_columns)
        return cls(
            np.zeros(n_groups, np.int64),
            np.zeros(n_groups),
            np.zeros(n_columns),
            np.ones(n_columns),
            np.zeros((n_groups, n_columns)),
            np.zeros(shape),
        )

    @property
    def n_columns(self) -> int:
        """The number of columns p."""
        return len(self.origin)

    @property
    def n_groups(self) -> int:
        """The number of groups G."""
        return len(self.weight)

    @property
    def is_diagonal(self) -> bool:
        """Whether only the diagonal of the scatter is stored."""
        return self.scatter.ndim == 1

    @property
    def diagonal(self) -> Floats:
        """The squares of each column, in units of z."""
        return self.scatter if self.is_diagonal else np.diagonal(self.scatter)

    @property
    def means(self) -> Floats:
        """The mean of each group, (G, p), in units of x."""
        return self.origin + self.offset / self.scale

    @property
    def scaled_means(self) -> Floats:
        """The mean of x scale in each group, (G, p): as z, with origin 0."""
        return self.offset + self.origin * self.scale

    def copy(self) -> Sums:
        """Return a copy that shares no mutable array."""
        return replace(
            self,
            rows=self.rows.copy(),
            weight=self.weight.copy(),
            offset=self.offset.copy(),
            scatter=self.scatter.copy(),
        )

    def regroup(self, index: NDArray[np.integer[Any]], n_groups: int) -> Sums:
        """Return the sums with group g moved to ``index[g]`` of ``n_groups``; others are empty."""
        moved = replace(
            self,
            rows=np.zeros(n_groups, np.int64),
            weight=np.zeros(n_groups),
            offset=np.zeros((n_groups, self.n_columns)),
        )
        moved.rows[index], moved.weight[index] = self.rows, self.weight
        moved.offset[index] = self.offset
        if self.precision is not None:
            moved.precision = self.precision.regrouped(index, n_groups)
        return moved

    def keep_groups(self, kept: NDArray[np.bool_]) -> Sums:
        """Return the sums of some groups; the others must be empty."""
        return replace(
            self,
            rows=self.rows[kept],
            weight=self.weight[kept],
            offset=self.offset[kept],
            precision=None if self.precision is None else self.precision.keep_groups(kept),
        )

    def pooled(self) -> Sums:
        """Return the sums of all rows as one group: within-group plus between-group scatter."""
        if self.n_groups == 1:
            return self
        weight = self.weight.sum()
        mean = self.weight @ self.offset / weight if weight else np.zeros(self.n_columns)
        between = np.sqrt(self.weight)[:, None] * (self.offset - mean)
        pooled = Sums(
            self.rows.sum(keepdims=True),
            np.array([weight]),
            self.origin,
            self.scale,
            mean[None, :],
            self.scatter.copy(),
            None if self.precision is None else self.precision.pooled(self, mean),
        )
        _add_products(pooled.scatter, between)
        return pooled

    def rescaled(self, scale: Floats) -> Sums:
        """Return the sums in another scale; exact, because both are powers of two."""
        ratio = scale / self.scale
        if (ratio == 1).all():
            return self
        scatter = self.scatter * ratio * (ratio if self.is_diagonal else ratio[:, None])
        precision = None if self.precision is None else self.precision.rescaled(ratio)
        return replace(
            self, scale=scale, offset=self.offset * ratio, scatter=scatter, precision=precision
        )

    def seen_from(self, other: Sums) -> Floats:
        """Return the group means relative to the origin of other sums of the same scale."""
        return self.offset + (self.origin - other.origin) * self.scale

    def columns(self, chosen: slice) -> Sums:
        """Return the sums of some columns, as views."""
        return replace(
            self,
            origin=self.origin[chosen],
            scale=self.scale[chosen],
            offset=self.offset[:, chosen],
            scatter=self.scatter[chosen] if self.is_diagonal else self.scatter[chosen, chosen],
            precision=None if self.precision is None else self.precision.columns(chosen),
        )


def merge_sums(a: Sums, b: Sums) -> Sums:
    """Merge sums group by group (Chan, Golub, LeVeque 1983).

    Scatters add up, plus W_a W_b / (W_a + W_b) d d' for the difference of means d = m_b - m_a.
    """
    if not a.weight.any() or not b.weight.any():
        return b if b.weight.any() else a
    scale = np.minimum(a.scale, b.scale)
    a, b = a.rescaled(scale), b.rescaled(scale)
    weight = a.weight + b.weight
    fraction = np.divide(b.weight, weight, out=np.zeros_like(weight), where=weight > 0)
    gap = b.seen_from(a) - a.offset
    gap[a.weight == 0] = 0.0
    offset = a.offset + fraction[:, None] * gap
    only_b = (a.weight == 0) & (b.weight > 0)
    offset[only_b] = b.seen_from(a)[only_b]
    merged = Sums(
        a.rows + b.rows,
        weight,
        a.origin,
        scale,
        offset,
        a.scatter + b.scatter,
        precision_module.merged(a, b),
    )
    _add_products(merged.scatter, np.sqrt(a.weight * fraction)[:, None] * gap)
    return merged


def subtract_sums(a: Sums, b: Sums) -> Sums:
    """Return the sums of the rows of a without those of b, with error bounds.

    Both have the same groups. Groups that become empty stay, with weight 0.
    """
    scale = np.minimum(a.scale, b.scale)
    a, b = a.rescaled(scale), b.rescaled(scale)
    rows, weight = a.rows - b.rows, a.weight - b.weight
    if (rows < 0).any() or ((weight <= SAME_WEIGHT * a.weight) != (rows == 0)).any():
        raise ValueError(NOT_ADDED)
    weight[rows == 0] = 0.0
    part = np.divide(b.weight, weight, out=np.zeros_like(weight), where=weight > 0)
    gap = a.offset - b.seen_from(a)
    offset = np.where(weight[:, None] > 0, a.offset + part[:, None] * gap, 0.0)
    precision = precision_module.subtracted(a, b, weight)
    left = Sums(rows, weight, a.origin, scale, offset, a.scatter - b.scatter, precision)
    # W W_b / W_a d d' with d = m - m_b = (W_a / W) (m_a - m_b)
    factor = np.divide(a.weight * b.weight, weight, out=np.zeros_like(weight), where=weight > 0)
    _add_products(left.scatter, np.sqrt(factor)[:, None] * gap, sign=-1.0)
    if (left.diagonal < -2.0 * precision.length * precision.noise).any():
        raise ValueError(NOT_ADDED)
    _clear_constant(left, a)
    return left


def _clear_constant(left: Sums, before: Sums) -> None:
    """Set exact zeros: columns that were constant before, and groups with a single row."""
    if (left.rows <= 1).all():
        left.scatter[...] = 0.0
        return
    size = np.abs(before.scaled_means).max(axis=0)
    least = 4 * EPS * size * math.sqrt(float(before.weight.sum()))
    constant = np.sqrt(before.diagonal) <= least
    left.scatter[constant] = 0.0
    if not left.is_diagonal:
        left.scatter[:, constant] = 0.0
    assert left.precision is not None
    left.precision.noise[constant] = 0.0


def products_about(sums: Sums, n_features: int, *, mean: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the centered or raw products of columns, and the constant columns of X.

    Parameters
    ----------
    sums : Sums
        Of one group.
    n_features : int
        Number of columns of X, which come first.
    mean : bool
        Center the products; otherwise only columns of zeros count as constant.

    Returns
    -------
    products : ndarray, shape (p, p)
        In units of z; read-only.
    constant : ndarray of bool, shape (d,)
        Columns that are constant, up to rounding.
    """
    products, middle, weight = sums.scatter, sums.scaled_means[0], sums.weight[0]
    if not mean:
        products = products + weight * np.multiply.outer(middle, middle)
    squares = np.diagonal(products)[:n_features]
    if not mean:
        return products, squares == 0
    size = np.abs(middle[:n_features]) * math.sqrt(weight)
    constant: NDArray[np.bool_] = np.sqrt(squares) <= EPS * size
    return products, constant


def _add_products(scatter: Floats, rows: Floats, sign: float = 1.0) -> None:
    if scatter.ndim == 1:
        scatter += sign * np.einsum("ij,ij->j", rows, rows)
    else:
        scatter += sign * (rows.T @ rows)


#: Message for inconsistent sums.
IMPOSSIBLE = "The file's sums do not fit together, or are not those of any rows."
NAMES = ("rows", "weight", "origin", "scale", "offset", "scatter")
#: Names of the error bounds, in files of sums after a subtraction.
BOUNDS = ("length", "noise", "mean", "weight")


def sums_as_tensors(sums: Sums) -> dict[str, NDArray[Any]]:
    """Return the arrays of sums by name."""
    tensors = {name: getattr(sums, name) for name in NAMES}
    if sums.precision is not None:
        tensors |= {f"error_{name}": getattr(sums.precision, name) for name in BOUNDS}
    return tensors


def checked_sums(tensors: Mapping[str, Any]) -> Sums:
    """Return the checked sums of a file."""
    if any(name not in tensors for name in NAMES):
        raise ValueError("The file's sums are not those of Moments.")
    rows, weight, origin, scale, offset, scatter = (np.array(tensors[name]) for name in NAMES)
    sums = Sums(rows, weight, origin, scale, offset, scatter)
    if sums.weight.ndim != 1 or sums.origin.ndim != 1:
        raise ValueError(IMPOSSIBLE)
    g, p = sums.n_groups, sums.n_columns
    shapes = (sums.rows.shape, sums.scale.shape, sums.offset.shape)
    fits = shapes == ((g,), (p,), (g, p)) and sums.scatter.shape in ((p,), (p, p))
    arrays = (sums.weight, sums.origin, sums.scale, sums.offset, sums.scatter)
    if (
        not fits
        or not all(array.dtype == np.float64 and np.isfinite(array).all() for array in arrays)
        or sums.rows.dtype != np.int64
        or (sums.rows < 0).any()
        or not sums.rows.any()
        or (sums.weight < 0).any()
        or ((sums.weight > 0) != (sums.rows > 0)).any()
        or (sums.scale <= 0).any()
        or (np.frexp(sums.scale)[0] != 0.5).any()
        or (sums.diagonal < 0).any()
        or not (sums.is_diagonal or np.array_equal(sums.scatter, sums.scatter.T))
    ):
        raise ValueError(IMPOSSIBLE)
    sums.precision = _checked_bounds(tensors, g, p)
    return sums


def _checked_bounds(tensors: Mapping[str, Any], g: int, p: int) -> Precision | None:
    """Return the error bounds of a file, or None."""
    names = [f"error_{name}" for name in BOUNDS]
    if not any(name in tensors for name in names):
        return None
    if not all(name in tensors for name in names):
        raise ValueError(IMPOSSIBLE)
    arrays = [np.array(tensors[name]) for name in names]
    if [array.shape for array in arrays] != [(p,), (p,), (g, p), (g,)] or not all(
        array.dtype == np.float64 and np.isfinite(array).all() and (array >= 0).all()
        for array in arrays
    ):
        raise ValueError(IMPOSSIBLE)
    return Precision(*arrays)


def checked_labels(listed: Any) -> NDArray[Any]:
    """Return the classes of a file, checked to be sorted labels of one type."""
    labels = np.array(listed) if isinstance(listed, list) and listed else np.zeros((0, 0))
    if (
        labels.ndim != 1
        or labels.dtype.kind not in "biufU"
        or labels.tolist() != listed
        or not (labels[1:] > labels[:-1]).all()
    ):
        raise ValueError("The file's classes are not sorted labels of one type.")
    return labels
