"""Reasons why a verdict is undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.geometry.search.exact_search import DIGITS, NUMBERS, UNKNOWNS

if TYPE_CHECKING:
    from separable.geometry.cone.cone_rows import ConeRows

__all__ = ["NOT_CANCELLING", "NOT_ENDED", "NOT_HELD", "NOT_STRICT", "not_decided", "not_exact"]

NOT_ENDED = "the search in float64 ran out of steps"
NOT_CANCELLING = "the multipliers found in float64 do not provably cancel"
NOT_HELD = "float64 does not hold the distances from the direction found"
NOT_STRICT = "the direction found in float64 does not provably separate"


def not_exact(count: int, what: str) -> str:
    """Return the reason that vectors are only numerically on the boundary of a direction."""
    return (
        f"the direction found in float64 has {count} {what} close to its boundary, but not "
        "provably on it"
    )


def not_decided(cone: ConeRows, why: str, bound: float = float("inf")) -> str:
    """Return why floating point gives no proof, and the limits of rational arithmetic.

    Parameters
    ----------
    cone : ConeRows
    why : str
        What float64 did not prove.
    bound : float
        No hyperplane has a larger margin.
    """
    parts = [
        f"{why}, and {cone.size} vectors of {cone.dimension} numbers are more than rational "
        f"arithmetic decides in every case ({NUMBERS} numbers, {UNKNOWNS} of a vector, {DIGITS} "
        "binary digits of a vector in whole numbers)."
    ]
    if bound < float("inf"):
        parts.append(f"A margin, if there is one, is at most {bound:.3g}.")
    parts.append(
        "Columns that depend on each other but for rounding, as standardised ones may, can cause "
        "this: leave such columns out, or give them as they were before they were scaled."
    )
    return " ".join(parts)
