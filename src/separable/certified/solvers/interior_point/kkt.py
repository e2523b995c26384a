"""KKT systems of an interior-point step for piecewise linear losses: by columns, or by rows.

problem   dw - Z'dz = missing,  dz + C (Z dw + db) = moved,  sum dz = -total,  C = diag(c), c >= 0
given     Z; c, different in each step, from tiny to huge
steps     with fewer columns than rows eliminate dz:  (I + Z'CZ) dw + Z'c db = missing + Z'moved;
          else dw:  dz = C^1/2 p,
          (I + C^1/2 ZZ' C^1/2) p + c^1/2 db = C^-1/2 moved - C^1/2 Z missing
source    S. Fine, K. Scheinberg, Efficient SVM training using low-rank kernel representations,
          J. Mach. Learn. Res. 2 (2001)
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from separable.linalg.cholesky import Bordered, Cholesky
from separable.linalg.design_matrix import DesignMatrix
from separable.typing import Floats


class KktSystems:
    """The systems of all steps, of the size of the rows or of the columns, whichever are fewer."""

    def __init__(self, x: DesignMatrix) -> None:
        self.x = x
        self._by_rows = x.shape[0] < x.shape[1]

    def prepare(self) -> None:
        """Compute what lanes share before threads start."""
        if self._by_rows:
            _ = self._row_gram

    @cached_property
    def _row_gram(self) -> Floats:
        return self.x.row_gram(np.arange(self.x.shape[0]))

    def equations(self, c: Floats, *, fit_intercept: bool) -> ColumnEquations | RowEquations:
        """Return the system of a step with curvatures c."""
        if self._by_rows:
            return RowEquations(self.x, self._row_gram, c, fit_intercept=fit_intercept)
        return ColumnEquations(self.x, c, fit_intercept=fit_intercept)


class ColumnEquations:
    """The equations of dw and db."""

    def __init__(self, x: DesignMatrix, c: Floats, *, fit_intercept: bool) -> None:
        self._x = x
        products = x.gram(c)
        products[np.diag_indices(len(products))] += 1.0
        self._factor = Bordered(products, x.rmatvec(c), float(c.sum()), fit_intercept=fit_intercept)

    def solve(self, missing: Floats, moved: Floats, total: float) -> tuple[Floats, float]:
        """Return dw and db."""
        right = missing + self._x.rmatvec(moved)
        return self._factor.solve(right, total + float(moved.sum()))


class RowEquations:
    """The equations of dz and db."""

    def __init__(
        self, x: DesignMatrix, row_gram: Floats, c: Floats, *, fit_intercept: bool
    ) -> None:
        self._x, self._kept = x, np.flatnonzero(c)  # rows that do not count do not move
        self._root = np.sqrt(c[self._kept])
        products = row_gram[np.ix_(self._kept, self._kept)]
        products *= self._root
        products *= self._root[:, None]
        products[np.diag_indices(len(products))] += 1.0
        self._factor = Cholesky(products)
        self._border = self._factor.solve(self._root) if fit_intercept else None

    def solve(self, missing: Floats, moved: Floats, total: float) -> tuple[Floats, float]:
        """Return dw and db."""
        root, kept = self._root, self._kept
        p = self._factor.solve(moved[kept] / root - root * self._x.matvec(missing)[kept])
        db = 0.0
        if self._border is not None:
            db = (float(root @ p) + total) / float(root @ self._border)
            p -= db * self._border
        dz = np.zeros(len(moved))
        dz[kept] = root * p
        return missing + self._x.rmatvec(dz), db
