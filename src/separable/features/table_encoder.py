"""TableEncoder: a table of numbers and categories to rows of numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.columns import Columns, Numbers, as_columns
from separable.data.table import ColumnType, TableError, list_names, require_columns
from separable.features.category_column import CategoryColumn
from separable.features.encoding_report import EncodingReport
from separable.features.number_column import NumberColumn
from separable.features.slot import Slot, rows_from_slots
from separable.features.table_parts import (
    OPTIONS,
    ColumnEncoder,
    Parts,
    options_from_values,
    tensors_of,
)
from separable.features.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.features.encoder import Tensors, Values

__all__ = ["TableEncoder"]


class TableEncoder(Transformer):
    """Encode a table of numbers and categories as rows of numbers.

    A number column x becomes ``(x - mean) / deviation`` with the mean and standard deviation of the
    training data, a missing number the mean (0), and where training values were missing there is
    an indicator ``x=(missing)`` beside it. A category column becomes one number for each level,
    ``island=Dream``, and one for missing values where the training data had some. A level that the
    training data did not have, and a missing category where it had none, becomes zeros;
    `encode_with_report` counts them. Columns that cannot tell anything (constant, all missing, an
    identifier) are dropped and named in `dropped_`.

    Parameters
    ----------
    number, category, drop : sequence of str, optional
        Columns to treat so, whatever they look like. Without these, columns of numbers are numbers,
        and text and booleans are categories; a column of text with more than 50 levels and more
        than half of its values different is taken for an identifier and dropped.
    scale : bool, default True
        False: numbers stay as they are, and a missing one becomes 0. This is for counts, which
        naive Bayes adds up.

    Attributes
    ----------
    dropped_ : dict of str to str
        The columns left out, each with the reason.
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
    >>> encoder.dropped_
    {'year': 'constant: every value is 1'}
    """

    kind: ClassVar[str] = "table"

    def __init__(
        self,
        *,
        number: Sequence[str] | None = None,
        category: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        scale: bool = True,
    ) -> None:
        self.number = number
        self.category = category
        self.drop = drop
        self.scale = scale

    # --- learning ---

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn means, deviations and levels.

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
        asked = self._asked(columns)
        encoders: list[ColumnEncoder] = []
        dropped = {}
        for name in columns.names:
            fitted = _fit_column(name, columns, asked.get(name), scale=bool(self.scale))
            if isinstance(fitted, str):
                dropped[name] = fitted
            else:
                encoders.append(fitted)
        if not encoders:
            told = "; ".join(f"{name!r}: {reason}" for name, reason in list(dropped.items())[:5])
            raise TableError(f"No column is left to learn from ({told}).")
        self._set_fitted(encoders, dropped, columns.names)
        return self

    def _asked(self, columns: Columns) -> dict[str, str]:
        """Return what the options ask for, by column."""
        asked: dict[str, str] = {}
        for option in OPTIONS:
            names = getattr(self, option)
            if isinstance(names, str):
                raise ValueError(
                    f"The {option!r} parameter of TableEncoder must be a list of column names. "
                    f"Got {names!r} instead."
                )
            require_columns(names or (), columns.names, "The table")
            for name in names or ():
                if asked.setdefault(name, option) != option:
                    raise ValueError(
                        f"Column {name!r} is named in both {asked[name]!r} and {option!r}. "
                        "Keep one."
                    )
        return asked

    def _set_fitted(
        self,
        encoders: Sequence[ColumnEncoder],
        dropped: Mapping[str, str],
        names_in: Sequence[str],
    ) -> None:
        self._encoders = tuple(encoders)
        self.dropped_ = dict(dropped)
        self.feature_names_in_ = np.array(names_in, dtype=object)
        self.n_features_in_ = len(names_in)
        self._feature_names = _unique([n for encoder in encoders for n in encoder.feature_names])
        self._sources = tuple(e.name for e in encoders for _ in e.feature_names)

    def _fitted(self) -> tuple[ColumnEncoder, ...]:
        if not hasattr(self, "_encoders"):
            raise ValueError("This TableEncoder is not fitted yet. Call fit with a table first.")
        return self._encoders

    # --- what it learned ---

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the numbers out."""
        self._fitted()
        return self._feature_names

    @property
    def sources(self) -> tuple[str, ...]:
        """For each number out, the raw column it came from."""
        self._fitted()
        return self._sources

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The columns in use, each ``"number"`` or ``"category"``, as `read` takes them."""
        return {
            encoder.name: "number" if isinstance(encoder, NumberColumn) else "category"
            for encoder in self._fitted()
        }

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
        self._require(columns)
        slots: list[Slot] = []
        reports = []
        base = 0
        for encoder in encoders:
            encoded, report = encoder.encode(columns[encoder.name])
            slots += [slot.shifted(base) for slot in encoded]
            base += len(encoder.feature_names)
            if report.missing or report.unseen:
                reports.append(report)
        rows = rows_from_slots(slots, columns.n_rows, base)
        return rows, EncodingReport(columns.n_rows, tuple(reports))

    def _require(self, columns: Columns) -> None:
        absent = [encoder.name for encoder in self._encoders if encoder.name not in columns]
        if absent:
            raise TableError(
                f"The table lacks {len(absent)} column(s) that the encoder was fitted with: "
                f"{list_names(absent, 5)}. It has {list_names(columns.names, 10)}. Add them, empty "
                "where the values are not known."
            )

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from a table and turn it into a matrix."""
        columns = as_columns(X)
        return self._given_out(self.fit(columns, y).encode(columns), X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_encoders")

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | tuple[str, ...]], dict[str, Any]]:
        """Return what was learned as tensors and JSON values.

        Returns
        -------
        tensors : dict of str to ndarray or tuple of str
        values : dict of str to JSON
        """
        encoders = self._fitted()
        asked = ((option, getattr(self, option)) for option in OPTIONS)
        options = {name: None if names is None else list(names) for name, names in asked}
        tensors = tensors_of(encoders, self.dropped_, self.feature_names_in_.tolist())
        return tensors, {"options": options} | ({} if self.scale else {"scale": False})

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
        parts = Parts(tensors)
        encoder = cls(**options_from_values(values))
        encoder._set_fitted(parts.encoders(), parts.dropped(), parts.names_in())
        return encoder


def _fit_column(
    name: str, columns: Columns, asked: str | None, *, scale: bool
) -> ColumnEncoder | str:
    if asked == "drop":
        return "asked for"
    column = columns[name]
    if asked == "number" or (asked is None and isinstance(column, Numbers)):
        return NumberColumn.fit(name, column, scale=scale)
    return CategoryColumn.fit(name, column, asked=asked == "category")


def _refuse_no_rows(columns: Columns) -> None:
    if not columns.n_rows:
        raise TableError("The table has no rows.")


def _unique(names: list[str]) -> tuple[str, ...]:
    """Tell apart names that coincide, such as a level that is itself called (missing)."""
    if len(set(names)) == len(names):
        return tuple(names)
    taken = set(names)
    met: Counter[str] = Counter()
    out = []
    for name in names:
        met[name] += 1
        new, number = name, met[name]
        while number > 1 and new in taken:
            new = f"{name} [{number}]"
            number += 1
        taken.add(new)
        out.append(new)
    return tuple(out)
