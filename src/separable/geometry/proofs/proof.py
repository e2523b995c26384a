"""The proofs that a verdict carries: one for each kind, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from separable.geometry.labelled_rows import LabelledRows
    from separable.geometry.proofs.exact_proofs import ExactNumbers
    from separable.typing import Floats, Indices


__all__ = ["Overlap", "Proof", "QuasiSeparation", "Separation"]

#: So many values are shown one by one.
MAX_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """What all proofs have in common.

    Parameters
    ----------
    exact : ExactNumbers or None
        Whole numbers of which weights and multipliers are the rounded ones, where float64 holds no
        weights or multipliers that prove the verdict. None: floats prove it.

    Attributes
    ----------
    kind : str
        Of the verdict that it proves.
    """

    kind: ClassVar[str]
    exact: ExactNumbers | None = field(default=None, kw_only=True)

    def may_be_of(self, data: LabelledRows) -> bool:
        """Return whether numbers are finite, rows are among the data's, each with a multiplier."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        arrays = [value for value in named.values() if isinstance(value, np.ndarray)]
        finite = all(np.isfinite(array).all() for array in arrays)
        finite &= bool(np.isfinite(named.get("intercept", 0.0)).all())
        indices = [array for array in arrays if array.dtype.kind in "iu"]
        n = data.rows.n_rows
        if len(named.get("rows", named.get("support", ()))) != len(named["multipliers"]):
            return False
        return bool(finite and all(((array >= 0) & (array < n)).all() for array in indices))

    def __repr__(self) -> str:
        shown = [(each.name, getattr(self, each.name)) for each in fields(self)]
        texts = [f"{name}={_short(value)}" for name, value in shown if value is not None]
        return f"{type(self).__name__}({', '.join(texts)})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


def _short(value: Any) -> str:
    """Return an array or a tuple of many as how many there are; `to_dict` has them all."""
    many = np.size(value) if isinstance(value, np.ndarray | tuple) else 0
    if many > MAX_SHOWN:
        return f"<{' x '.join(map(str, np.shape(value)))} values>"
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, eq=False, repr=False)
class Separation(Proof):
    """y (w.x + b) > 0 for every row.

    Parameters
    ----------
    weights : ndarray, shape (d,)
        w; the side where w.x + b > 0 is that of ``classes[1]``.
    intercept : float
        b; 0.0 without an intercept.
    margins : ndarray, shape (n,)
        y (w.x + b) / |w|: how far each row is on its side.
    margin : float
        The smallest of them.
    margin_bound : float
        No weights have a larger smallest margin.
    support, multipliers : ndarray of int, ndarray
        Rows, most of them nearest to the boundary, and a > 0 that prove the bound: with p and q the
        means of the two classes by these weights, it is |p - q| / 2; without an intercept it is the
        length of the mean of y x.
    """

    kind = "separable"

    weights: Floats
    intercept: float
    margins: Floats
    margin: float
    margin_bound: float
    support: Indices
    multipliers: Floats


@dataclass(frozen=True, eq=False, repr=False)
class QuasiSeparation(Proof):
    """y (w.x + b) >= 0 for every row, above 0 for some, and multipliers: never above 0 for all.

    Parameters
    ----------
    weights : ndarray, shape (d,)
    intercept : float
    boundary : ndarray of int
        The rows with w.x + b = 0. The search found no direction that separates
        weakly with fewer of them; what is proved is that none leaves all of ``rows``.
    columns : tuple of str or int
        Those with a weight.
    rows, multipliers : ndarray of int, ndarray
        Rows of the boundary and a > 0 with sum a y (x, 1) = 0, up to rounding.
    """

    kind = "quasi-separable"

    weights: Floats
    intercept: float
    boundary: Indices
    columns: tuple[str | int, ...]
    rows: Indices
    multipliers: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Proof):
    """Multipliers a > 0 with sum a y (x, 1) = 0 on rows of full rank: nothing separates weakly.

    Parameters
    ----------
    rows, multipliers : ndarray of int, ndarray
        The rows, and a up to rounding.
    rank : int
        That of these rows (x, 1), and of all.
    """

    kind = "overlap"

    rows: Indices
    multipliers: Floats
    rank: int
