"""OneHotEncoder: categorical columns to indicator columns."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.rows import as_rows
from separable.data.strings import ChainedTexts, DeferredTexts, RepeatedText
from separable.estimator import not_fitted_error
from separable.features.base import ColumnTransformer
from separable.features.one_hot.levels import (
    INFREQUENT,
    ColumnLevels,
    Factors,
    GivenCategories,
    factors_of,
    factors_of_objects,
)
from separable.features.one_hot.one_hot_serialization import (
    levels_from_parts,
    levels_to_parts,
    options_from_values,
    options_to_values,
)
from separable.features.raw_columns import (
    check_names_and_count,
    names_in_parts,
    names_of_columns,
    raw_columns,
    remember_columns,
    saved_names,
)
from separable.features.row_assembly import OneHotSlot, rows_from_slots

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from separable.data.rows import Rows
    from separable.features.base import Tensors, Values

__all__ = ["OneHotEncoder"]

UNKNOWN = ("error", "ignore", "infrequent_if_exist", "warn")


@dataclass(eq=False, repr=False)
class OneHotEncoder(ColumnTransformer):
    """Encode each categorical column as one indicator column per level.

    Parameters and matrix are those of scikit-learn's class of the same name. None and NaN are
    levels like others.

    Parameters
    ----------
    categories : "auto" or list of array-like, default "auto"
        Levels of each column, in output order; "auto": those of the training data, sorted, None and
        NaN last.
    drop : {"first", "if_binary"} or array-like, optional
        Level of each column without an output column: the first; the first if there are two; or the
        given one.
    sparse_output : bool, default True
        Whether `transform` returns a sparse matrix.
    dtype : dtype, default float64
        Type of the output.
    handle_unknown : {"error", "ignore", "infrequent_if_exist", "warn"}, default "error"
        Encoding of an unknown level: an error; zeros; the group of infrequent levels, or zeros if
        there is none; the same with a warning.
    min_frequency : int or float, optional
        Levels with fewer occurrences, or a smaller fraction of the rows, share one column.
    max_categories : int, optional
        Maximum output columns per input column, including the shared one; the most frequent levels
        keep their own.
    feature_name_combiner : "concat" or callable, default "concat"
        Output feature names: ``column_level``, or the result of a callable of column and level.

    Attributes
    ----------
    categories_ : list of ndarray
        Levels of each column.
    infrequent_categories_ : list of ndarray or None
        Levels of each column that share one output column.
    drop_idx_ : ndarray of object or None
        Index in ``categories_`` of the dropped level of each column.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If the training data has column names.

    Examples
    --------
    >>> from separable import OneHotEncoder
    >>> encoder = OneHotEncoder(handle_unknown="ignore").fit({"size": ["s", "l", "s"]})
    >>> encoder.get_feature_names_out().tolist()
    ['size_l', 'size_s']
    >>> encoder.transform({"size": ["s", "xl"]}).toarray()
    array([[0., 1.],
           [0., 0.]])
    """

    _: KW_ONLY
    categories: str | Sequence[ArrayLike] = "auto"
    drop: str | ArrayLike | None = None
    sparse_output: bool = True
    dtype: DTypeLike = np.float64
    handle_unknown: str = "error"
    min_frequency: float | None = None
    max_categories: int | None = None
    feature_name_combiner: str | Callable[[str, Any], str] = "concat"

    kind: ClassVar[str] = "one-hot"
    #: Arrays are raw data for a model with this encoder.
    takes_matrices: ClassVar[bool] = True
    _group_name: ClassVar[str] = INFREQUENT
    _input_tags = {"two_d_array": True, "categorical": True, "string": True, "allow_nan": True}  # noqa: RUF012

    # --- learning ---

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the levels of each column.

        Parameters
        ----------
        X : array-like, data frame, Arrow table or dict of columns, shape (n, columns)
        y : ignored

        Returns
        -------
        OneHotEncoder
            The fitted encoder.
        """
        self._learn(X, *raw_columns(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Fit and encode the same data; values are factorized once."""
        columns, names = raw_columns(X)
        return self._given_out(self._laid_out(self._learn(X, columns, names)), X)

    def _learn(self, X: Any, columns: list[Any], names: tuple[str, ...] | None) -> list[Factors]:
        self._check_parameters(len(columns))
        given = GivenCategories(self.categories, len(columns))
        factors = _factors(X, columns)
        n_rows = len(factors[0].codes)
        self._levels = [
            replace(
                ColumnLevels.fit(index, column, given[index], names), group_name=self._group_name
            )
            .grouped(column, n_rows, self.min_frequency, self.max_categories)
            .dropping(self.drop, index)
            for index, column in enumerate(factors)
        ]
        remember_columns(self, len(columns), names)
        if given.is_given and self.handle_unknown == "error":
            self._refuse_unknown(factors)
        return factors

    def _check_parameters(self, n_columns: int) -> None:
        def refuse(name: str, wanted: str) -> None:
            raise ValueError(
                f"The {name!r} parameter of OneHotEncoder must be {wanted}. Got "
                f"{getattr(self, name)!r} instead."
            )

        if self.handle_unknown not in UNKNOWN:
            refuse("handle_unknown", f"one of {', '.join(map(repr, UNKNOWN))}")
        fraction = self.min_frequency
        if fraction is not None:
            whole = isinstance(fraction, (int, np.integer)) and not isinstance(fraction, bool)
            if not (fraction >= 1 if whole else isinstance(fraction, float) and 0 < fraction < 1):
                refuse("min_frequency", "an int >= 1, a float between 0 and 1, or None")
        most = self.max_categories
        if most is not None and not (isinstance(most, (int, np.integer)) and most >= 1):
            refuse("max_categories", "an int >= 1 or None")
        if isinstance(self.drop, str):
            if self.drop not in ("first", "if_binary"):
                refuse("drop", "'first', 'if_binary', one level a column, or None")
        elif self.drop is not None and len(np.asarray(self.drop, dtype=object)) != n_columns:
            raise ValueError(
                f"`drop` should have length equal to the number of features ({n_columns}), got "
                f"{len(np.asarray(self.drop, dtype=object))}."
            )
        combiner = self.feature_name_combiner
        if combiner != "concat" and not callable(combiner):
            refuse("feature_name_combiner", "'concat' or a callable")

    # --- fitted attributes ---

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_levels")

    def _fitted(self) -> list[ColumnLevels]:
        if not hasattr(self, "_levels"):
            raise not_fitted_error(self)
        return self._levels

    @property
    def column_levels(self) -> list[ColumnLevels]:
        """Levels of each column with their output columns."""
        return self._fitted()

    @property
    def categories_(self) -> list[NDArray[Any]]:
        """Levels of each column."""
        return [each.levels for each in self._fitted()]

    @property
    def infrequent_categories_(self) -> list[NDArray[Any] | None]:
        """Levels of each column that share one output column."""
        return [each.levels[each.rare] if len(each.rare) else None for each in self._fitted()]

    @property
    def drop_idx_(self) -> NDArray[Any] | None:
        """Index of the dropped level of each column."""
        dropped = [each.dropped for each in self._fitted()]
        return None if self.drop is None else np.array(dropped, dtype=object)

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names, as a sequence equal to their tuple."""
        n_out = sum(each.width for each in self._fitted())
        return DeferredTexts(n_out, lambda: tuple(self.get_feature_names_out().tolist()))

    @property
    def sources(self) -> Sequence[str]:
        """Raw column of each output feature."""
        pairs = zip(names_of_columns(self), self._fitted(), strict=True)
        return ChainedTexts([RepeatedText(name, each.width) for name, each in pairs])

    def _names_out(self, names: Sequence[str]) -> list[str]:
        combine: Any = self.feature_name_combiner
        if combine == "concat":
            combine = "{}_{}".format
        pairs = zip(names, self._fitted(), strict=True)
        out = [combine(name, level) for name, each in pairs for level in each.out()]
        if not all(isinstance(name, str) for name in out):
            raise TypeError("The callable of 'feature_name_combiner' must return texts.")
        return out

    # --- encoding ---

    def encode(self, data: Any) -> Rows:
        """Encode categories as rows of float64.

        Parameters
        ----------
        data : array-like, data frame, Arrow table or dict of columns, shape (n, columns)

        Returns
        -------
        Rows
            CSR, or dense if ``sparse_output`` is False.
        """
        self._fitted()
        columns, names = raw_columns(data)
        check_names_and_count(self, len(columns), names)
        factors = _factors(data, columns)
        if self.handle_unknown == "error":
            self._refuse_unknown(factors)
        else:
            self._warn_unknown(factors)
        return self._laid_out(factors)

    def _laid_out(self, factors: list[Factors]) -> Rows:
        unknown_is_rare = self.handle_unknown in ("infrequent_if_exist", "warn")
        slots = [
            OneHotSlot(column.codes, levels.indices(column.levels, unknown_is_rare), levels.width)
            for column, levels in zip(factors, self._levels, strict=True)
        ]
        return rows_from_slots(slots, len(factors[0].codes), dense=not self.sparse_output)

    def _unknown(self, factors: list[Factors]) -> dict[int, list[Any]]:
        unknown = (each.unknown(column) for each, column in zip(self._levels, factors, strict=True))
        return {index: values for index, values in enumerate(unknown) if values}

    def _refuse_unknown(self, factors: list[Factors]) -> None:
        for index, values in self._unknown(factors).items():
            raise ValueError(
                f"Found unknown categories {values[:10]} in column {index} "
                f"({names_of_columns(self)[index]}). Fit with them, or set "
                "handle_unknown='ignore'."
            )

    def _warn_unknown(self, factors: list[Factors]) -> None:
        if self.handle_unknown != "warn" and self.drop is None:
            return
        columns = list(self._unknown(factors))
        if columns:
            zeros = self.handle_unknown == "ignore"
            become = "all zeros" if zeros else "the infrequent category, or zeros without one"
            warnings.warn(
                f"Found unknown categories in columns {columns} during transform. These unknown "
                f"categories will be encoded as {become}.",
                UserWarning,
                stacklevel=4,
            )

    def _given_out(self, rows: Rows | NDArray[np.float64], data: Any) -> Any:
        out = super()._given_out(rows, data)
        dtype = np.dtype(self.dtype)
        return out if dtype == np.float64 else out.astype(dtype)

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values."""
        tensors, kinds = levels_to_parts(self._fitted())
        values = options_to_values(self.get_params(deep=False))
        return tensors | saved_names(self), values | {"kinds": kinds}

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder; fixed-width text levels become objects."""
        levels = levels_from_parts(tensors, values.get("kinds"))
        encoder = cls(**options_from_values(values, levels))
        encoder._levels = levels
        remember_columns(encoder, len(levels), names_in_parts(tensors, len(levels)))
        return encoder

    # --- and back ---

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the levels of encoded rows.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, numbers out)

        Returns
        -------
        ndarray, shape (n, columns)
            A row of zeros in a column stands for the dropped level, else for the infrequent levels
            if unknown ones are encoded so, else for None. All infrequent levels come back as
            ``"infrequent"``.
        """
        levels = self._fitted()
        rows = as_rows(X)
        width = sum(each.width for each in levels)
        if rows.n_features != width:
            raise ValueError(
                f"Shape of the passed X data is not correct. Expected {width} columns, got "
                f"{rows.n_features}."
            )
        out = np.empty((rows.n_rows, len(levels)), dtype=object)
        first = 0
        if rows.indptr is None or rows.indices is None:
            where, at = np.nonzero(rows.values)
        else:
            where = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
            where, at = where[rows.values != 0], rows.indices[rows.values != 0]
        for column, each in enumerate(levels):
            inside = (at >= first) & (at < first + each.width)
            index = np.full(rows.n_rows, -1)
            index[where[inside]] = at[inside] - first
            self._refuse_zeros(index, each, column)
            out[:, column] = each.values_back()[index]
            first += each.width
        return _narrowed(out, levels)

    def _refuse_zeros(self, index: NDArray[np.intp], levels: ColumnLevels, column: int) -> None:
        if self.handle_unknown == "error" and levels.dropped is None and (index < 0).any():
            row = int(np.argmax(index < 0))
            raise ValueError(
                f"Samples [{row}] can not be inverted when drop=None and handle_unknown='error' "
                f"because they contain all zeros in column {column}."
            )


def _factors(X: Any, columns: list[Any]) -> list[Factors]:
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        return factors_of_objects(X)
    return [factors_of(column) for column in columns]


def _narrowed(out: NDArray[Any], levels: list[ColumnLevels]) -> NDArray[Any]:
    """Return a numeric array if all levels are numeric and none is missing."""
    kinds = [each.levels.dtype for each in levels]
    numbers = all(kind.kind in "biuf" for kind in kinds)
    if not numbers or any(len(each.rare) for each in levels):
        return out
    if any(value is None for value in out.ravel()):
        return out
    return out.astype(np.result_type(*kinds))
