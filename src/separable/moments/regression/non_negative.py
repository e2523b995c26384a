"""Least squares with weights of at least 0: which columns have weights above 0, by the active set.

Given these columns, the optimum is their least-squares solution without a constraint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls

from separable.fitting.base import one_or_list
from separable.linalg.lstsq import lstsq
from separable.moments.base import Solution
from separable.moments.regression.design import factor_from_gram, factor_from_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.moments.regression.design import Design
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats

__all__ = ["solve_non_negative"]

#: Squared condition number from which the factor comes from the rows.
QR_CONDITION = 1e7
#: Steps of the active set, times the number of columns.
MAX_STEPS = 30


def solve_non_negative(
    solve: Callable[[NDArray[np.intp]], Solution],
    data: Data | None,
    design: Design,
    kept: NDArray[np.intp],
    alpha: float,
) -> Solution:
    """Return the solution with weights of at least 0, target by target.

    Parameters
    ----------
    solve : callable
        Returns the least-squares solution of all targets in some columns.
    data : Data or None
        The rows, if they are known.
    design : Design
        With its penalty.
    kept : ndarray
        Columns that are not constant.
    alpha : float
    """
    r, targets = _factor(data, design, kept, alpha)
    parts = []
    for number, target in enumerate(targets.T):
        used = kept[_columns_above_zero(r, target)]
        solution = solve(used)
        while (solution.weights[number, used] < 0).any():  # by rounding
            used = used[solution.weights[number, used] > 0]
            solution = solve(used)
        parts.append(solution)
    return parts[0] if len(parts) == 1 else _joined(parts)


def _factor(
    data: Data | None, design: Design, kept: NDArray[np.intp], alpha: float
) -> tuple[Floats, Floats]:
    """Return R and Q'y; the columns may be linearly dependent."""
    gram = design.gram_of(kept)
    factor, squared = factor_from_gram(gram, design.cross[kept], design.target_squares)
    if squared >= QR_CONDITION and data is not None:
        factor = factor_from_rows(data.present(), design, kept, alpha)
    if factor is not None:
        return factor.r, factor.targets
    values, vectors = eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root, lstsq(root.T, design.cross[kept])


def _columns_above_zero(r: Floats, target: Floats) -> NDArray[np.intp]:
    """Return the columns with a weight above 0 at the optimum of |Rw - target|, w >= 0."""
    size = np.abs(target).max(initial=0.0)
    if size == 0:
        return np.empty(0, np.intp)
    try:
        weights, _ = nnls(r, target / size, maxiter=MAX_STEPS * max(10, len(target)))
    except RuntimeError:
        raise ValueError(
            "The columns are so close to linearly dependent that the search for weights of at "
            "least 0 does not end. Drop columns, give a larger alpha, or use "
            "ElasticNet(l1_ratio=0, positive=True)."
        ) from None
    return np.flatnonzero(weights > 0)


def _joined(parts: Sequence[Solution]) -> Solution:
    """Return one solution of all targets, each from the solution of its own columns."""
    parts = [part.complete() for part in parts]

    def own(values: Callable[[Solution], Any]) -> Floats:
        return np.array([np.asarray(values(part))[k] for k, part in enumerate(parts)])

    worst = max(parts, key=lambda part: float(part.learned["condition_number"]))
    squares = own(lambda part: part.learned["residual_squares"])
    evidence = worst.evidence | {
        "rank": max(part.learned["rank"] for part in parts),
        "residual_squares": one_or_list(squares),
        "r2": one_or_list(own(lambda part: part.evidence["r2"])),
        "digits": min(part.evidence["digits"] for part in parts),
    }
    learned = {
        "condition_number": worst.learned["condition_number"],
        "rank": evidence["rank"],
        "residual_squares": squares,
    }
    return Solution(
        own(lambda part: part.weights), own(lambda part: part.intercept), evidence, learned
    )
