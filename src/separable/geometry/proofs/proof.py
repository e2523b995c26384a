"""Proofs of verdicts: one class per kind, as plain arrays.

In the proofs of joint verdicts on three or more classes the first class has weights 0, because only
differences of classes matter. A vector is identified by the indices of a row and of a class that is
not its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from separable.geometry.cone.signed_rows import LabelledRows
    from separable.geometry.proofs.checks import ExactNumbers
    from separable.typing import Floats, Indices


__all__ = [
    "JointOverlap",
    "JointQuasiSeparation",
    "JointSeparation",
    "Overlap",
    "Proof",
    "QuasiSeparation",
    "Separation",
]

#: Maximum number of values shown.
MAX_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """Base class of proofs.

    Parameters
    ----------
    exact : ExactNumbers or None
        Exact integer weights and multipliers, if no float64 numbers prove the verdict; the floats
        are their rounded values. None: the floats are a proof.

    Attributes
    ----------
    kind : str
        Kind of the verdict.
    """

    kind: ClassVar[str]
    exact: ExactNumbers | None = field(default=None, kw_only=True)

    def may_be_of(self, data: LabelledRows) -> bool:
        """Return whether all numbers are finite and all rows are valid and have multipliers."""
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
        """Return all fields as plain lists, numbers and strings."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


def _short(value: Any) -> str:
    """Return a short form: the shape of a long array or tuple."""
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
    """Proof of strict separability: y (w.x + b) > 0 for every row.

    Parameters
    ----------
    weights : ndarray, shape (d,)
        w; the side where w.x + b > 0 is that of ``classes[1]``.
    intercept : float
        b; 0.0 without an intercept.
    margins : ndarray, shape (n,)
        y (w.x + b) / |w|: the geometric margin of each row.
    margin : float
        The smallest of them.
    margin_bound : float
        Upper bound on the margin of any hyperplane.
    support, multipliers : ndarray of int, ndarray
        Rows, mostly support vectors, and a > 0 that prove the bound: it is |p - q| / 2 for the
        means p and q of the two classes weighted by a; without an intercept, the norm of the
        weighted mean of y x.
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
    """Proof of weak separability: y (w.x + b) >= 0 for every row, and never > 0 for all rows.

    Parameters
    ----------
    weights : ndarray, shape (d,)
    intercept : float
    boundary : ndarray of int
        The rows with w.x + b = 0. The search found no weakly separating direction with fewer of
        them; the proof shows that none is > 0 on all of ``rows``.
    columns : tuple of str or int
        The columns with non-zero weights.
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
    """Proof of overlap: a > 0 with sum a y (x, 1) = 0 on rows of full rank (Farkas certificate).

    Parameters
    ----------
    rows, multipliers : ndarray of int, ndarray
        The rows, and a up to rounding.
    rank : int
        Rank of these rows (x, 1), and of all rows.
    """

    kind = "overlap"

    rows: Indices
    multipliers: Floats
    rank: int


@dataclass(frozen=True, eq=False, repr=False)
class JointSeparation(Separation):
    """Proof of separability: (w_y - w_k).x + b_y - b_k > 0 for every row and every k != y.

    Parameters
    ----------
    weights : ndarray, shape (K, d)
    intercept : ndarray, shape (K,)
    margins : ndarray, shape (n,)
        The minimum over k of that sum divided by |w_y - w_k|: the distance of each row to the
        nearest boundary.
    margin, margin_bound : float
        The smallest of them; and an upper bound for all weights, from the closest pair of classes.
    support, multipliers : ndarray of int, ndarray
        Rows of the two classes ``pair``, and a > 0 that prove the bound: it is |p - q| / 2 for the
        means p and q of the two classes weighted by a.
    pair : tuple of int
        Indices of the two classes whose rows give the bound.
    """

    weights: Floats
    intercept: Floats  # type: ignore[assignment]
    pair: tuple[int, int] = (0, 1)


@dataclass(frozen=True, eq=False, repr=False)
class JointQuasiSeparation(QuasiSeparation):
    """Proof of weak separability: (w_y - w_k).x + b_y - b_k >= 0, and never > 0 for all.

    Parameters
    ----------
    weights : ndarray, shape (K, d)
    intercept : ndarray, shape (K,)
    boundary : ndarray of int, shape (q, 2)
        Rows and classes where the sum is 0.
    columns : tuple of str or int
        The columns with non-zero weights.
    rows, multipliers : ndarray of int, shape (k, 2), and ndarray, shape (k,)
        Rows and classes of the boundary, and a > 0 that cancel, up to rounding.
    """

    weights: Floats
    intercept: Floats  # type: ignore[assignment]


@dataclass(frozen=True, eq=False, repr=False)
class JointOverlap(Overlap):
    """Proof of overlap: a > 0 with sum a (e_y - e_k) (x) (x, 1) = 0 on vectors of full rank.

    Parameters
    ----------
    rows, multipliers : ndarray of int, shape (k, 2), and ndarray, shape (k,)
        Rows and classes, and a up to rounding.
    rank : int
        Rank of these vectors, and of all vectors.
    """
