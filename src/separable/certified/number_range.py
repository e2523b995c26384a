"""Checks that data and objective stay in the range of float64.

Objectives are sums of squares and products, and float64 ends at 1.8e308. A power of two brings the
columns to one scale (`preparation.py`); what it cannot bring into range is refused before a solver
meets infinity.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from separable.data.rows import Rows
from separable.typing import Floats

if TYPE_CHECKING:
    from separable.certified.problem import Problem


#: The largest |x|, and |y| of losses that grow as |y|: sums of ten million such cells are finite.
LARGEST_CELL = 2.0**1000
#: The largest and the smallest |y| whose squares keep all of their digits.
LARGEST_SQUARED, SMALLEST_SQUARED = 2.0**480, 2.0**-480
#: Columns whose common scale is below this have weights that no ordinary alpha penalises.
LOST = 2.0**-40
#: Exponents of two of objectives that leave room for products of them with sums.
LEAST_EXPONENT, MOST_EXPONENT = -1065, 900
#: The same of losses that grow as |y|, with an l2 penalty.
MOST_LINEAR = 1020


def check_cells(rows: Rows) -> None:
    """Refuse cells whose sums overflow, naming one of them."""
    values = rows.values
    if values.size == 0 or max(float(values.max()), -float(values.min())) <= LARGEST_CELL:
        return
    place = int(np.argmax(np.abs(values)))
    if rows.indptr is None or rows.indices is None:
        row, column = divmod(place, rows.n_features)
    else:
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        column = int(rows.indices[place])
    raise ValueError(
        f"Input X holds {values.reshape(-1)[place]:g} in row {row}, column {column}: sums of cells "
        f"above {LARGEST_CELL:.0e} are beyond the range of float64. Divide the column by its size."
    )


def check_target(y: Floats, *, is_squared: bool) -> None:
    """Refuse numbers to predict whose losses are beyond the range of float64, naming a row.

    Parameters
    ----------
    y : ndarray, shape (n,)
    is_squared : bool
        Whether the loss grows as the square of y, else as |y|.
    """
    row = int(np.argmax(np.abs(y)))
    size = abs(float(y[row]))
    most = LARGEST_SQUARED if is_squared else LARGEST_CELL
    if size > most:
        raise ValueError(
            f"Input y holds {y[row]:g} in row {row}: {'squares' if is_squared else 'sums'} of "
            f"numbers above {most:.0e} are beyond the range of float64. Divide y by its size."
        )
    if is_squared and size < SMALLEST_SQUARED and (y != y[0]).any():
        raise ValueError(
            f"Input y is at most {size:g} from 0, in row {row}: squares of numbers below "
            f"{SMALLEST_SQUARED:.0e} vanish in float64. Divide y by its size."
        )


def check_weights(weight: Floats) -> None:
    """Refuse weights of rows that C, or a number of rows, makes 0."""
    largest = float(weight.max(initial=1.0 if len(weight) == 0 else 0.0))
    if 0 < largest < 1 / LARGEST_CELL:
        raise ValueError(
            f"The weights of the rows are at most {largest:g}: their products vanish in float64. "
            "Divide sample_weight by its size."
        )


def inverse_scales(deviations: Floats) -> Floats:
    """Return 1 / deviation of each column, 0 where that is 0; refuse what overflows.

    Examples
    --------
    >>> inverse_scales(np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    varies = deviations > 0
    small = varies & ~(deviations >= 1 / LARGEST_CELL)
    if small.any() or not np.isfinite(deviations).all():
        column = int(np.argmax(small | ~np.isfinite(deviations)))
        raise ValueError(
            f"The standard deviation of column {column} of X is {deviations[column]:g}, and its "
            "inverse is beyond the range of float64. Divide the column by its size, or drop it."
        )
    inverse: Floats = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varies)
    return inverse


def check_objective(problem: Problem, cost: float, where: str) -> None:
    """Refuse a loss that is beyond the range of float64 beside the penalty.

    Parameters
    ----------
    cost : float
        Of the loss of all rows together, where the penalty costs 1.
    where : str
        What the cost comes from.
    """
    size, power, what = 1.0, 2, "of the classes"
    if problem.is_regression:
        size = float(np.abs(problem.target).max(initial=0.0))
        power = 2 if problem.loss.is_quadratic else 1
        what = f"of y, up to {size:g},"
    if size == 0:
        return
    exponent = math.log2(cost) - math.log2(problem.value) + power * math.log2(size)
    most = MOST_LINEAR if power == 1 and problem.penalty.is_smooth else MOST_EXPONENT
    if not LEAST_EXPONENT <= exponent <= most:
        columns = f" and columns of X of size {problem.value**-0.5:.0e}"
        raise ValueError(
            f"The loss {what} is beyond the range of float64 beside {where}"
            f"{columns if problem.value != 1 else ''}. Divide the columns and y by their sizes, or "
            "use standardize=True."
        )


def lost_penalty(problem: Problem, alpha: float) -> str:
    """Return advice where large columns make a penalty so small that rounding hides it, else ""."""
    scale = problem.columns.scale
    if scale is None or not float(scale.min(initial=1.0)) < LOST:
        return ""
    return (
        f"Columns of X of size {1 / float(scale.min()):.0e} make the weights so small that "
        f"rounding hides their penalty with alpha={alpha:g}. Use standardize=True, or divide the "
        "columns by their size."
    )
