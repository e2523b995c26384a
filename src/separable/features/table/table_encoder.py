"""TableEncoder: a table of mixed column types to rows."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from separable.data.checks.dominant_values import DominantValueWarning, message
from separable.data.columns import Columns, as_columns, blocks_of
from separable.data.ingest.dates import TypedColumns
from separable.data.resources import in_threads, n_threads
from separable.data.strings import ChainedTexts, RepeatedText
from separable.data.table import ColumnType, TableError, list_names
from separable.estimator import not_fitted_error
from separable.features.base import Transformer
from separable.features.encoding_report import EncodingReport, UnseenLedger
from separable.features.interaction.axes import bins_of, pair_columns, suited_axes
from separable.features.interaction.pair_column import PairColumn
from separable.features.row_assembly import Slot, rows_from_slots
from separable.features.table.column_specs import (
    check_constraints,
    check_options,
    column_specs_of,
    constraints_of,
    names_of_numbers,
    pairs_of,
    unseen_policies,
)
from separable.features.table.column_states import ColumnState, ColumnTable, columns_for
from separable.features.table.curve_column import CurveColumn
from separable.features.table.date_column import DateColumn
from separable.features.table.number_column import NumberColumn, encode_numbers
from separable.features.table.table_serialization import (
    Parts,
    add_pairs,
    options_from_values,
    tensors_of,
    values_of,
)
from separable.features.table.text_column import TextColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self, TypeAlias

    from numpy.typing import NDArray

    from separable.data.checks.dominant_values import DominantValue
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.conversions.guessing import Given
    from separable.data.rows import Rows
    from separable.features.base import Tensors, Values
    from separable.features.encoding_report import ColumnReport
    from separable.features.table.column_states import ColumnEncoder
    from separable.features.text.text_encoder import TextEncoder

    Names: TypeAlias = Sequence[str] | Mapping[str, Any] | None

__all__ = ["TableEncoder"]

#: Below this many cells, encoding is single-threaded: starting threads would take longer.
THREADED_CELLS = 5000

EQUAL_AFTER_SCALING = (
    "so large that the other values of the column are nearly equal after standardization, and "
    "nothing is learned from them"
)


@dataclass(eq=False, repr=False)
class TableEncoder(Transformer):
    """Encode a table as rows, each column according to its type.

    - A **number** x becomes ``(x - mean) / deviation`` with the mean and standard deviation of the
      training data. A missing x becomes the mean (0); if training values were missing, there is
      also an indicator ``x=(missing)``.
    - A **category** becomes one indicator per level, ``island=Dream``, and one for missing values
      if the training data had some. Rare levels share one, ``island=(rare)``.
    - A **boolean** becomes one indicator, ``open=True``.
    - A **date** becomes its day as a number and its varying parts: year and day of the month as
      numbers, month, weekday and hour as levels (``when.weekday=Sun``).
    - Free **text** is encoded by a `TextEncoder`: words and pairs of words (``review:great film``),
      sublinear tf-idf, rows of length 1. From 100 texts on, terms of a single text are dropped.

    A text column is free text if more than half of its values (and more than 10) are distinct, with
    three or more words on average. A column with more than 50 levels, most of them unique, is an
    identifier. ISO dates are dates, yes and no are booleans. Numbers and dates as people write them
    (``$1,133.98``, ``12 kg``, ``05.03.2024``, ``14:30``) are converted if nearly all distinct texts
    of the column can be read; `conversions_` has the conversions, which `encode` applies too. Any
    other text column is a category. `guess` shows the inferred types. Uninformative columns
    (constant, all missing, identifier) are dropped and listed in `dropped_`.

    Parameters
    ----------
    number, category, boolean, date, text, drop : sequence of str or mapping, optional
        Columns to treat as this type, whatever they look like. A mapping also gives options of a
        column: ``number={"age": {"scale": False}}``, ``category={"city": {"min_count": 5, "unseen":
        "error"}}``, ``text={"review": TextEncoder(...)}`` or a dict of its parameters.
    conversions : mapping of str to conversion, optional
        How text columns are converted to numbers and dates, instead of the guess: ``"day-first"``,
        ``"month-first"``, ``"decimal-comma"``, ``"decimal-point"``, ``"text"`` or None (not
        converted), or the fields of a conversion, such as ``{"kind": "number", "units": ["kg"],
        "missing": ["lost"]}``.
    scale : bool, default True
        False: numbers are not standardized, and missing ones become 0, as counts for naive Bayes
        require.
    min_count : int, optional
        Levels that occur less often are rare and share an indicator. By default less than once in
        20 000 rows, so a small table has none. A single rare level keeps its name.
    unseen : {"zero", "error", "other"} or mapping of column to one of them, default "zero"
        Encoding of a level that the training data did not have: zeros, an error, or the indicator
        of the rare levels; with "other", levels that occur once are rare. `unseen_` counts them.
    curves : bool, default False
        Whether numbers with at least four distinct values become curves: the features of a
        `SplineEncoder`, ``age[32-41]``, constant beyond the outer knots. There are at most 32
        quantile knots, one for each 10 rows. ``number={"age": {"curve": True}}`` decides for one
        column. Fit a learner with a penalty.
    interactions : sequence of (str, str), optional
        Pairs of columns whose products become features too, the most important first:
        ``[("age", "sex")]`` gives ``age[32-41] x sex=male``. A number takes part as a curve with
        few knots, a category with its most frequent levels; the first pair has at most about 400
        features, the second 196, later ones 100, from the sixth on 49.
    increasing, decreasing : sequence of str, optional
        Numbers and booleans whose effect has one direction: predictions, or the score of the second
        of two classes, never decrease (increase) with them. `TableClassifier`, `TableRegressor` and
        `train` fit that; a learner alone takes the signs of its weights as ``monotonic_cst``. Such
        columns take no part in interactions.
    nonnegative : sequence of str, optional
        Columns of any type whose features have weights of at least 0.
    n_jobs : int or None, default None
        Number of threads; None is 1, -1 all cores. The result does not depend on it.

    Attributes
    ----------
    columns_ : ColumnTable
        Inferred type of each column, with the reason; it prints as a table.
    dropped_ : dict of str to str
        Dropped columns, each with the reason.
    conversions_ : dict of str to Conversion
        Conversions of text columns to numbers and dates.
    unseen_ : dict of str to dict
        Levels unseen in training and met since fit: by column their total, up to 100 levels with
        counts, and the count of the others. Not part of a saved model.
    feature_names_in_ : ndarray of str
        Columns of the training table.
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

    _: KW_ONLY
    number: Names = None
    category: Names = None
    boolean: Names = None
    date: Names = None
    text: Names = None
    drop: Names = None
    conversions: Mapping[str, Given] | None = None
    scale: bool = True
    min_count: int | None = None
    unseen: str | Mapping[str, str] = "zero"
    curves: bool = False
    interactions: Sequence[tuple[str, str]] | None = None
    increasing: Sequence[str] | None = None
    decreasing: Sequence[str] | None = None
    nonnegative: Sequence[str] | None = None
    n_jobs: int | None = None

    kind: ClassVar[str] = "table"

    # --- learning ---

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means, deviations, levels and vocabularies.

        Parameters
        ----------
        X : pyarrow Table, data frame, dict of columns or list of dicts
        y : ignored

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        self._forget()
        self.partial_fit(X, y)
        self._fitted()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Update the fit with more rows.

        The first rows determine the type of each column, unless it was given; a column whose values
        were all missing is determined later. Otherwise the result is that of `fit` on all rows.

        Parameters
        ----------
        X : pyarrow Table, data frame, dict of columns or list of dicts
        y : ignored

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        columns = as_columns(X)
        _refuse_no_rows(columns)
        states: dict[str, ColumnState] = getattr(self, "_states", {})
        threads = n_threads(self.n_jobs, "TableEncoder")
        if states:
            _require(states, columns)
            learned: dict[str, ColumnState] = {}
            for last in (
                False,
                True,
            ):  # columns that may fail come before texts, which are modified in place
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
        """Warn about outliers that hide the other values of a standardized column."""
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
        """Return an encoder fitted to the rows of both.

        Parameters
        ----------
        other : TableEncoder
            Fitted on other rows with the same columns.

        Returns
        -------
        TableEncoder
            A new encoder.
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
        self.term_scales_: NDArray[np.float64] | None = None
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
        columns = {encoder.name: encoder for encoder in encoders}
        check_constraints(self.constraints, columns)
        pairs = pair_columns(pairs_of(self.interactions), self._states, columns)
        self._set_fitted(encoders, dropped, tuple(self._states), pairs)

    def _set_fitted(
        self,
        encoders: Sequence[ColumnEncoder],
        dropped: Mapping[str, str],
        names_in: Sequence[str],
        pairs: Sequence[PairColumn],
    ) -> None:
        self._encoders = tuple(encoders)
        self._pairs = tuple(pairs)
        self._dropped = dict(dropped)
        self.feature_names_in_ = np.array(names_in, dtype=object)
        self.n_features_in_ = len(names_in)
        terms = [*encoders, *pairs]
        widths = [term.width for term in terms]
        self._starts = tuple(np.cumsum([0, *widths]).tolist())
        self._feature_names: Sequence[str] | None = None
        sides: dict[Any, int] = {}
        axes = [axis for pair in pairs for axis in (pair.first, pair.second)]
        numbers = [sides.setdefault(PairColumn.key_of(axis), len(sides)) for axis in axes]
        self._sides = [axes[numbers.index(k)] for k in range(len(sides))]
        self._side_numbers = [
            (numbers[2 * k], numbers[2 * k + 1], self._starts[len(encoders) + k], pair.second.width)
            for k, pair in enumerate(pairs)
        ]
        self._sources = ChainedTexts(
            [RepeatedText(term.name, width) for term, width in zip(terms, widths, strict=True)]
        )

    def _fitted(self) -> tuple[ColumnEncoder, ...]:
        if not hasattr(self, "_encoders"):
            raise not_fitted_error(self)
        if self._encoders is None:
            self._finish()
        assert self._encoders is not None
        return self._encoders

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_encoders")

    def without_state(self) -> TableEncoder:
        """Return a smaller copy that encodes equally but cannot be fitted further."""
        self._fitted()
        slim = copy(self)
        slim._states = {}
        slim._unseen = UnseenLedger()
        return slim

    # --- fitted attributes ---

    def guess(self, X: Any) -> ColumnTable:
        """Return the inferred type of each column of a table, as a table to print.

        The encoder itself is not changed. The cost is that of `fit`.

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
        """Inferred type of each column, the reason, and the number of output features."""
        encoders = {encoder.name: encoder for encoder in self._fitted()}
        return ColumnTable.of(
            self.feature_names_in_.tolist(), encoders, self._dropped, getattr(self, "_states", {})
        )

    @property
    def dropped_(self) -> dict[str, str]:
        """Dropped columns, each with the reason."""
        self._fitted()
        return self._dropped

    @property
    def unseen_(self) -> dict[str, dict[str, Any]]:
        """Levels unseen in training and met since fit, counted by column."""
        if not hasattr(self, "_encoders"):
            raise not_fitted_error(self)
        return self._unseen.to_dict()

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names, as a sequence equal to their tuple."""
        self._fitted()
        if self._feature_names is None:
            self._feature_names = names_of_numbers(self.terms)
        return self._feature_names

    @property
    def sources(self) -> Sequence[str]:
        """Raw column of each output feature."""
        self._fitted()
        return self._sources

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """Types of the used columns, in the form that `read` accepts.

        Free text, and texts that the encoder converts, are a category.
        """
        return {
            encoder.name: "category"
            if encoder.kind == "text" or encoder.name in self.conversions_
            else cast("ColumnType", encoder.kind)
            for encoder in self._fitted()
        }

    @property
    def conversions_(self) -> dict[str, Conversion]:
        """Conversions of text columns to numbers and dates, by column."""
        return {
            encoder.name: encoder.conversion
            for encoder in self._fitted()
            if isinstance(encoder, (NumberColumn, CurveColumn, DateColumn))
            and encoder.conversion is not None
        }

    @property
    def column_encoders(self) -> tuple[ColumnEncoder, ...]:
        """Encoders of the used columns, in output order."""
        return self._fitted()

    @property
    def pair_encoders(self) -> tuple[PairColumn, ...]:
        """Encoders of the interactions, whose features follow those of the columns."""
        self._fitted()
        return self._pairs

    @property
    def terms(self) -> tuple[ColumnEncoder | PairColumn, ...]:
        """Encoders of columns and interactions, in output order."""
        return (*self._fitted(), *self._pairs)

    @property
    def constraints(self) -> dict[str, str]:
        """Constrained columns: each "increasing", "decreasing" or "nonnegative"."""
        return constraints_of(self)

    @property
    def text_encoders(self) -> dict[str, TextEncoder]:
        """Text encoders by column."""
        return {each.name: each.encoder for each in self._fitted() if isinstance(each, TextColumn)}

    def shown(self, feature: int, value: float) -> str | None:
        """Return the raw value of an output feature, unless its name says it.

        Parameters
        ----------
        feature : int
        value : float
            Encoded value.

        Returns
        -------
        str or None
        """
        encoders = self._fitted()
        at = bisect_right(self._starts, feature) - 1
        term = encoders[at] if at < len(encoders) else self._pairs[at - len(encoders)]
        return term.shown(feature - self._starts[at], value)

    # --- encoding ---

    def encode(self, data: Any) -> Rows:
        """Encode a table as rows of float64.

        Parameters
        ----------
        data : pyarrow Table, data frame, dict of columns or list of dicts
            It must have every used column; others are ignored.

        Returns
        -------
        Rows
            Dense up to 64 output features, else CSR.
        """
        return self.encode_with_report(data)[0]

    def encode_with_report(self, data: Any) -> tuple[Rows, EncodingReport]:
        """Encode a table, and count missing and unseen values.

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
        for pair in self._pairs:
            axes = (pair.first, pair.second)
            columns = columns if isinstance(columns, TypedColumns) else TypedColumns(columns)
            conversions = [getattr(axis, "conversion", None) for axis in axes]
            kinds = [axis.kind for axis in axes]
            first, second = columns_for(kinds, columns, pair.columns, conversions)
            slots += pair.encode(first, second, columns.n_rows)
        for report in reports:
            if report.unseen:
                self._unseen.add(report.column, report.unseen_counts)
        rows = rows_from_slots(slots, columns.n_rows, n_threads=threads)
        return rows, EncodingReport(columns.n_rows, tuple(reports))

    def codes(self, data: Any, bins: int) -> dict[str, NDArray[np.int64]]:
        """Return the bin of each row, for each column that can be part of an interaction.

        That excludes constrained columns. A number is divided at quantiles, unless the encoder was
        fitted without ``curves``; rare levels share a bin, and so do missing values.

        Parameters
        ----------
        data : pyarrow Table, data frame, dict of columns or list of dicts
        bins : int
            Most bins, up to frequent values of a number, which have bins of their own.
        """
        encoders = {encoder.name: encoder for encoder in self._fitted()}
        columns = as_columns(data)
        states = self._states_to_go_on()
        axes = suited_axes(states, encoders, bins)
        conversions = [getattr(axis, "conversion", None) for axis in axes]
        names = [axis.name for axis in axes]
        taken = columns_for([axis.kind for axis in axes], columns, names, conversions)
        return {
            axis.name: bins_of(axis, column, columns.n_rows)
            for axis, column in zip(axes, taken, strict=True)
            if axis.name not in self.constraints
        }

    def encode_one(self, record: Mapping[str, Any]) -> list[tuple[int, float]] | None:
        """Encode a single record fast, without NumPy per column.

        Parameters
        ----------
        record : dict

        Returns
        -------
        list of (int, float), or None
            Non-zero output features with their values, as `encode` computes them. None: the record
            has an unusual value, which `encode` must handle.
        """
        out: list[tuple[int, float]] = []
        for encoder, start in zip(self._fitted(), self._starts, strict=False):
            if encoder.name not in record:
                return None
            pairs = encoder.encode_one(record[encoder.name])
            if pairs is None:
                return None
            out += [(start + index, value) for index, value in pairs]
        if not self._pairs:
            return out
        sides = []
        for axis in self._sides:  # pairs of the same column often share one
            made = axis.encode_one(record[axis.name])
            if made is None:
                return None
            sides.append(made)
        for first, second, start, width in self._side_numbers:
            right = sides[second]
            out += [(start + i * width + j, u * v) for i, u in sides[first] for j, v in right]
        return out

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to a table and encode it."""
        columns = TypedColumns(as_columns(X))
        return self._given_out(self.fit(columns, y).encode(columns), X)

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values."""
        encoders = self._fitted()
        tensors, saved = tensors_of(encoders, self.dropped_, self.feature_names_in_.tolist())
        add_pairs(self._pairs, tensors, saved)
        return tensors, values_of(self.get_params(deep=False), saved)

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder bit by bit; the inverse of `to_parts`."""
        parts = Parts(tensors, values)
        encoder = cls(**options_from_values(values))
        encoder._unseen = UnseenLedger()
        encoder._set_fitted(parts.encoders(), parts.dropped(), parts.names_in(), parts.pairs())
        return encoder


def _encoded(
    columns: Columns, encoders: Sequence[ColumnEncoder]
) -> tuple[list[Slot], list[ColumnReport]]:
    """Encode a block of columns, consecutive numeric columns together."""
    kinds = [encoder.kind for encoder in encoders]
    conversions = [getattr(encoder, "conversion", None) for encoder in encoders]
    taken = columns_for(kinds, columns, [encoder.name for encoder in encoders], conversions)
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
            f"{list_names(absent, 5)}. It has {list_names(columns.names, 10)}. Add them, empty if "
            "the values are not known."
        )


def _refuse_no_rows(columns: Columns) -> None:
    if not columns.n_rows:
        raise TableError("The table has no rows.")
