"""Strengths of penalties that are told as alpha."""

from __future__ import annotations

__all__ = ["strength_of"]

#: What is larger, or smaller than its inverse, leaves too few numbers for sums of losses.
LARGEST = 1e300


def strength_of(alpha: float, total: float) -> float:
    """Return the C of an alpha, 1 / (alpha times the weight of all rows).

    Examples
    --------
    >>> strength_of(0.5, 100.0)
    0.02
    """
    product = alpha * total
    if not 1.0 / LARGEST <= product <= LARGEST:
        raise ValueError(
            f"alpha={alpha:g} times the weight of all rows, {total:g}, is {product:g}, beyond the "
            "range of numbers. Choose an alpha closer to 1, or y in other units."
        )
    return 1.0 / product
