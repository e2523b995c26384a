"""Warnings about linearly dependent columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ConstantWithin", "DependentColumns", "RankWarning", "SingularCovariance"]

#: Maximum number of columns named in a message.
MAX_NAMED = 5


class RankWarning(UserWarning):
    """The rows do not determine the weights."""


class DependentColumns(RankWarning):
    """Columns that are constant or linear combinations of others.

    Parameters
    ----------
    constant : list of int
        Constant columns.
    dependent : list of (int, list of int)
        Columns that are linear combinations of others, and the others.
    name : callable
        Returns the name of a column.
    """

    def __init__(
        self,
        constant: list[int],
        dependent: list[tuple[int, list[int]]],
        name: Callable[[int], str],
    ) -> None:
        self.constant, self.dependent = constant, dependent
        super().__init__(self.text(name))

    def forget_levels(self, sources: Sequence[str]) -> bool:
        """Drop dependencies among the levels of one category; return whether others remain.

        ``sources`` names the category or column that each column comes from.
        """
        had = bool(self.dependent)
        self.dependent = [
            (column, others)
            for column, others in self.dependent
            if {sources[other] for other in others} != {sources[column]}
        ]
        return bool(self.dependent or self.constant) or not had

    def text(self, name: Callable[[int], str]) -> str:
        """Return the message with column names."""
        return (
            "Columns depend on each other, so the rows do not determine the weights of least "
            f"squares; the minimum-norm solution is used: {self._describe(name)}. "
            "Drop such columns, or use Ridge."
        )

    def _describe(self, name: Callable[[int], str], within: frozenset[int] = frozenset()) -> str:
        parts = [
            f"{name(column)} is constant{' within every class' * (column in within)}"
            for column in self.constant[: MAX_NAMED + 1]
        ]
        for column, others in self.dependent[: MAX_NAMED + 1]:
            more = ", ..." if len(others) > MAX_NAMED else ""
            made_of = ", ".join(name(other) for other in others[:MAX_NAMED])
            parts.append(f"{name(column)} is a linear combination of {made_of}{more}")
        count = len(self.constant) + len(self.dependent)
        rest = f" and {count - MAX_NAMED} more" if count > MAX_NAMED else ""
        return f"{'; '.join(parts[:MAX_NAMED])}{rest}"


class SingularCovariance(DependentColumns):
    """Columns without variance of their own within classes.

    Parameters
    ----------
    constant, dependent, name
        As of ``DependentColumns``, within classes.
    within : frozenset of int
        Columns that are constant within every class, but not the same in all of them.
    shape : tuple of int
        Rows, columns and classes.
    """

    def __init__(
        self,
        constant: list[int],
        dependent: list[tuple[int, list[int]]],
        name: Callable[[int], str],
        within: frozenset[int],
        shape: tuple[int, int, int],
    ) -> None:
        self.within, self.shape = within, shape
        super().__init__(constant, dependent, name)

    def text(self, name: Callable[[int], str]) -> str:
        """Return the message with column names."""
        rows, columns, classes = self.shape
        shortage = f"; {columns} columns are too many for {rows} rows in {classes} classes"
        return (
            "The covariance within classes is singular, and only directions in which rows vary "
            f"within classes are used: {self._describe(name, self.within)}"
            f"{shortage * (rows - classes < columns)}. Drop such columns, or use shrinkage."
        )


class ConstantWithin(DependentColumns):
    """Columns that differ between classes but are constant within them."""

    def text(self, name: Callable[[int], str]) -> str:
        """Return the message with column names."""
        rest = (
            f" and {len(self.constant) - MAX_NAMED} more" if len(self.constant) > MAX_NAMED else ""
        )
        return (
            f"{', '.join(map(name, self.constant[:MAX_NAMED]))}{rest}: constant within every "
            "class, but not the same in all of them. Without variance a column has no weight and "
            "is left out, although it separates classes by itself."
        )
