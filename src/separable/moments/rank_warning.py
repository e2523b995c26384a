"""What is said of columns that depend on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DependentColumns", "RankWarning"]

#: So many columns are named.
NAMED = 5


class RankWarning(UserWarning):
    """The rows do not determine the weights."""


class DependentColumns(RankWarning):
    """Columns that are constant or made up of others.

    Parameters
    ----------
    constant : list of int
        Columns that do not vary.
    dependent : list of (int, list of int)
        Columns that are made up of others, and the others.
    name : callable
        Gives the name of a column.
    """

    def __init__(
        self,
        constant: list[int],
        dependent: list[tuple[int, list[int]]],
        name: Callable[[int], str],
    ) -> None:
        self.constant, self.dependent = constant, dependent
        super().__init__(self.text(name))

    def text(self, name: Callable[[int], str]) -> str:
        """Return the warning with columns called by their names."""
        told = [f"{name(column)} is constant" for column in self.constant]
        for column, others in self.dependent:
            more = ", ..." if len(others) > NAMED else ""
            made_of = ", ".join(name(other) for other in others[:NAMED])
            told.append(f"{name(column)} is made up of {made_of}{more}")
        rest = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
        return (
            "Columns depend on each other, so the rows do not determine the weights of least "
            f"squares, and those of smallest norm are taken: {'; '.join(told[:NAMED])}{rest}. "
            "Drop such columns, or use Ridge."
        )
