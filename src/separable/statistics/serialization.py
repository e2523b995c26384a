"""Sums in model files: writing, reading and checking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.statistics.precision import Precision
from separable.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["IMPOSSIBLE", "checked_labels", "checked_sums", "sums_as_tensors"]

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
