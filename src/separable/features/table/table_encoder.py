"""TableEncoder: a table of any columns to rows of numbers."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from separable.data.checks.dominant_values import DominantValueWarning, message
from separable.data.column_blocks import blocks_of
from separable.data.columns import Columns, as_columns
from separable.data.ingest.dates import TypedColumns
from separable.data.lazy_texts import ChainedTexts, RepeatedText
from separable.data.table import ColumnType, TableError, list_names
from separable.data.threads import in_threads, n_threads
from separable.features.encoding_report import EncodingReport, UnseenLedger
from separable.features.row_assembly import Slot, rows_from_slots
from separable.features.table.column_specs import check_options, column_specs_of, unseen_policies
from separable.features.table.column_states import ColumnState, ColumnTable, columns_for
from separable.features.table.feature_names import names_of_numbers
from separable.features.table.number_column import NumberColumn, encode_numbers
from separable.features.table.table_serialization import (
    Parts,
    options_from_values,
    tensors_of,
    values_of,
)
from separable.features.table.text_column import TextColumn
from separable.features.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self, TypeAlias

    from numpy.typing import NDArray

    from separable.data.checks.dominant_values import DominantValue
    from separable.data.rows import Rows
    from separable.features.base import Tensors, Values
    from separable.features.encoding_report import ColumnReport
    from separable.features.table.column_states import ColumnEncoder
    from separable.features.text.text_encoder import TextEncoder

    Names: TypeAlias = Sequence[str] | Mapping[str, Any] | None

__all__ = ["TableEncoder"]

#: Fewer cells are encoded by the calling thread: starting others takes longer than the work.
THREADED_CELLS = 5000

EQUAL_AFTER_SCALING = (
    "so large that the other values of the column are all but equal when it is standardised, and "
    "nothing is learned from them"
)


class TableEncoder(Transformer):
    """Encode a table as rows of numbers, each column by what it holds.

    - A **number** x becomes ``(x - mean) / deviation`` with the mean and standard deviation of the
      training data, a missing one the mean (0), and where training values were missing there is an
      indicator ``x=(missing)`` beside it.
    - A **category** becomes one number for each level, ``island=Dream``, and one for missing values
      where the training data had some. Rare levels share one, ``island=(rare)``.
    - A **boolean** is one number, ``open=True``.
    - A **date** is its day as a number and the parts that vary: year and day of the month as
      numbers, month, weekday and hour as levels (``when.weekday=Sun``).
    - Free **text** goes through a `TextEncoder`: words and pairs of words (``review:great film``),
      sublinear tf-idf, rows of length 1; those of a single text are left out from 100 texts on.

    A column of text is free text when more than half of its values (and more than 10) are different
    and have three words or more in the mean; one with more than 50 levels, most of them of one
    value, is taken for an identifier; ISO dates are dates; every other one is a category. `guess`
    shows what a table is taken for. Columns that cannot tell anything (constant, all missing, an
    identifier) are dropped and named in `dropped_`.

    Parameters
    ----------
    number, category, boolean, date, text, drop : sequence of str or mapping, optional
        Columns to treat so, whatever they look like. A mapping gives options of a column too:
        ``number={"age": {"scale": False}}``, ``category={"city": {"min_count": 5, "unseen":
        "error"}}``, ``text={"review": TextEncoder(...)}`` or a dict of its parameters.
    scale : bool, default True
        False: numbers stay as they are, and a missing one becomes 0. This is for counts, which
        naive Bayes adds up.
    min_count : int, optional
        Levels that occur less often are rare and share a number. By default less than one row in
        20 000, so that none is in a small table. A single rare level keeps its name.
    unseen : {"zero", "error", "other"} or mapping of column to one of them, default "zero"
        What a level becomes that the training data did not have: zeros, an error, or the number of
        the rare levels; with "other" levels that occur once are rare. `unseen_` counts them.
    n_jobs : int or None, default None
        The threads that share out columns and rows; None is one, -1 one for each core. The numbers
        out do not depend on it.

    Attributes
    ----------
    columns_ : ColumnTable
        What each column was taken for and why; it prints as a table.
    dropped_ : dict of str to str
        The columns left out, each with the reason.
    unseen_ : dict of str to dict
        The levels met since fit that the training data did not have: by column their count, at most
        100 levels by name with theirs, and the count of the others. No part of a saved model.
    feature_names_in_ : ndarray of str
        The columns of the training table.
    n_features_in_ : int
        Their number.

    Examples
    --------
    >>> from separable import TableEncoder
    >>> table = {"age": [20, 40, None], "city": ["Rome", "Oslo", "Rome"], "year": [1, 1, 1]}
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.feature_names
    ('age', 'age=(missing)', 'city=Oslo', 'city=Rome')
    >>> encoder.transform([{"age": 50, "city": "Oslo"}])
    array([[2., 0., 1., 0.]])
    >>> encoder.columns_
    column  type      numbers out  why
    age     number              2  numbers
    city    category            2  2 different texts in 3 values
    year    dropped             0  constant: every value is 1
    """

    kind: ClassVar[str] = "table"

    def __init__(
        self,
        *,
        number: Names = None,
        category: Names = None,
        boolean: Names = None,
        date: Names = None,
        text: Names = None,
        drop: Names = None,
        scale: bool = True,
        min_count: int | None = None,
        unseen: str | Mapping[str, str] = "zero",
        n_jobs: int | None = None,
    ) -> None:
        self.number = number
        self.category = category
        self.boolean = boolean
        self.date = date
        self.text = text
        self.drop = drop
        self.scale = scale
        self.min_count = min_count
        self.unseen = unseen
        self.n_jobs = n_jobs

    # --- learning ---

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means, deviations, levels and words.

        Parameters
        ----------
        X : pyarrow Table, data frame, dict of columns or list of dicts
        y : ignored

        Returns
        -------
        TableEncoder
            Itself.
        """
        self._forget()
        self.partial_fit(X, y)
        self._fitted()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from some more rows.

        The first rows decide what each column is, unless it was said; a column whose values were
        all missing is decided later. Apart from that the outcome is that of `fit` on all rows.

        Parameters
        ----------
        X : pyarrow Table, data frame, dict of columns or list of dicts
        y : ignored

        Returns
        -------
        TableEncoder
            Itself.
        """
        columns = as_columns(X)
        _refuse_no_rows(columns)
        states: dict[str, ColumnState] = getattr(self, "_states", {})
        threads = n_threads(self.n_jobs, "TableEncoder")
        if states:
            _require(states, columns)
            learned: dict[str, ColumnState] = {}
            for last in (False, True):  # columns that may fail come before texts, which are changed
                chosen = [state for state in states.values() if state.is_changed == last]
                made = in_threads(
                    threads,
                    lambda block: ColumnState.each_followed_by(block, columns),
                    blocks_of(chosen, columns.n_rows),
                )
                learned |= {state.name: state for block in made for state in block}
            self._learned({name: learned[name] for name in states})
        else:
            check_options(self.min_count)
            specs = column_specs_of(self, columns.names)
            first = in_threads(
                threads,
                lambda names: ColumnState.of_each(names, columns, specs),
                blocks_of(columns.names, columns.n_rows),
            )
            self._learned({state.name: state for block in first for state in block})
        self._warn_of_dominant_values(states)
        return self

    def _warn_of_dominant_values(self, before: Mapping[str, ColumnState]) -> None:
        """Name values beside which a standardised column shows nothing of the others."""
        dominant: list[DominantValue] = []
        names: list[str] = []
        for name, state in self._states.items():
            value = state.dominant
            if value is None or not state.is_scaled(default=bool(self.scale)):
                continue
            if name not in before or before[name].dominant is None:
                dominant.append(replace(value, column=len(names)))
                names.append(name)
        if dominant:
            text = message(dominant, lambda k: repr(names[k]), EQUAL_AFTER_SCALING)
            warnings.warn(text, DominantValueWarning, stacklevel=4)

    def merge(self, other: TableEncoder) -> TableEncoder:
        """Return an encoder that has learned what both have, as if from all their rows.

        Parameters
        ----------
        other : TableEncoder
            Fitted on other rows with the same columns.

        Returns
        -------
        TableEncoder
            A new one.
        """
        ours, theirs = self._states_to_go_on(), other._states_to_go_on()
        if set(ours) != set(theirs):
            differing = list_names(sorted(set(ours) ^ set(theirs)), 5)
            raise TableError(
                f"The encoders cannot be merged: {differing} are columns of one of them only."
            )
        merged = type(self)(**self.get_params(deep=False))
        merged._learned({name: state.merge(theirs[name]) for name, state in ours.items()})
        return merged

    def _states_to_go_on(self) -> dict[str, ColumnState]:
        if not getattr(self, "_states", None):
            raise ValueError(
                "This TableEncoder has no counts to go on from: it is not fitted, or comes from a "
                "model file, which does not keep them. Fit it on its rows."
            )
        return self._states

    def _learned(self, states: dict[str, ColumnState]) -> None:
        self._states = states
        self._encoders: tuple[ColumnEncoder, ...] | None = None
        self._unseen = UnseenLedger()
        self.feature_names_in_ = np.array(list(states), dtype=object)
        self.n_features_in_ = len(states)

    def _forget(self) -> None:
        for name in ("_states", "_encoders"):
            if hasattr(self, name):
                delattr(self, name)

    def _finish(self) -> None:
        encoders: list[ColumnEncoder] = []
        dropped = {}
        scale, policies = bool(self.scale), unseen_policies(self.unseen, self._states)
        for (name, state), policy in zip(self._states.items(), policies, strict=True):
            fitted = state.finish(scale=scale, min_count=self.min_count, unseen=policy)
            if isinstance(fitted, str):
                dropped[name] = fitted
            else:
                encoders.append(fitted)
        if not encoders:
            reasons = "; ".join(f"{name!r}: {reason}" for name, reason in list(dropped.items())[:5])
            raise TableError(f"No column is left to learn from ({reasons}).")
        self._set_fitted(encoders, dropped, tuple(self._states))

    def _set_fitted(
        self,
        encoders: Sequence[ColumnEncoder],
        dropped: Mapping[str, str],
        names_in: Sequence[str],
    ) -> None:
        self._encoders = tuple(encoders)
        self._dropped = dict(dropped)
        self.feature_names_in_ = np.array(names_in, dtype=object)
        self.n_features_in_ = len(names_in)
        widths = [encoder.width for encoder in encoders]
        self._starts = tuple(np.cumsum([0, *widths]).tolist())
        self._feature_names: Sequence[str] | None = None
        self._sources = ChainedTexts(
            [
                RepeatedText(encoder.name, width)
                for encoder, width in zip(encoders, widths, strict=True)
            ]
        )

    def _fitted(self) -> tuple[ColumnEncoder, ...]:
        if not hasattr(self, "_encoders"):
            raise self._not_fitted()
        if self._encoders is None:
            self._finish()
        assert self._encoders is not None
        return self._encoders

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_encoders")

    def without_state(self) -> TableEncoder:
        """Return a copy that encodes as this one does and cannot learn on: it is smaller."""
        self._fitted()
        slim = copy(self)
        slim._states = {}
        slim._unseen = UnseenLedger()
        return slim

    # --- what it learned ---

    def guess(self, X: Any) -> ColumnTable:
        """Return what each column of a table would be taken for, as a table to print.

        The encoder itself stays as it is. It costs what `fit` costs.

        Parameters
        ----------
        X : pyarrow Table, data frame, dict of columns or list of dicts

        Returns
        -------
        ColumnTable
        """
        return type(self)(**self.get_params(deep=False)).fit(X).columns_

    @property
    def columns_(self) -> ColumnTable:
        """What each column was taken for, why, and how many numbers come out of it."""
        encoders = {encoder.name: encoder for encoder in self._fitted()}
        return ColumnTable.of(
            self.feature_names_in_.tolist(), encoders, self._dropped, getattr(self, "_states", {})
        )

    @property
    def dropped_(self) -> dict[str, str]:
        """The columns left out, each with the reason."""
        self._fitted()
        return self._dropped

    @property
    def unseen_(self) -> dict[str, dict[str, Any]]:
        """The levels met since fit that the training data did not have, counted by column."""
        if not hasattr(self, "_encoders"):
            raise self._not_fitted()
        return self._unseen.to_dict()

    @property
    def feature_names(self) -> Sequence[str]:
        """The names of the numbers out, as a sequence equal to the tuple of them."""
        encoders = self._fitted()
        if self._feature_names is None:
            self._feature_names = names_of_numbers(encoders)
        return self._feature_names

    @property
    def sources(self) -> Sequence[str]:
        """For each number out, the raw column it came from."""
        self._fitted()
        return self._sources

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The columns in use as `read` takes them; free text is read as a category."""
        return {
            encoder.name: "category" if encoder.kind == "text" else cast("ColumnType", encoder.kind)
            for encoder in self._fitted()
        }

    @property
    def column_encoders(self) -> tuple[ColumnEncoder, ...]:
        """How each column in use is encoded, in the order of the numbers out."""
        return self._fitted()

    @property
    def text_encoders(self) -> dict[str, TextEncoder]:
        """The encoders of the columns of free text, by column."""
        return {each.name: each.encoder for each in self._fitted() if isinstance(each, TextColumn)}

    def shown(self, feature: int, value: float) -> str | None:
        """Return the raw value behind a number out, where its name does not say it.

        Parameters
        ----------
        feature : int
        value : float
            The encoded value.

        Returns
        -------
        str or None
        """
        encoders = self._fitted()
        column = bisect_right(self._starts, feature) - 1
        return encoders[column].shown(feature - self._starts[column], value)

    # --- encoding ---

    def encode(self, data: Any) -> Rows:
        """Turn a table into rows of float64.

        Parameters
        ----------
        data : pyarrow Table, data frame, dict of columns or list of dicts
            It must have every column that is in use; others are ignored.

        Returns
        -------
        Rows
            Dense up to 64 numbers out, else CSR.
        """
        return self.encode_with_report(data)[0]

    def encode_with_report(self, data: Any) -> tuple[Rows, EncodingReport]:
        """Turn a table into rows, and count what was missing or unseen in it.

        Parameters
        ----------
        data : pyarrow Table, data frame, dict of columns or list of dicts

        Returns
        -------
        rows : Rows
        report : EncodingReport
        """
        encoders = self._fitted()
        columns = as_columns(data)
        _refuse_no_rows(columns)
        _require([encoder.name for encoder in encoders], columns)
        slots: list[Slot] = []
        reports: list[ColumnReport] = []
        threads = n_threads(self.n_jobs, "TableEncoder")
        if columns.n_rows * len(encoders) < THREADED_CELLS:
            threads = 1
        blocks = blocks_of(encoders, columns.n_rows)
        for encoded, met in in_threads(threads, partial(_encoded, columns), blocks):
            slots += encoded
            reports += met
        for report in reports:
            if report.unseen:
                self._unseen.add(report.column, report.unseen_counts)
        rows = rows_from_slots(slots, columns.n_rows, n_threads=threads)
        return rows, EncodingReport(columns.n_rows, tuple(reports))

    def encode_one(self, record: Mapping[str, Any]) -> list[tuple[int, float]] | None:
        """Encode one record quickly, without NumPy for each column.

        Parameters
        ----------
        record : dict

        Returns
        -------
        list of (int, float), or None
            The numbers out that are not 0, each with its value, as `encode` has them. None: the
            record holds something unusual, and `encode` is to deal with it.
        """
        out: list[tuple[int, float]] = []
        for encoder, start in zip(self._fitted(), self._starts, strict=False):
            if encoder.name not in record:
                return None
            pairs = encoder.encode_one(record[encoder.name])
            if pairs is None:
                return None
            out += [(start + index, value) for index, value in pairs]
        return out

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from a table and turn it into a matrix."""
        columns = TypedColumns(as_columns(X))
        return self._given_out(self.fit(columns, y).encode(columns), X)

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return what was learned as tensors and JSON values.

        Returns
        -------
        tensors : dict of str to ndarray or tuple of str
        values : dict of str to JSON
        """
        encoders = self._fitted()
        tensors, texts = tensors_of(encoders, self.dropped_, self.feature_names_in_.tolist())
        return tensors, values_of(self.get_params(deep=False), texts)

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder; the inverse of `to_parts`, to the same bits.

        Parameters
        ----------
        tensors : mapping of str to ndarray or tuple of str
        values : mapping of str to JSON

        Returns
        -------
        TableEncoder

        Raises
        ------
        ValueError
            The parts do not fit together, as in a damaged or forged file.
        """
        parts = Parts(tensors, values)
        encoder = cls(**options_from_values(values))
        encoder._unseen = UnseenLedger()
        encoder._set_fitted(parts.encoders(), parts.dropped(), parts.names_in())
        return encoder


def _encoded(
    columns: Columns, encoders: Sequence[ColumnEncoder]
) -> tuple[list[Slot], list[ColumnReport]]:
    """Encode a block of columns, neighbours that are numbers together."""
    kinds = [encoder.kind for encoder in encoders]
    taken = columns_for(kinds, columns, [encoder.name for encoder in encoders])
    slots: list[Slot] = []
    reports: list[ColumnReport] = []
    for are_numbers, run in groupby(
        zip(encoders, taken, strict=True), lambda pair: isinstance(pair[0], NumberColumn)
    ):
        if are_numbers:
            slot, met = encode_numbers(*zip(*run, strict=True))
            slots.append(slot)
            reports += met
            continue
        for encoder, column in run:
            assert not isinstance(encoder, NumberColumn)
            encoded, report = encoder.encode(column)
            slots += encoded
            reports += [report] if report.missing or report.unseen else []
    return slots, reports


def _require(names: Any, columns: Columns) -> None:
    absent = [name for name in names if name not in columns]
    if absent:
        raise TableError(
            f"The table lacks {len(absent)} column(s) that the encoder was fitted with: "
            f"{list_names(absent, 5)}. It has {list_names(columns.names, 10)}. Add them, empty "
            "where the values are not known."
        )


def _refuse_no_rows(columns: Columns) -> None:
    if not columns.n_rows:
        raise TableError("The table has no rows.")
