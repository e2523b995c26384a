"""Categorical columns: one-hot encoding with rare, missing and unseen levels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.columns import Categories, number_text
from separable.data.strings import ChainedTexts, PrefixedTexts
from separable.data.table import CellError, is_number
from separable.features.encoding_report import EXAMPLES, ColumnReport
from separable.features.row_assembly import OneHotSlot, Slot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.data.ingest.dates import TypedColumn

_LARGEST = 1e300  # fits in a float

__all__ = ["UNSEEN", "CategoryColumn", "CategoryState", "categories_of"]

#: Policies for levels unseen in training.
UNSEEN = ("zero", "error", "other")

#: A text column with more levels than this, and more than half of its values distinct, is an
#: identifier.
MANY_LEVELS = 50

#: By default a level is rare below one in this many rows, so tables with fewer than twice as many
#: rows have none.
ROWS_PER_RARE_ROW = 20_000


@dataclass(frozen=True, slots=True)
class CategoryState:
    """Sufficient statistics of a categorical column; merges exactly.

    Parameters
    ----------
    counts : mapping of str to int
        Count of each level.
    missing : int
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0

    @classmethod
    def of(cls, column: TypedColumn) -> CategoryState:
        """Fit to values."""
        categories = categories_of(column)
        counts = np.bincount(categories.codes + 1, minlength=len(categories.levels) + 1)
        present = np.flatnonzero(counts[1:])
        numbers = counts[1:][present].tolist()
        levels = [categories.levels[index] for index in present.tolist()]
        return cls(dict(zip(levels, numbers, strict=True)), int(counts[0]))

    def merge(self, other: CategoryState) -> CategoryState:
        """Return the state for the rows of both."""
        counts = Counter(self.counts)
        counts.update(other.counts)
        return CategoryState(dict(counts), self.missing + other.missing)

    def finish(
        self, name: str, *, is_requested: bool, min_count: int | None = None, unseen: str = "zero"
    ) -> CategoryColumn | str:
        """Return the fitted column, or the reason to drop it.

        Parameters
        ----------
        name : str
        is_requested : bool
            Whether the user requested a category, so that it cannot be an identifier.
        min_count : int, optional
            Levels below this count are rare. None: below one in 20 000 rows, and below 2 if unseen
            levels share the indicator of the rare ones.
        unseen : {"zero", "error", "other"}
        """
        counts, n_values = self.counts, sum(self.counts.values())
        if not counts:
            return "every value is missing"
        if len(counts) == 1 and not self.missing:
            return f"constant: every value is {next(iter(counts))!r}"
        if not is_requested and self.is_identifier:
            return _identifier(counts, n_values)
        if min_count is None:
            least = 2 if unseen == "other" else 1
            min_count = max(least, (n_values + self.missing) // ROWS_PER_RARE_ROW)
        rare = sorted(level for level, count in counts.items() if count < min_count)
        if len(rare) < 2 and unseen != "other":  # a single level keeps its name
            rare = []
        levels = counts.keys() - set(rare)
        if not levels and not self.missing:
            return f"each of its {len(rare)} levels occurs less than {min_count} times"
        return CategoryColumn(name, tuple(sorted(levels)), self.missing > 0, tuple(rare), unseen)

    @property
    def is_identifier(self) -> bool:
        """Return whether there are many levels, most of them unique."""
        return len(self.counts) > max(MANY_LEVELS, sum(self.counts.values()) / 2)


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """One-hot encoder of a column, with missing values as a level.

    Parameters
    ----------
    name : str
        Raw column.
    levels : sequence of str
        Training levels with their own indicator, sorted.
    missing : bool
        Whether training values were missing, which adds a level ``name=(missing)``.
    rare : sequence of str
        Training levels that share the indicator ``name=(rare)``, sorted.
    unseen : {"zero", "error", "other"}
        Encoding of a level unseen in training: zeros, an error, or the shared indicator of the rare
        levels (zeros if there are none).
    """

    name: str
    levels: Sequence[str]
    missing: bool
    rare: Sequence[str] = ()
    unseen: str = "zero"
    _index_of: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    kind: ClassVar[str] = "category"

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names."""
        others = (*(("(rare)",) if self.rare else ()), *(("(missing)",) if self.missing else ()))
        return PrefixedTexts(f"{self.name}=", ChainedTexts([self.levels, others]))

    def _numbered(self) -> dict[str, int]:
        """Return the index of each level, computed on demand after loading."""
        indices = self._index_of
        if not indices:
            own = {level: index for index, level in enumerate(self.levels)}
            indices.update(own | dict.fromkeys(self.rare, len(self.levels)))
        return indices

    @property
    def width(self) -> int:
        """Number of output features."""
        return len(self.levels) + bool(self.rare) + self.missing

    def encode(self, column: TypedColumn) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column, and the missing and unseen values."""
        categories = categories_of(column)
        index_of = self._numbered()
        numbers = [index_of.get(level, -1) for level in categories.levels]
        report = self._report(categories, numbers)
        if report.unseen and self.unseen == "error":
            row, level = report.unseen_examples[0]
            raise CellError(
                self.name,
                row,
                f"{level!r} is a level that the training data did not have. Correct it, or fit "
                "with unseen='zero' or 'other'.",
            )
        if self.unseen == "other" and self.rare:
            numbers = [len(self.levels) if index < 0 else index for index in numbers]
        indices = np.array([self._missing_index, *numbers], dtype=np.int32)
        return [OneHotSlot(categories.codes, indices, self.width)], report

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        if type(value) is not str:
            if value is None:
                index = self._missing_index
                return [] if index < 0 else [(index, 1.0)]
            if type(value) not in (int, float, bool) or value != value or abs(value) > _LARGEST:
                return None
            value = str(value) if type(value) is bool else number_text(float(value))
        index = (self._index_of or self._numbered()).get(value, -1)
        return None if index < 0 else [(index, 1.0)]  # unseen: must be added to the ledger

    def shown(self, index: int, value: float) -> str | None:
        """Return None: the name of the feature is its raw value."""
        del index, value
        return None

    @property
    def _missing_index(self) -> int:
        return len(self.levels) + bool(self.rare) if self.missing else -1

    def _report(self, categories: Categories, numbers: list[int]) -> ColumnReport:
        codes = categories.codes
        odd = np.flatnonzero(np.array(numbers, dtype=np.int64) < 0)
        missing = np.flatnonzero(codes < 0) if len(codes) and codes.min() < 0 else odd[:0]
        unseen = np.flatnonzero(np.isin(codes, odd)) if len(odd) else odd
        kinds, firsts, counts = np.unique(codes[unseen], return_index=True, return_counts=True)
        rows = unseen[np.sort(firsts)[:EXAMPLES]].tolist()
        names = (categories.levels[kind] for kind in kinds.tolist())
        return ColumnReport(
            self.name,
            missing=len(missing),
            missing_rows=tuple(missing[:EXAMPLES].tolist()),
            missing_trained=self.missing,
            unseen=len(unseen),
            unseen_examples=tuple((row, categories.levels[codes[row]]) for row in rows),
            unseen_counts=dict(zip(names, counts.tolist(), strict=True)),
        )


def categories_of(column: TypedColumn) -> Categories:
    """Return a column as categories; numbers, booleans and dates as text."""
    return column if isinstance(column, Categories) else column.as_categories()


def _identifier(counts: Mapping[str, int], n_values: int) -> str:
    reason = (
        f"{len(counts)} distinct texts in {n_values} values: an identifier or free text, not a "
        "category"
    )
    odd = [level for level in counts if not is_number(level)]
    if not odd:
        return f"{reason}; its texts are all numbers, so it can be used as a number"
    if len(odd) * 2 > len(counts):
        return reason
    count = sum(counts[level] for level in odd)
    return f"{reason}; {count} of its values, such as {odd[0]!r}, keep it from being a number"
