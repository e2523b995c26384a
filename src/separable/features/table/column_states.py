"""Column states while fitting: inferred type, reason, and sufficient statistics.

`ColumnTable` lists the types of a table for printing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import msgspec

from separable.data.columns import Categories, Numbers, blocks_of, is_index
from separable.data.ingest.conversions.applying import convert
from separable.data.ingest.conversions.guessing import guess_conversion
from separable.data.ingest.dates import Booleans, Dates, are_yes_and_no, is_date, typed_columns
from separable.features.spline.value_counts import ValueCounts
from separable.features.table.category_column import CategoryColumn, CategoryState
from separable.features.table.curve_column import CurveColumn, curve_of
from separable.features.table.date_column import DateColumn, DateState
from separable.features.table.number_column import (
    BooleanColumn,
    BooleanState,
    NumberColumn,
    NumberState,
    numbers_of,
    numbers_of_each,
)
from separable.features.table.text_column import TextColumn, TextState, text_encoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from separable.data.checks.dominant_values import DominantValue
    from separable.data.columns import Columns
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.conversions.guessing import ConversionGuess, Given
    from separable.data.ingest.dates import TypedColumn

__all__ = [
    "ColumnEncoder",
    "ColumnRow",
    "ColumnSpec",
    "ColumnState",
    "ColumnTable",
    "columns_for",
    "guessed_kinds",
]


ColumnEncoder: TypeAlias = (
    NumberColumn | CurveColumn | CategoryColumn | BooleanColumn | DateColumn | TextColumn
)
State: TypeAlias = NumberState | CategoryState | BooleanState | DateState | TextState | None

#: A text column is free text if more than half of its values are distinct, there are more than this
#: many, and they have this many words on average; otherwise they are levels or identifiers.
MIN_TEXTS, MIN_MEAN_WORDS = 10, 3.0

_NOTHING = ("unknown", "every value is missing")


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """Type and options that the user requested for a column.

    Parameters
    ----------
    kind : str or None
        Requested type.
    options : object
        Options of the column.
    conversions : mapping
        Empty, or the column's name with the conversion that the user gave.
    curve : bool
        Whether a number becomes a curve.
    paired : bool
        Whether the column is part of an interaction.
    """

    kind: str | None = None
    options: Any = None
    conversions: Mapping[str, Given] = field(default_factory=dict)
    curve: bool = False
    paired: bool = False

    @property
    def counts_values(self) -> bool:
        """Whether the values of a number are counted, for its knots."""
        return self.curve or self.paired


@dataclass(frozen=True, slots=True)
class ColumnState:
    """A column while fitting.

    Parameters
    ----------
    name : str
    kind : str
        ``"unknown"`` while all values are missing.
    why : str
        Reason for the type.
    spec : ColumnSpec
    state : object
        Sufficient statistics; None for a dropped column.
    conversion : Conversion or None
        How the texts of the column are converted to numbers or dates.
    note : str
        Why a column that looks like numbers or dates was not converted.
    """

    name: str
    kind: str
    why: str
    spec: ColumnSpec
    state: State
    conversion: Conversion | None = None
    note: str = ""

    @classmethod
    def of(cls, name: str, columns: Columns, spec: ColumnSpec) -> ColumnState:
        """Fit to the first rows of a column."""
        return cls.of_each([name], columns, {name: spec})[0]

    @classmethod
    def of_each(
        cls, names: Sequence[str], columns: Columns, specs: Mapping[str, ColumnSpec]
    ) -> list[ColumnState]:
        """Fit to the first rows of several columns, numeric ones together."""
        named = [name for name in names if specs[name].kind != "drop"]
        kinds = [specs[name].kind or "number" for name in named]
        taken = dict(zip(named, columns_for(kinds, columns, named), strict=True))
        guesses = _guesses(taken, specs)
        for name, guess in guesses.items():
            taken[name] = convert(name, taken[name], guess.conversion)
        numbers = _number_states(
            {n: c for n, c in taken.items() if specs[n].kind in (None, "number")}, specs
        )
        states = [
            cls._first(name, taken.get(name), specs[name], numbers.get(name)) for name in names
        ]
        return [state._guessed_as(guesses.get(state.name)) for state in states]

    def _guessed_as(self, guess: ConversionGuess | None) -> ColumnState:
        """Return the state with its conversion, and the reason for it."""
        if guess is None:
            return self
        if guess.conversion is None:
            return replace(self, why=f"{self.why}; {guess.reason}", note=guess.reason)
        why = guess.reason if self.spec.kind is None else f"asked for; {guess.reason}"
        return replace(self, why=why, conversion=guess.conversion)

    @classmethod
    def _first(
        cls, name: str, column: TypedColumn | None, spec: ColumnSpec, number: NumberState | None
    ) -> ColumnState:
        if column is None:
            return cls(name, "drop", "asked for", spec, None)
        if spec.kind is not None:
            state = number or _learn(spec, spec.kind, name, column)
            return cls(name, spec.kind, "asked for", spec, state)
        if number is not None and isinstance(column, Numbers) and is_index(name, column.values):
            return cls(name, "drop", "an index of rows, not data", spec, None)
        if number is not None:
            return cls(name, *_kind_of(number), spec, number)
        kind, why, levels = _guessed(column)
        state = levels if kind == "category" else _learn(spec, kind, name, column)
        return cls(name, kind, why, spec, state)

    @property
    def dominant(self) -> DominantValue | None:
        """Outlier that hides the other values of a standardized column."""
        is_line = isinstance(self.state, NumberState) and not self.spec.curve
        return self.state.dominant if is_line else None  # type: ignore[union-attr]

    def is_scaled(self, *, default: bool) -> bool:
        """Return whether numbers are standardized."""
        options = self.spec.options if isinstance(self.spec.options, dict) else {}
        return bool(options.get("scale", default))

    @property
    def is_changed(self) -> bool:
        """Whether `followed_by` modifies this state: text counts are not copied."""
        return isinstance(self.state, TextState)

    @staticmethod
    def each_followed_by(states: Sequence[ColumnState], columns: Columns) -> list[ColumnState]:
        """Return the states after more rows."""
        known = [state for state in states if state.kind not in ("drop", "unknown")]
        names = [state.name for state in known]
        kinds = [state.kind for state in known]
        conversions = [state.conversion for state in known]
        taken = dict(zip(names, columns_for(kinds, columns, names, conversions), strict=True))
        numbers = _number_states(
            {s.name: taken[s.name] for s in known if s.kind == "number"},
            {s.name: s.spec for s in known},
        )
        return [s._followed_by(columns, taken.get(s.name), numbers.get(s.name)) for s in states]

    def _followed_by(
        self, columns: Columns, column: TypedColumn | None, number: NumberState | None
    ) -> ColumnState:
        if self.kind == "unknown":
            later = ColumnState.of(self.name, columns, self.spec)
            assert isinstance(self.state, NumberState)
            return replace(later, state=_with_missing(later.state, self.state.missing))
        if column is None:
            return self
        if isinstance(self.state, TextState):
            self.state.add(column)
            return self
        learned = number or _learn(self.spec, self.kind, self.name, column)
        return replace(self, state=_merged(self.state, learned))

    def merge(self, other: ColumnState) -> ColumnState:
        """Return the state for the rows of both."""
        if self.kind == "unknown" or other.kind == "unknown":
            known, lost = (other, self) if self.kind == "unknown" else (self, other)
            assert isinstance(lost.state, NumberState)
            return replace(known, state=_with_missing(known.state, lost.state.missing))
        if self.kind != other.kind:
            raise ValueError(
                f"The encoders cannot be merged: column {self.name!r} is a {self.kind} in one and "
                f"a {other.kind} in the other. Say which it is when they are made, for example "
                f"TableEncoder({self.kind}=[{self.name!r}])."
            )
        conversion = _merged_conversion(self.name, self.conversion, other.conversion)
        return replace(self, state=_merged(self.state, other.state), conversion=conversion)

    def finish(self, *, scale: bool, min_count: int | None, unseen: str) -> ColumnEncoder | str:
        """Return the fitted column, or the reason to drop it."""
        fitted = self._finished(scale=scale, min_count=min_count, unseen=unseen)
        if isinstance(fitted, str):
            return f"{fitted}; {self.note}" if self.note else fitted
        if isinstance(fitted, (NumberColumn, CurveColumn, DateColumn)):
            return replace(fitted, conversion=self.conversion)
        return fitted

    def _finished(self, *, scale: bool, min_count: int | None, unseen: str) -> ColumnEncoder | str:
        options: Mapping[str, Any] = (
            self.spec.options if isinstance(self.spec.options, dict) else {}
        )
        if self.state is None:
            return self.why
        if isinstance(self.state, NumberState):
            values = self.state.values if self.spec.curve else None
            curve = None if values is None else curve_of(self.name, values)
            if curve is not None:
                return curve
            return self.state.finish(self.name, scale=self.is_scaled(default=scale))
        if isinstance(self.state, CategoryState):
            return self.state.finish(
                self.name,
                is_requested=self.spec.kind == "category",
                min_count=options.get("min_count", min_count),
                unseen=options.get("unseen", unseen),
            )
        return self.state.finish(self.name)


def guessed_kinds(
    names: Sequence[str], columns: Columns, conversions: Mapping[str, Given] | None = None
) -> dict[str, tuple[str, str]]:
    """Return the type and reason of each column without fitting texts.

    Parameters
    ----------
    names : sequence of str
    columns : Columns
    conversions : mapping of str to conversion, optional
        Those that the user gave; others are guessed.

    Returns
    -------
    dict of str to (str, str)
        Type, ``"drop"`` for an uninformative column, and reason.
    """
    kinds = {}
    specs = {name: ColumnSpec(conversions={name: how}) for name, how in (conversions or {}).items()}
    for block in blocks_of(names, columns.n_rows):
        parsed = dict(zip(block, typed_columns(columns, block), strict=True))
        guesses = _guesses(parsed, {name: specs.get(name, ColumnSpec()) for name in block})
        for name, guess in guesses.items():
            parsed[name] = convert(name, parsed[name], guess.conversion)
        numbers = _number_states(parsed)
        for name, column in parsed.items():
            kind, why = _guessed_kind(name, column, numbers.get(name))
            told = guesses.get(name)
            if told is not None:
                converted = told.conversion is not None and kind != "drop"
                why = told.reason if converted else f"{why}; {told.reason}"
            kinds[name] = (kind, why)
    return kinds


def _guessed_kind(name: str, column: TypedColumn, number: NumberState | None) -> tuple[str, str]:
    if isinstance(column, Numbers) and is_index(name, column.values):
        return "drop", "an index of rows, not data"
    kind, why, levels = _guessed(column) if number is None else (*_kind_of(number), None)
    if kind in ("number", "unknown", "category"):
        state = number or levels or NumberState.of(numbers_of(name, column))
        finished = ColumnState(name, kind, why, ColumnSpec(), state).finish(
            scale=True, min_count=None, unseen="zero"
        )
        if isinstance(finished, str):
            return "drop", finished
    return kind, why


def _kind_of(numbers: NumberState) -> tuple[str, str]:
    return ("number", "numbers") if numbers.count else _NOTHING


def _guessed(column: TypedColumn) -> tuple[str, str, CategoryState | None]:
    if isinstance(column, Categories):
        levels = CategoryState.of(column)
        kind, why = _kind_of_texts(levels)
        return kind, why, levels if levels.counts else None
    return *_kind_by_type(column), None


def _kind_by_type(column: TypedColumn) -> tuple[str, str]:
    if isinstance(column, Booleans):
        return "boolean", "true and false"
    if isinstance(column, Dates):
        return "date", "dates"
    assert isinstance(column, Numbers)
    return _kind_of(NumberState.of(column.values))


def _kind_of_texts(state: CategoryState) -> tuple[str, str]:
    levels, n_values = state.counts, sum(state.counts.values())
    if not levels:
        return _NOTHING
    if is_date(next(iter(levels))) and all(map(is_date, levels)):
        return "date", "texts that are dates"
    if are_yes_and_no(levels):
        return "boolean", f"{' and '.join(sorted(levels)[:2])}"
    words = sum(level.count(" ") + 1 for level in levels) / len(levels)
    if len(levels) > max(MIN_TEXTS, n_values / 2) and words >= MIN_MEAN_WORDS:
        return "text", f"{len(levels)} different texts of {words:.0f} words in {n_values} values"
    return "category", f"{len(levels)} different texts in {n_values} values"


def columns_for(
    kinds: Sequence[str],
    columns: Columns,
    names: Sequence[str],
    conversions: Sequence[Conversion | None] = (),
) -> Iterator[TypedColumn]:
    """Yield columns in the form that the encoders of a type expect, texts converted."""
    by_type = [kind in ("date", "boolean", "number") for kind in kinds]
    parsed = iter(typed_columns(columns, [n for n, t in zip(names, by_type, strict=True) if t]))
    for name, is_typed, conversion in zip_longest(names, by_type, conversions):
        yield convert(name, next(parsed), conversion) if is_typed else columns[name]


def _guesses(
    columns: Mapping[str, TypedColumn], specs: Mapping[str, ColumnSpec]
) -> dict[str, ConversionGuess]:
    """Guess the conversions of the text columns that may be numbers or dates."""
    guesses = {}
    for name, column in columns.items():
        spec = specs[name]
        if isinstance(column, Categories) and spec.kind in (None, "number", "date"):
            guess = guess_conversion(name, column, spec.conversions, spec.kind)
            if guess is not None:
                guesses[name] = guess
    return guesses


def _merged_conversion(
    name: str, ours: Conversion | None, theirs: Conversion | None
) -> Conversion | None:
    """Return the conversion of both; raise if their texts are read differently."""
    if ours is None or theirs is None or ours == theirs:
        if (ours is None) == (theirs is None):
            return ours
        return ours or theirs  # the other had numbers or dates, not texts
    words = tuple(dict.fromkeys([*ours.missing, *theirs.missing]))
    ours, theirs = (msgspec.structs.replace(each, missing=words) for each in (ours, theirs))
    if ours != theirs:
        raise ValueError(
            f"The encoders cannot be merged: column {name!r} is written in different ways "
            f"({ours} and {theirs}). Say how it is written when they are made: "
            "TableEncoder(conversions={...})."
        )
    return ours


def _number_states(
    columns: Mapping[str, TypedColumn], specs: Mapping[str, ColumnSpec] | None = None
) -> dict[str, NumberState]:
    """Fit the numeric columns, and count the values of those that become curves."""
    numbers = {name: column for name, column in columns.items() if isinstance(column, Numbers)}
    if not numbers:
        return {}
    values = numbers_of_each(list(numbers), list(numbers.values()))
    states = dict(zip(numbers, NumberState.of_each(values), strict=True))
    for name, column in zip(numbers, values, strict=True):
        if specs is not None and specs[name].counts_values:
            states[name] = replace(states[name], values=ValueCounts.of(column))
    return states


def _learn(spec: ColumnSpec, kind: str, name: str, column: TypedColumn) -> State:
    if kind in ("number", "unknown"):
        if isinstance(column, Categories) and not column.levels:
            gone = len(column.codes)
            counts = ValueCounts(missing=gone) if spec.counts_values else None
            return NumberState(missing=gone, values=counts)
        values = numbers_of(name, column)
        counts = ValueCounts.of(values) if spec.counts_values else None
        return replace(NumberState.of(values), values=counts)
    if kind == "category":
        return CategoryState.of(column)
    if kind == "boolean":
        return BooleanState.of(name, column)
    if kind == "date":
        return DateState.of(name, column)
    state = TextState(*text_encoder(spec.options))
    state.add(column)
    return state


def _merged(ours: State, theirs: State) -> State:
    if ours is None or theirs is None:
        return ours
    return ours.merge(theirs)  # type: ignore[arg-type]  # of one kind, as the caller made sure


def _with_missing(state: State, n: int) -> State:
    """Return a state with missing values added."""
    if isinstance(state, NumberState) and state.values is not None:
        counts = replace(state.values, missing=state.values.missing + n)
        state = replace(state, values=counts)
    if isinstance(state, BooleanState | CategoryState | NumberState):
        return replace(state, missing=state.missing + n)
    if isinstance(state, DateState):
        return replace(
            state, numbers=tuple(replace(p, missing=p.missing + n) for p in state.numbers)
        )
    return state.with_missing(n) if isinstance(state, TextState) else state


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """Inferred type of one column.

    Parameters
    ----------
    column : str
    type : str
        ``"number"``, ``"category"``, ``"boolean"``, ``"date"``, ``"text"`` or ``"dropped"``.
    numbers_out : int
        Number of output features.
    why : str
        Reason for the type, or for dropping the column.
    """

    column: str
    type: str
    numbers_out: int
    why: str


@dataclass(frozen=True, repr=False)
class ColumnTable(Sequence[ColumnRow]):
    """Inferred types of the columns of a table; prints as a table.

    Parameters
    ----------
    rows : tuple of ColumnRow
    """

    rows: tuple[ColumnRow, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        encoders: Mapping[str, Any],
        dropped: Mapping[str, str],
        states: Mapping[str, Any],
    ) -> Self:
        """Return the table of fitted columns; for a loaded encoder without the reasons."""
        rows = []
        for name in names:
            if name in dropped:
                rows.append(ColumnRow(name, "dropped", 0, dropped[name]))
                continue
            why = states[name].why if name in states else "fitted before"
            encoder = encoders[name]
            rows.append(ColumnRow(name, encoder.kind, encoder.width, why))
        return cls(tuple(rows))

    @overload
    def __getitem__(self, index: int) -> ColumnRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ColumnRow, ...]: ...
    def __getitem__(self, index: int | slice) -> ColumnRow | tuple[ColumnRow, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        lines = [("column", "type", "numbers out", "why")]
        lines += [(r.column, r.type, str(r.numbers_out), r.why) for r in self.rows]
        wide = [max(len(line[index]) for line in lines) for index in range(3)]
        return "\n".join(
            f"{a.ljust(wide[0])}  {b.ljust(wide[1])}  {c.rjust(wide[2])}  {d}"
            for a, b, c, d in lines
        )
