"""How much to shrink a covariance towards a multiple of the identity.

S is the scatter of rows that are centred already, N their weight, d the number of columns. All
three answers are numbers g from 0 to 1 for (1 - g) S + g tr(S) / d I; none changes when S is
multiplied by a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ledoit_wolf", "oas"]


def oas(trace: Any, squares: Any, n: Any, d: int) -> Any:
    """Return the shrinkage of the oracle that approximates itself.

    Parameters
    ----------
    trace, squares : float or ndarray
        tr(S) and tr(S^2).
    n : float or ndarray
        The weight of the rows.
    d : int
        The number of columns.

    References
    ----------
    Chen, Wiesel, Eldar, Hero: Shrinkage algorithms for MMSE covariance estimation, IEEE
    Transactions on Signal Processing 58 (2010), as scikit-learn has it: with n + 1 and without the
    terms in 2 / d.
    """
    mean = squares / trace**2 / d**2  # of the squares of S / tr(S)
    bottom = np.asarray((n + 1.0) * (mean - 1.0 / d**3))
    share = np.divide(mean + 1.0 / d**2, bottom, out=np.ones_like(bottom), where=bottom > 0)
    return np.minimum(1.0, share)


def ledoit_wolf(trace: float, squares: float, fourth: float, n: float, d: int) -> float:
    """Return the shrinkage with the smallest expected squared error, for many rows.

    Parameters
    ----------
    trace, squares : float
        tr(S) and tr(S^2).
    fourth : float
        sum of w |u|^4 over the rows u.
    n, d
        The weight of the rows and the number of columns.

    References
    ----------
    Ledoit, Wolf: A well-conditioned estimator for large-dimensional covariance matrices, Journal
    of Multivariate Analysis 88 (2004).
    """
    distance = squares - trace**2 / d  # of S from the identity, squared
    if distance <= 0:
        return 0.0
    error = fourth - squares / n
    return float(min(max(error, 0.0), distance) / distance)
