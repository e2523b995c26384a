"""Maximum margin by dual coordinate descent (hard-margin SVM), for many columns.

    minimize 1/2 |v|^2 - sum_i a_i,  v = sum_i a_i y_i x_i,  over a >= 0, sum_i a_i y_i = 0

The equality constraint of the intercept is handled by an augmented Lagrangian, updated after each
pass. If the rows are not separable, a grows without bound. The kernel is that of the linear SVM
(``cpp/include/separable/certified/dual_descent.hpp``) with an upper bound that is never reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows
from separable.data.rows import Rows
from separable.linalg.blas import aligned_zeros

if TYPE_CHECKING:
    from separable.geometry.cone.signed_rows import SignedRows
    from separable.typing import Floats

__all__ = ["DualPasses"]

#: Penalty of the equality constraint, relative to the mean squared norm of the rows.
INTERCEPT_PENALTY = 0.01
#: Upper bound of a multiplier, in units of 1 / mean squared norm.
MAX_MULTIPLIER = 1e12


class DualPasses:
    """State of dual coordinate descent.

    Parameters
    ----------
    cone : SignedRows
        The original rows; here all are scaled by one power of two.
    """

    def __init__(self, cone: SignedRows) -> None:
        rows = cone.rows
        values = rows.values.astype(np.float64)
        largest = float(np.abs(values).max(initial=0.0))
        values = np.ldexp(values, -int(np.frexp(largest)[1])) if largest > 0 else values
        self._core = core_rows(Rows(values, rows.n_features, rows.indices, rows.indptr))
        n, d = rows.shape
        self._norms = np.empty(n)
        self._core.squared_norms(self._norms)
        mean = float(self._norms.mean()) or 1.0
        label = (cone.sign > 0).astype(np.int32)
        self._targets = native.LaneTargets(
            "hinge",
            0.0,
            label,
            None,
            None,
            None,
            np.array([1], np.int32),
            np.array([-1], np.int32),
            np.array([MAX_MULTIPLIER / mean]),
        )
        self._rho = np.array([INTERCEPT_PENALTY * mean if cone.fit_intercept else 0.0])
        double = np.dtype(np.float64)
        self._w, self._a = aligned_zeros((d, 1), double), aligned_zeros((n, 1), double)
        self._by_row = np.zeros((2, n), np.uint16)
        self._by_lane = np.zeros((5, 1))
        self._by_lane[[2, 4]] = np.inf
        self.count = 0

    @property
    def a(self) -> Floats:
        """The multipliers, non-negative."""
        return self._a[:, 0].copy()

    @property
    def weights(self) -> Floats:
        """The sum of a_i y_i x_i, up to a power of two."""
        return self._w[:, 0].copy()

    def run(self, passes: int) -> None:
        """Run passes over all rows."""
        for _ in range(passes):
            self.count += 1
            native.dual_pass(
                self._targets,
                self._core,
                self._norms,
                self._rho,
                self._w,
                self._a,
                None,
                self._by_row,
                self._by_lane,
                0,
                self.count,
                0,
            )
            self._by_lane[0] += self._rho * self._by_lane[1]

    def wake(self) -> None:
        """Reset shrinking: activate all rows."""
        self._by_row[0] = 0
        self._by_lane[2] = np.inf
        self._by_lane[3] = 0.0
