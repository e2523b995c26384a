"""SplineEncoder: numeric columns as piecewise linear curves."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.columns import Columns, Numbers
from separable.data.ingest.dates import typed_columns
from separable.data.rows import Rows, is_scipy_sparse
from separable.data.strings import ChainedTexts, RepeatedText
from separable.data.table import list_names
from separable.estimator import not_fitted_error
from separable.features.base import ColumnTransformer
from separable.features.raw_columns import (
    check_names_and_count,
    names_in_parts,
    names_of_columns,
    raw_columns,
    remember_columns,
    saved_names,
)
from separable.features.spline.spline_column import SplineColumn, remainders
from separable.features.spline.spline_serialization import (
    TENSORS,
    check,
    columns_from_parts,
    columns_to_parts,
)
from separable.features.spline.value_counts import ValueCounts
from separable.features.table.number_column import numbers_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.features.base import Tensors, Values

__all__ = ["SplineEncoder"]

CONTINUATIONS = ("constant", "linear")
#: Largest number of quantile knots.
MAX_KNOTS = 10_000


@dataclass(eq=False, repr=False)
class SplineEncoder(ColumnTransformer):
    """Encode each numeric column as linear B-splines, so that a linear model fits a curve to it.

    The features of a column are tents: 1 at a knot, 0 from the neighbouring knots on, linear in
    between. A model's weights are the values of the curve at the knots. Every row has at most two
    non-zeros per column, which sum to 1: use a learner with a penalty, such as `Ridge` or
    `LogisticRegression`.

    Parameters
    ----------
    n_knots : int, default 32
        Quantile knots of a column. The outer ones leave out 0.1 % of the rows on each side. A value
        that fills two gaps between quantiles is a knot of its own, and the quantiles are those of
        the other rows. A column with at most ``n_knots`` distinct values has a knot at each.
    continuation : {"constant", "linear"}, default "constant"
        The curve beyond the outer knots.
    periods : mapping of str or int to float, optional
        Length of the cycle of periodic columns, by name or index: ``{"hour": 24}``.
    sparse_output : bool, default True
        Whether `transform` returns a sparse matrix.

    Attributes
    ----------
    columns_ : tuple of SplineColumn
        Each with ``knots``, ``missing`` and ``feature_names``. A column whose values do not vary
        has no knots.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If the training data has column names.

    Notes
    -----
    A missing value is a level with its own weight if training values were missing. If none were,
    it has no features, as the curve's contribution 0.

    Examples
    --------
    >>> from separable import SplineEncoder
    >>> encoder = SplineEncoder().fit({"age": [20, 30, 40, None]})
    >>> encoder.feature_names
    ('age[<30]', 'age[20-40]', 'age[>30]', 'age=(missing)')
    >>> encoder.transform({"age": [25, 99, None]}).toarray()
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0. , 1. , 0. ],
           [0. , 0. , 0. , 1. ]])
    """

    n_knots: int = 32
    _: KW_ONLY
    continuation: str = "constant"
    periods: Any = None
    sparse_output: bool = True

    kind: ClassVar[str] = "spline"
    #: Arrays are raw data for a model with this encoder.
    takes_matrices: ClassVar[bool] = True
    _input_tags: ClassVar[dict[str, bool]] = {"two_d_array": True, "allow_nan": True}

    # --- learning ---

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the knots of each column.

        Parameters
        ----------
        X : array-like, data frame, Arrow table or dict of columns, shape (n, columns)
            Numbers, NaN or None where missing.
        y : ignored

        Returns
        -------
        SplineEncoder
            The fitted encoder.
        """
        if self.__sklearn_is_fitted__():
            del self.columns_
        self.partial_fit(X, y)
        self._warn_without_curve()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Count more rows and choose the knots again; equal to `fit` on all rows so far.

        The features change with the knots: see all rows before a learner is fitted. Parameters
        and result are those of `fit`.
        """
        del y
        names, values = _numbers(X)
        if not self.__sklearn_is_fitted__():
            self._start(len(values), names)
            self._learn(self._counts(values))
            return self
        check_names_and_count(self, len(values), names)
        pairs = zip(self._state("learn on"), self._counts(values), strict=True)
        self._learn([one.merge(more) for one, more in pairs])
        return self

    def merge(self, other: SplineEncoder) -> SplineEncoder:
        """Return the encoder fitted to the rows of both.

        Parameters
        ----------
        other : SplineEncoder
            Fitted to the same columns with the same parameters.

        Returns
        -------
        SplineEncoder
            A new encoder.
        """
        if not isinstance(other, SplineEncoder):
            raise ValueError(f"Only a SplineEncoder can be merged. Got {type(other).__name__}.")
        for name, value in self.get_params().items():
            if getattr(other, name) != value:
                raise ValueError(
                    f"The encoders cannot be merged: their {name!r} differs, {value!r:.80} and "
                    f"{getattr(other, name)!r:.80}. Fit both with the same parameters."
                )
        ours, theirs = self._state("merge"), other._state("merge")
        check_names_and_count(self, len(theirs), _names_in(other))
        made = type(self)(**self.get_params())
        made._start(len(ours), _names_in(self))
        made._learn([one.merge(more) for one, more in zip(ours, theirs, strict=True)])
        return made

    def _start(self, n_columns: int, names: tuple[str, ...] | None) -> None:
        self._check_parameters()
        remember_columns(self, n_columns, names)
        self._column_periods = self._period_of_each()

    def _check_parameters(self) -> None:
        def refuse(name: str, wanted: str) -> None:
            raise ValueError(
                f"The {name!r} parameter of SplineEncoder must be {wanted}. Got "
                f"{getattr(self, name)!r:.80} instead."
            )

        n = self.n_knots
        whole = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
        if not whole or not 2 <= n <= MAX_KNOTS:
            refuse("n_knots", f"an int from 2 to {MAX_KNOTS}")
        if self.continuation not in CONTINUATIONS:
            refuse("continuation", "'constant' or 'linear'")
        if self.periods is not None and not isinstance(self.periods, Mapping):
            refuse("periods", "a dict of columns to lengths of a cycle, or None")

    def _period_of_each(self) -> list[float]:
        """Return the period of each column, 0 if it has none."""
        names = names_of_columns(self)
        index_of = {name: index for index, name in enumerate(names)}
        periods = [0.0] * len(names)
        for column, period in (self.periods or {}).items():
            index = index_of.get(column, -1) if isinstance(column, str) else int(column)
            if not 0 <= index < len(names):
                raise ValueError(
                    f"'periods' of SplineEncoder names the column {column!r:.80}, which the data "
                    f"does not have. It has {list_names(names, 10)}."
                )
            if not (isinstance(period, (int, float, np.number)) and 0 < period < math.inf):
                raise ValueError(
                    f"The period of column {column!r:.80} must be a positive number. Got "
                    f"{period!r:.80} instead."
                )
            periods[index] = float(period)
        return periods

    def _counts(self, values: NDArray[np.float64]) -> list[ValueCounts]:
        return [
            ValueCounts.of(remainders(column, period) if period else column)
            for column, period in zip(values, self._column_periods, strict=True)
        ]

    def _learn(self, state: list[ValueCounts]) -> None:
        linear = self.continuation == "linear"
        columns = zip(names_of_columns(self), state, self._column_periods, strict=True)
        self.columns_ = tuple(
            SplineColumn.fit(name, counts, int(self.n_knots), period, linear)
            for name, counts, period in columns
        )
        self._value_counts: list[ValueCounts] | None = state

    def _state(self, what: str) -> list[ValueCounts]:
        self._fitted()
        if self._value_counts is None:
            raise ValueError(
                "This SplineEncoder was loaded from a file, which has the knots but not the counts "
                f"they were chosen from, so it cannot {what}. Fit a new one on all rows."
            )
        return self._value_counts

    def _warn_without_curve(self) -> None:
        flat = [each.name for each in self.columns_ if not len(each.knots)]
        if len(flat) == len(self.columns_) and not any(each.width for each in self.columns_):
            raise ValueError(
                f"No column has two different values ({list_names(flat, 5)}), so there is nothing "
                "to encode (n_samples=1?). Pass rows that differ."
            )
        if flat:
            warnings.warn(
                f"Columns without a curve, because their values are all equal or missing: "
                f"{list_names(flat, 10)}.",
                UserWarning,
                stacklevel=3,
            )

    # --- fitted attributes ---

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def _fitted(self) -> tuple[SplineColumn, ...]:
        if not hasattr(self, "columns_"):
            raise not_fitted_error(self)
        return self.columns_

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names, as a sequence equal to their tuple."""
        return ChainedTexts([each.feature_names for each in self._fitted()])

    @property
    def sources(self) -> Sequence[str]:
        """Raw column of each output feature."""
        return ChainedTexts([RepeatedText(each.name, each.width) for each in self._fitted()])

    def _names_out(self, names: Sequence[str]) -> list[str]:
        return [
            name + text.removeprefix(each.name)
            for name, each in zip(names, self._fitted(), strict=True)
            for text in each.feature_names
        ]

    # --- encoding ---

    def encode(self, data: Any) -> Rows:
        """Encode numbers as rows of float64.

        Parameters
        ----------
        data : array-like, data frame, Arrow table or dict of columns, shape (n, columns)

        Returns
        -------
        Rows
            CSR without explicit zeros, or dense if ``sparse_output`` is False.
        """
        columns = self._fitted()
        names, values = _numbers(data)
        check_names_and_count(self, len(values), names)
        n_rows, n_out = values.shape[1], sum(each.width for each in columns)
        features = np.empty((n_rows, len(columns), 2), np.int64)
        cells = np.empty((n_rows, len(columns), 2))
        first = 0
        for at, (column, numbers) in enumerate(zip(columns, values, strict=True)):
            left, right, t = column.encode(numbers)
            wraps = right < left  # only a cycle's last piece, and missing values, whose t is 0
            features[:, at, 0] = np.where(wraps, right, left) + first
            features[:, at, 1] = np.where(wraps, left, right) + first
            cells[:, at, 0] = np.where(wraps, t, 1.0 - t)
            cells[:, at, 1] = np.where(wraps, 1.0 - t, t)
            cells[left < 0, at] = 0.0
            first += column.width
        kept = cells != 0.0
        if not self.sparse_output:
            out = np.zeros((n_rows, n_out))
            out[np.nonzero(kept)[0], features[kept]] = cells[kept]
            return Rows(out, n_out)
        counts = np.count_nonzero(kept.reshape(n_rows, -1), axis=1)
        size = int(counts.sum())
        index = np.int32 if max(size, n_out) < np.iinfo(np.int32).max else np.int64
        indptr = np.zeros(n_rows + 1, index)
        np.cumsum(counts, out=indptr[1:])
        return Rows(cells[kept], n_out, features[kept].astype(index), indptr)

    def encode_one(self, record: Mapping[str, Any]) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the record or a value is unusual, and `encode` must handle it.
        """
        columns = self._fitted()
        if len(record) != len(columns) or not hasattr(self, "feature_names_in_"):
            return None
        pairs: list[tuple[int, float]] = []
        first = 0
        for column in columns:
            made = column.encode_one(record[column.name]) if column.name in record else None
            if made is None:
                return None
            pairs += [(first + index, value) for index, value in made]
            first += column.width
        return pairs

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values."""
        values = {
            "n_knots": int(self.n_knots),
            "continuation": str(self.continuation),
            "sparse_output": bool(self.sparse_output),
        }
        return {**columns_to_parts(self._fitted()), **saved_names(self)}, values

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder; the inverse of `to_parts`, without the counts of values."""
        check(set(values) == {"n_knots", "continuation", "sparse_output"}, "wrong values")
        check(isinstance(values["sparse_output"], bool), "wrong 'sparse_output'")
        check(type(values["n_knots"]) is int, "wrong 'n_knots'")
        check(set(tensors) - {"names"} == set(TENSORS), "wrong tensors")
        names = names_in_parts(tensors, len(tensors["n_knots"]))
        columns = columns_from_parts(tensors, names, values["continuation"] == "linear")
        keys: Sequence[Any] = range(len(columns)) if names is None else names
        periods = {key: each.period for key, each in zip(keys, columns, strict=True) if each.period}
        encoder = cls(**values, periods=periods or None)
        encoder._start(len(columns), names)
        encoder.columns_, encoder._value_counts = columns, None
        return encoder


def _numbers(X: Any) -> tuple[tuple[str, ...] | None, NDArray[np.float64]]:
    """Return the column names, if any, and the columns as the rows of a matrix."""
    if is_scipy_sparse(X):
        raise TypeError(
            "Sparse data was passed, but SplineEncoder needs a dense array or a data frame: its "
            "columns have knots at their values. Use X.toarray() if the matrix is small."
        )
    if isinstance(X, Columns):
        return X.names, numbers_of_each(X.names, typed_columns(X, X.names))
    columns, found = raw_columns(X)
    labels = found or tuple(f"x{index}" for index in range(len(columns)))
    matrix = _matrix(X) if isinstance(X, np.ndarray) else None
    if matrix is not None:
        return found, numbers_of_each(labels, [Numbers(column) for column in matrix.T])
    table = Columns(dict(zip(labels, columns, strict=True)), len(columns[0]))
    return found, numbers_of_each(labels, typed_columns(table, labels))


def _matrix(X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return an array as numbers; None if it holds texts, which are read column by column."""
    try:
        return X.astype(np.float64) if X.dtype.kind in "biufO" else None
    except ValueError:
        return None


def _names_in(encoder: SplineEncoder) -> tuple[str, ...] | None:
    names = getattr(encoder, "feature_names_in_", None)
    return None if names is None else tuple(names)
