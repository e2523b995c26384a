"""Columns that are linearly dependent up to rounding: the residual becomes a column of its own.

Examples are a standardized one-hot code, a difference of two prices next to both, or columns far
from 0 for their spread. In floating point the residual of such a column looks like 0, but it can
decide separability. Here it is computed exactly and scaled to the size of the other columns. This
is a change of coordinates of u, so a result for these vectors holds for the original ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.cone.dependencies import column_powers, pivoted
from separable.linalg.exact import cleared, whole_columns

if TYPE_CHECKING:
    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["UntangledRows", "untangle"]

#: Maximum number of integer products.
MAX_PRODUCTS = 5_000_000


class UntangledRows(WrittenRows):
    """Vectors in other coordinates.

    Parameters
    ----------
    matrix : ndarray, shape (m, D)
        The vectors times ``change``, each entry rounded once.
    change : ndarray, shape (D, D)
    """

    def __init__(self, matrix: Floats, change: Floats) -> None:
        super().__init__(matrix)
        self._change = change

    def raw(self, u: Floats) -> Floats:
        """Return u in the original columns."""
        return self._change @ u


def untangle(cone: ConeRows) -> UntangledRows | None:
    """Return vectors whose columns are independent or 0; None: nothing to do, or too large.

    Examples
    --------
    >>> table = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [2.0, 2.0 - 2.0**-52]])
    >>> untangle(WrittenRows(table)).matrix.tolist()
    [[0.0, 1.0], [-1.0, 1.0000000000000002], [1.0, 1.9999999999999998]]
    """
    vectors = cone.take(np.arange(cone.size))
    power = column_powers(vectors)
    scaled = vectors * power
    triangle, order, rank = pivoted(scaled)
    left = order[rank:]
    if rank == 0 or len(left) == 0 or cone.size * rank * len(left) > MAX_PRODUCTS:
        return None
    depends = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    matrix, change = scaled.copy(), np.diag(power)
    wholes, exponents = whole_columns(scaled)
    for index, column in enumerate(left.tolist()):
        factors = np.zeros(cone.dimension)
        factors[order[:rank]] = -depends[:, index]
        factors[column] = 1.0
        part, largest = _exactly(wholes, exponents, factors)
        matrix[:, column] = part
        change[:, column] = power * factors * (1.0 / largest if largest else 0.0)
    return UntangledRows(matrix, change)


def _exactly(wholes: Indices, exponents: Indices, factors: Floats) -> tuple[Floats, float]:
    """Return a linear combination of columns scaled to magnitude 1, rounded once, and the scale."""
    support = np.flatnonzero(factors)
    exact = [Fraction(float(factors[j])) * Fraction(2) ** int(exponents[j]) for j in support]
    whole = cleared(exact)
    sums = (wholes[:, support] @ np.array(whole, dtype=object)).tolist()
    largest = max(abs(number) for number in sums)
    if largest == 0:
        return np.zeros(len(sums)), 0.0
    unit = next(e / w for e, w in zip(exact, whole, strict=True) if w)
    return np.array([float(Fraction(n, largest)) for n in sums]), float(largest * unit)
