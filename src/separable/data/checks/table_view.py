"""View of a table for checks: parsed columns, the target, and a sample for expensive checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from separable.data.columns import Categories, Numbers, blocks_of, stacked
from separable.data.ingest.dates import Booleans, Dates, typed_column, typed_columns
from separable.data.labels import most_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from separable.data.columns import Columns
    from separable.data.ingest.conversions.guessing import ConversionGuess
    from separable.data.ingest.dates import TypedColumn

    Codes = NDArray[np.int64]
    Values = NDArray[np.float64]

    from collections.abc import Iterable


__all__ = [
    "Hashes",
    "TableView",
    "Target",
    "codes_of",
    "first_rows",
    "is_free_text",
    "mixed",
    "numbers_in",
    "row_hashes",
    "target_of",
]

#: Rows sampled for expensive checks.
SAMPLE_ROWS = 100_000

#: Free text: more than half of the values are distinct, with at least this mean number of words.
MIN_MEAN_WORDS = 3.0

Hashes: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True)
class Target:
    """Target column.

    Parameters
    ----------
    name : str
    task : {"classification", "regression"}
    codes : ndarray of int64
        Index of each row's value in ``labels``; -1 if missing.
    labels : tuple
        Classes, or the distinct numbers.
    values : ndarray of float64 or None
        Numeric values, if the target is numeric.
    """

    name: str
    task: Literal["classification", "regression"]
    codes: Codes
    labels: tuple[Any, ...]
    values: NDArray[np.float64] | None

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of rows per label."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels))


@dataclass(frozen=True, slots=True)
class NumberBlock:
    """Numeric columns as the rows of a matrix, NaN for missing values."""

    names: tuple[str, ...]
    values: Values


class TableView:
    """A table with cached parsed columns, codes and hashes.

    Parameters
    ----------
    columns : Columns
    names : list of str
        Columns to learn from.
    target : Target or None
    given_types : frozenset of str
        Columns whose type was chosen by the user.
    split : frozenset of {"group", "time"}
        Splits that the user has already chosen.
    guesses : mapping of str to ConversionGuess
        Conversions of text columns; the columns are converted already.
    """

    def __init__(
        self,
        columns: Columns,
        names: list[str],
        target: Target | None,
        given_types: frozenset[str] = frozenset(),
        split: frozenset[str] = frozenset(),
        guesses: Mapping[str, ConversionGuess] | None = None,
    ) -> None:
        self.guesses = guesses or {}
        self.names, self.target, self.given_types, self.split = (
            names,
            target,
            given_types,
            split,
        )
        self.n_rows = columns.n_rows
        self._columns = columns
        self._codes: dict[str, Codes] = {}

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """Rows sampled for expensive checks, in order."""
        if self.n_rows <= SAMPLE_ROWS:
            return np.arange(self.n_rows)
        rng = np.random.default_rng(0)
        return np.sort(rng.choice(self.n_rows, SAMPLE_ROWS, replace=False))

    @cached_property
    def half(self) -> NDArray[np.bool_]:
        """Random half of the sample: one half is fitted on, the other measured on."""
        n = len(self.sample)
        return np.random.default_rng(0).permutation(n) < n // 2

    @cached_property
    def row_hashes(self) -> Hashes:
        """Hash of the features of each row."""
        return row_hashes((self.parsed(name) for name in self.names), self.n_rows)

    @cached_property
    def _typed(self) -> dict[str, TypedColumn]:
        blocks = blocks_of(self.names, self.n_rows)
        pairs = (zip(each, typed_columns(self._columns, each), strict=True) for each in blocks)
        return dict(chain.from_iterable(pairs))

    def parsed(self, name: str) -> TypedColumn:
        """Return a feature column, parsed once."""
        return self._typed[name]

    @cached_property
    def numbers(self) -> list[NumberBlock]:
        """Numeric feature columns, in blocks."""
        result = dict(self.of_type(Numbers))
        return [
            NumberBlock(tuple(block), stacked([result[name].values for name in block]))
            for block in blocks_of(list(result), self.n_rows)
        ]

    def numbers_where(
        self, test: Callable[[Values], NDArray[np.bool_]]
    ) -> Iterator[tuple[str, Values]]:
        """Yield the numeric columns that pass a test on a block, whose rows are columns."""
        for block in self.numbers:
            for index in np.flatnonzero(test(block.values)).tolist():
                yield block.names[index], block.values[index]

    @cached_property
    def whole(self) -> frozenset[str]:
        """Numeric columns whose values are all integral and present."""
        pairs = self.numbers_where(lambda values: (values == np.floor(values)).all(axis=1))
        return frozenset(name for name, _ in pairs)

    def of_type(self, *kinds: type) -> Iterator[tuple[str, Any]]:
        """Yield the feature columns of the given types."""
        for name in self.names:
            column = self.parsed(name)
            if isinstance(column, kinds):
                yield name, column

    def codes(self, name: str) -> Codes:
        """Return the code of each sampled row's value; missing values have a code too."""
        if name not in self._codes:
            block = self._block_of.get(name)
            if block is None:
                self._codes[name] = codes_of(self.parsed(name), self.sample)
            else:  # one sort for many short columns
                codes = _codes_of_each(np.take(block.values, self.sample, axis=1))
                self._codes.update(zip(block.names, codes, strict=True))
        return self._codes[name]

    @cached_property
    def _block_of(self) -> dict[str, NumberBlock]:
        return {name: block for block in self.numbers for name in block.names}

    def code_blocks(self) -> Iterator[tuple[Sequence[str], Codes]]:
        """Yield the feature columns in blocks, with their `codes` as the rows of a matrix."""
        for names in blocks_of(self.names, len(self.sample)):
            yield names, np.stack([self.codes(name) for name in names])


def target_of(columns: Columns, name: str, task: str | None) -> Target:
    """Return a column as the target."""
    column = typed_column(columns, name)
    if isinstance(column, Numbers):
        labels, codes = np.unique(column.values, return_inverse=True)
        lost = int(np.isnan(labels).sum())
        codes = np.where(np.isnan(column.values), -1, codes)
        labels = labels[: len(labels) - lost]
        rows = int(np.count_nonzero(codes >= 0))
        whole = bool(np.all(labels == np.floor(labels)) and np.all(np.abs(labels) < 2**53))
        many = len(labels) > most_classes(rows, numbers=True, sure=False, whole=whole)
        result: Any = task or ("regression" if many else "classification")
        labels_list = labels.astype(np.int64).tolist() if whole else labels.tolist()
        return Target(name, result, codes, tuple(labels_list), column.values)
    texts = column if isinstance(column, Categories) else column.as_categories()
    codes = texts.codes.astype(np.int64)
    is_used = np.bincount(codes[codes >= 0], minlength=len(texts.levels)) > 0
    new_codes = np.append(np.cumsum(is_used) - 1, -1)
    levels = tuple(level for level, met in zip(texts.levels, is_used, strict=True) if met)
    return Target(name, "classification", new_codes[codes], levels, None)


def codes_of(column: TypedColumn, rows: NDArray[np.int64]) -> Codes:
    """Return a code per row: equal for equal values and for missing ones."""
    if isinstance(column, Categories):
        values: Any = column.codes[rows]
    else:
        values = column.values[rows]
        if isinstance(column, Dates):
            values = values.astype(np.int64)
    codes: Codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return codes


def _codes_of_each(values: NDArray[np.float64]) -> Codes:
    """Return `codes_of` for each row of a matrix."""
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    lost = np.isnan(ranked)
    steps = np.zeros(values.shape, np.int64)
    steps[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]) & ~(lost[:, 1:] & lost[:, :-1])
    codes = np.empty_like(steps)
    np.put_along_axis(codes, order, np.cumsum(steps, axis=1), axis=1)
    return codes


def numbers_in(column: TypedColumn) -> NDArray[np.float64] | None:
    """Return an ordered column as float64, NaN where missing; None for categories."""
    if isinstance(column, Categories):
        return None
    if isinstance(column, Dates):
        values = column.values.astype(np.int64).astype(np.float64)
        values[np.isnat(column.values)] = np.nan
        return values
    return column.values


def first_rows(where: NDArray[np.bool_], limit: int = 5) -> tuple[int, ...]:
    """Return the first rows where a mask is true."""
    return tuple(np.flatnonzero(where)[:limit].tolist())


def is_free_text(column: Categories) -> bool:
    """Return whether the values of a column are sentences rather than levels."""
    count = int(np.count_nonzero(column.codes >= 0))
    if 2 * len(column.levels) <= count or len(column.levels) <= 10:
        return False
    levels = column.levels[:1000]
    return sum(level.count(" ") + 1 for level in levels) >= MIN_MEAN_WORDS * len(levels)


def is_present(column: TypedColumn) -> NDArray[np.bool_]:
    """Return a mask of the present values of a column."""
    if isinstance(column, Categories):
        return column.codes >= 0
    if isinstance(column, Dates):
        return ~np.isnat(column.values)
    assert isinstance(column, (Numbers, Booleans))
    return ~np.isnan(column.values)


def row_hashes(columns: Iterable[TypedColumn], n_rows: int) -> Hashes:
    """Return a hash of each row; equal rows have equal hashes within one process."""
    total = np.zeros(n_rows, np.uint64)
    start = 0
    for block in blocks_of(list(columns), n_rows):
        salts = mixed(np.arange(start, start + len(block), dtype=np.uint64))
        values = mixed(_values(block))
        total += mixed(values ^ salts[:, None]).sum(axis=0, dtype=np.uint64)
        start += len(block)
    return total


def _values(columns: Sequence[TypedColumn]) -> Hashes:
    """Return 64 bits for each value of the columns; missing values are equal."""
    plain = [column.values for column in columns if isinstance(column, Numbers | Booleans)]
    if len(plain) == len(columns):
        values = stacked(plain) + 0.0  # no -0
        values[np.isnan(values)] = np.nan
        return values.view(np.uint64)
    if len(columns) > 1:
        return np.concatenate([_values([column]) for column in columns])
    (column,) = columns
    if isinstance(column, Categories):
        levels = np.fromiter(map(hash, (*column.levels, "")), np.int64, len(column.levels) + 1)
        levels[-1] = -1
        return levels.view(np.uint64)[column.codes][None]
    assert isinstance(column, Dates)
    return column.values.astype(np.int64).view(np.uint64)[None]


def mixed(bits: Hashes) -> Hashes:
    """Mix bits: the finalizer of splitmix64."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = bits ^ (bits >> np.uint64(31))
    return mixed
