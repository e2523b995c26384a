"""One column of categories: one number for each level, 1 for the level that is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from separable.data.columns import Categories, Column, Numbers
from separable.data.table import is_number
from separable.features.encoding_report import EXAMPLES, ColumnReport
from separable.features.slot import Slot

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CategoryColumn", "categories_of"]

#: A column of text with more levels than this, and more than half of its values different, is
#: taken for an identifier.
MANY_LEVELS = 50


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """How one column of categories is encoded: one-hot, a missing value as a level of its own.

    Parameters
    ----------
    name : str
        The raw column.
    levels : tuple of str
        The levels of the training data, sorted.
    missing : bool
        Whether training values were missing, which gives a level ``name=(missing)``.
    """

    name: str
    levels: tuple[str, ...]
    missing: bool
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places = {level: place for place, level in enumerate(self.levels)}
        object.__setattr__(self, "_places", places)

    @classmethod
    def fit(cls, name: str, column: Column, *, asked: bool = False) -> CategoryColumn | str:
        """Learn the levels; or return the reason why there is nothing to learn.

        Parameters
        ----------
        name : str
        column : Column
        asked : bool
            Whether the user asked for a category, so that it is not taken for an identifier.
        """
        categories = categories_of(column)
        counts = np.bincount(categories.codes + 1, minlength=len(categories.levels) + 1)
        there = np.flatnonzero(counts[1:])
        missing = bool(counts[0])
        if not len(there):
            return "every value is missing"
        if len(there) == 1 and not missing:
            return f"constant: every value is {categories.levels[there[0]]!r}"
        if not asked and len(there) > max(MANY_LEVELS, counts[1:].sum() / 2):
            return _identifier(categories, there, int(counts[1:].sum()))
        return cls(name, tuple(sorted(categories.levels[place] for place in there)), missing)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the numbers out."""
        names = tuple(f"{self.name}={level}" for level in self.levels)
        return (*names, f"{self.name}=(missing)") if self.missing else names

    def encode(self, column: Column) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column's numbers out, and what was missing or unseen."""
        categories = categories_of(column)
        places = [self._places.get(level, -1) for level in categories.levels]
        places.append(len(self.levels) if self.missing else -1)  # found by code -1
        by_row = np.array(places, dtype=np.int32)[categories.codes]
        return [Slot(by_row)], self._report(categories, by_row)

    def _report(self, categories: Categories, places: NDArray[np.int32]) -> ColumnReport:
        missing = np.flatnonzero(categories.codes < 0)
        unseen = np.flatnonzero((places < 0) & (categories.codes >= 0))
        _, firsts = np.unique(categories.codes[unseen], return_index=True)
        rows = unseen[np.sort(firsts)[:EXAMPLES]].tolist()
        return ColumnReport(
            self.name,
            missing=len(missing),
            missing_rows=tuple(missing[:EXAMPLES].tolist()),
            missing_trained=self.missing,
            unseen=len(unseen),
            unseen_examples=tuple((row, categories.levels[categories.codes[row]]) for row in rows),
        )


def categories_of(column: Column) -> Categories:
    """Return a column as categories; numbers are written as text."""
    return column.as_categories() if isinstance(column, Numbers) else column


def _identifier(categories: Categories, there: NDArray[np.intp], n_values: int) -> str:
    reason = (
        f"{len(there)} different texts in {n_values} values: an identifier or free text, not a "
        "category"
    )
    odd = [place for place in there.tolist() if not is_number(categories.levels[place])]
    if not odd:
        return f"{reason}; its texts are all numbers, so it can be asked for as a number"
    if len(odd) * 2 > len(there):
        return reason
    count = int(np.count_nonzero(np.isin(categories.codes, odd)))
    return (
        f"{reason}; {count} of its values, such as {categories.levels[odd[0]]!r}, keep it from "
        "being a number"
    )
