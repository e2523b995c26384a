"""The proofs of a verdict on three classes and more together.

The first class has weights of 0: only differences of classes count. A vector is named by a row and
a class that is not its own, both by their places.
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
    """(w_y - w_k).x + b_y - b_k > 0 for every row, y its class, and every other class k.

    Parameters
    ----------
    weights : ndarray, shape (K, d)
    intercept : ndarray, shape (K,)
    margins : ndarray, shape (n,)
        The smallest over k of that sum over |w_y - w_k|: how far each row is from the nearest
        boundary to another class.
    margin, margin_bound : float
        The smallest of them; and what no weights exceed, as no pair of classes is farther apart.
    support, multipliers : ndarray of int, ndarray
        Rows of the two classes ``pair``, and a > 0 that prove the bound: with p and q the means of
        the two by these weights, it is |p - q| / 2.
    pair : tuple of int
        Indices of two classes, whose rows give the bound.
    """

    weights: Floats
    intercept: Floats  # type: ignore[assignment]
    pair: tuple[int, int] = (0, 1)


@dataclass(frozen=True, eq=False, repr=False)
class JointQuasiSeparation(QuasiSeparation):
    """(w_y - w_k).x + b_y - b_k >= 0, above 0 for some, and multipliers: never above 0 for all.

    Parameters
    ----------
    weights : ndarray, shape (K, d)
    intercept : ndarray, shape (K,)
    boundary : ndarray of int, shape (q, 2)
        Rows and classes where the sum is 0.
    columns : tuple of str or int
        Those with a weight.
    rows, multipliers : ndarray of int, shape (k, 2), and ndarray, shape (k,)
        Rows and classes of the boundary, and a > 0 that cancel, up to rounding.
    """

    weights: Floats
    intercept: Floats  # type: ignore[assignment]


@dataclass(frozen=True, eq=False, repr=False)
class JointOverlap(Overlap):
    """Multipliers a > 0 with sum a (e_y - e_k) (x) (x, 1) = 0 on vectors of full rank.

    Parameters
    ----------
    rows, multipliers : ndarray of int, shape (k, 2), and ndarray, shape (k,)
        Rows and classes, and a up to rounding.
    rank : int
        That of these vectors, and of all.
    """
