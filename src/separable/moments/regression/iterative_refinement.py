"""Iterative refinement of least squares, with residuals in twice the working precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.regression.design import Design
    from separable.moments.regression.triangular_factor import Factor
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["Refined", "refine"]

#: Maximum number of steps; refinement that converges needs fewer.
MAX_STEPS = 12
#: Relative size of a correction that changes no digit of weights down to 1e-8 of the largest.
NEGLIGIBLE = 1e-24
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Refined:
    """Refined weights and residual sum of squares of one target.

    Parameters
    ----------
    weights : ndarray, shape (d,)
        For raw columns.
    intercept : float
    residual_squares : float
        sum c_i r_i^2, from the rows.
    change : float
        Size of the last correction relative to the weights, for standardized columns.
    """

    weights: Floats
    intercept: float
    residual_squares: float
    change: float


def refine(
    data: Data,
    design: Design,
    factor: Factor,
    kept: NDArray[np.intp],
    weights: Floats,
    intercept: float | None,
    target: int,
    alpha: float = 0.0,
) -> Refined:
    """Refine weights until the next correction would be negligible or they stop decreasing.

    Each step computes the residuals r = y - Xw - b in twice the working precision, solves the
    normal equations for the correction, and adds it. Weights are stored as sums of two doubles.
    Corrections decrease by a constant factor, so the last two tell the size of the next.
    """
    core, numbers = core_rows(data.rows), data.numbers
    y = np.ascontiguousarray(numbers[:, target])
    length, mean = design.length[kept], design.mean
    high, low = weights.copy(), np.zeros_like(weights)
    b, b_low = 0.0 if intercept is None else float(intercept), 0.0
    best, last = Refined(high, b, np.inf, np.inf), 1.0
    for _ in range(MAX_STEPS):
        gradient = np.empty_like(high)
        total, squares = native.residual_sums(
            core, y, data.counted.weight, high, low, b, b_low, mean, gradient, None
        )
        gradient -= alpha * high
        step, scaled = np.zeros_like(high), gradient[kept] / length
        step[kept] = factor.correct(scaled)
        size = np.abs(high[kept] * length).max(initial=0.0)
        change = float(np.abs(step[kept]).max(initial=0.0) / size) if size else 0.0
        is_last = change * change <= NEGLIGIBLE * last and step[kept] @ scaled <= EPS * squares
        if change < 0.5 * best.change:
            best = Refined(high.copy(), b, squares, change)
        else:
            break
        step[kept] /= length
        high, low = _add(high, low, step)
        if intercept is not None:
            b, b_low = _add(b, b_low, total / design.weight - float(mean @ step))
        if is_last:
            return Refined(high, float(b), squares, change * change / last)
        last = change
    return best


def _add(high: Any, low: Any, more: Any) -> tuple[Any, Any]:
    """Add a double to a sum of two doubles."""
    total = high + more
    part = total - high
    low = low + ((high - (total - part)) + (more - part))
    return total + low, low - ((total + low) - total)
