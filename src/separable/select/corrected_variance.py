"""What is left of a difference once noise is allowed for, where training sets share rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["LEVEL", "corrected_error", "p_value", "shared_rows"]

#: A difference is beyond noise where noise makes one as large less often than this.
LEVEL = 0.05


def shared_rows(repeats: int, test_per_train: float) -> float:
    """Return the variance of a mean over splits, in units of that of one of them.

    Splits share training rows, so their scores go up and down together: not 1 / repeats but
    1 / repeats + n_test / n_train (Nadeau and Bengio, Inference for the generalization error,
    Machine Learning 52, 2003).
    """
    return 1.0 / repeats + test_per_train


def corrected_error(apart: Floats, test_per_train: float) -> float:
    """Return the standard error of the mean of differences, one a split; NaN for one split."""
    if len(apart) < 2:
        return math.nan
    return float(np.std(apart, ddof=1)) * math.sqrt(shared_rows(len(apart), test_per_train))


def p_value(apart: Floats, test_per_train: float) -> float:
    """Return how often noise alone makes a mean difference as large; NaN for one split.

    Two-sided, by Student's t with one degree of freedom less than splits.
    """
    mean, error = float(np.mean(apart)), corrected_error(apart, test_per_train)
    if math.isnan(error):
        return math.nan
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * stdtr(len(apart) - 1, -abs(mean) / error))
