"""Proofs of joint verdicts on three or more classes.

The first class has weights 0, because only differences of classes matter. A vector is identified
by the indices of a row and of a class that is not its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separable.geometry.proofs.proof import Overlap, QuasiSeparation, Separation

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["JointOverlap", "JointQuasiSeparation", "JointSeparation"]


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
