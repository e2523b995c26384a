"""Fitted columns of a SplineEncoder as tensors of a model file, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.features.spline.spline_column import SplineColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.features.base import Tensors

__all__ = ["TENSORS", "check", "check_breaks", "columns_from_parts", "columns_to_parts"]

#: Tensors of the columns with their types; the first holds the knots of all columns.
TENSORS = {"knots": np.float64, "n_knots": np.int64, "missing": np.uint8, "periods": np.float64}


def columns_to_parts(columns: Sequence[SplineColumn]) -> dict[str, NDArray[Any]]:
    """Return the columns as tensors."""
    return {
        "knots": np.concatenate([each.knots for each in columns]),
        "n_knots": np.array([len(each.knots) for each in columns], np.int64),
        "missing": np.array([each.missing for each in columns], np.uint8),
        "periods": np.array([each.period for each in columns]),
    }


def columns_from_parts(
    tensors: Tensors, names: Sequence[str] | None, linear: bool
) -> tuple[SplineColumn, ...]:
    """Return the columns from untrusted parts.

    Parameters
    ----------
    tensors : mapping of str to ndarray
    names : sequence of str or None
        None: x0, x1, ...
    linear : bool
    """
    knots, counts, missing, periods = (_vector(tensors, *each) for each in TENSORS.items())
    n = len(counts)
    check(n > 0 and len(missing) == n and len(periods) == n, "wrong number of columns")
    check(bool(((counts == 0) | (counts >= 2)).all()), "a curve needs two knots")
    check(sum(counts.tolist()) == len(knots), "wrong number of knots")
    check(bool((missing <= 1).all()), "wrong 'missing'")
    check(bool(np.isfinite(knots).all()), "knots must be finite")
    check(bool(((periods >= 0) & np.isfinite(periods)).all()), "wrong 'periods'")
    names = [f"x{index}" for index in range(n)] if names is None else names
    groups = np.split(knots, np.cumsum(counts)[:-1])
    parts = zip(names, groups, missing.tolist(), periods.tolist(), strict=True)
    columns = tuple(
        SplineColumn(name, own, bool(gone), period, linear) for name, own, gone, period in parts
    )
    for column in columns:
        check_breaks(column)
    return columns


def check_breaks(column: SplineColumn) -> None:
    """Raise if the knots do not ascend."""
    gaps = np.diff(column.breaks)
    check(bool((gaps > 0).all() and np.isfinite(gaps).all()), "knots must ascend")
    if column.period and len(column.knots):
        check(column.knots[0] >= 0 and column.knots[-1] < column.period, "knots outside the cycle")


def _vector(tensors: Tensors, name: str, dtype: Any) -> NDArray[Any]:
    array = tensors.get(name)
    fits = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == dtype
    check(fits, f"wrong {name!r}")
    assert isinstance(array, np.ndarray)
    return array


def check(ok: bool, what: str) -> None:
    """Raise for a damaged file."""
    if not ok:
        raise ValueError(f"The saved encoder is damaged: {what}.")
