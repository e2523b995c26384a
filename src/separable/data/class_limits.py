"""When different values are too many to be classes: one rule, for `check` and for the commands."""

from __future__ import annotations

__all__ = ["MANY_CLASSES", "most_classes"]

#: More different values than this, and more than a share of the rows, are not classes.
MANY_CLASSES, NUMBER_SHARE, TEXT_SHARE = 20, 0.05, 0.5

#: More different numbers than this are a quantity, unless classes are asked for.
MANY_NUMBERS = 100


def most_classes(rows: int, *, numbers: bool, sure: bool) -> float:
    """Return how many different values of a target may be classes.

    Parameters
    ----------
    rows : int
        How many rows have one.
    numbers : bool
        Whether all values are numbers.
    sure : bool
        Whether classes are asked for.

    Examples
    --------
    >>> most_classes(1000, numbers=True, sure=False)
    50.0
    """
    most = max(MANY_CLASSES, (NUMBER_SHARE if numbers else TEXT_SHARE) * rows)
    return min(most, MANY_NUMBERS) if numbers and not sure else most
