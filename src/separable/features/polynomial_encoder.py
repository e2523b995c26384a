"""PolynomialEncoder: monomials of columns up to a degree."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable._core import portable
from separable.accepted_parameters import accepts
from separable.data.row_operations import distinct_rows
from separable.data.rows import Rows, as_rows, column_names, core_rows
from separable.data.strings import DeferredTexts
from separable.estimator import not_fitted_error
from separable.features.base import Transformer
from separable.features.raw_columns import (
    check_names_and_count,
    columns_of_records,
    names_in_parts,
    names_of_columns,
    remember_columns,
    saved_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.features.base import Tensors, Values

__all__ = ["PolynomialEncoder"]

#: Maximum number of output features.
MAX_FEATURES = 2**31 - 1


@accepts("order")
@dataclass(eq=False, repr=False)
class PolynomialEncoder(Transformer):
    """Encode rows as the products of their columns up to a degree.

    For columns a and b, degree 2 gives ``a``, ``b``, ``a^2``, ``a*b`` and ``b^2``, in this order:
    by degree, then by columns. Sparse rows stay sparse: only products of non-zeros are formed. The
    matrix is that of scikit-learn's ``PolynomialFeatures``, which by default puts a column of ones
    first.

    Parameters
    ----------
    degree : int or (int, int), default 2
        Highest degree; or lowest and highest.
    interaction_only : bool, default False
        Form only products of different columns.
    include_bias : bool, default False
        Put a column of ones first. Learners fit an intercept themselves.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If the training data has column names.
    n_output_features_ : int
    powers_ : ndarray of int, shape (numbers out, columns)
        Exponent of each column in each output feature.

    Examples
    --------
    >>> import pandas as pd
    >>> from separable import PolynomialEncoder
    >>> table = pd.DataFrame({"age": [2.0, 3.0], "bmi": [5.0, 7.0]})
    >>> encoder = PolynomialEncoder().fit(table)
    >>> encoder.feature_names
    ('age', 'bmi', 'age^2', 'age*bmi', 'bmi^2')
    >>> encoder.transform(table)
    array([[ 2.,  5.,  4., 10., 25.],
           [ 3.,  7.,  9., 21., 49.]])
    """

    degree: int | tuple[int, int] = 2
    _: KW_ONLY
    interaction_only: bool = False
    include_bias: bool = False

    kind: ClassVar[str] = "polynomial"
    #: Matrices are raw data for a model with this encoder.
    takes_matrices: ClassVar[bool] = True
    _max_features: ClassVar[int] = MAX_FEATURES
    _input_tags = {"sparse": True}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Record the number of columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
        y : ignored

        Returns
        -------
        PolynomialEncoder
            The fitted encoder.
        """
        rows, names = as_rows(X), column_names(X)
        self._set_columns(rows.n_features, names)
        return self

    def _set_columns(self, n_columns: int, names: tuple[str, ...] | None) -> None:
        least, highest = self._degrees()
        n_out = _n_products(n_columns, least, highest, bool(self.interaction_only))
        n_out += bool(self.include_bias)
        if n_out > self._max_features:
            raise ValueError(
                f"Products of {n_columns} columns up to degree {highest} are {n_out} features, "
                f"more than the maximum of {self._max_features}. Choose a lower degree, "
                "interaction_only=True, or fewer columns."
            )
        if n_out == 0:
            raise ValueError(
                f"There is no product of {least} different columns out of {n_columns}. "
                "Choose a lower degree."
            )
        remember_columns(self, n_columns, names)
        self.n_output_features_ = n_out

    def _degrees(self) -> tuple[int, int]:
        range_ = self.degree
        pair = (0, range_) if not isinstance(range_, (tuple, list)) else tuple(range_)
        whole = all(isinstance(each, (int, np.integer)) for each in pair)
        if len(pair) != 2 or not whole or not 0 <= pair[0] <= pair[1] or not 1 <= pair[1] <= 64:
            raise ValueError(
                "The 'degree' parameter of PolynomialEncoder must be an int from 1 to 64 or a pair "
                f"of the least and the highest degree. Got {range_!r} instead."
            )
        return max(1, int(pair[0])), int(pair[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_output_features_")

    def _fitted(self) -> None:
        if not hasattr(self, "n_output_features_"):
            raise not_fitted_error(self)

    # --- names ---

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names, as a sequence equal to their tuple."""
        self._fitted()
        make = self.get_feature_names_out
        return DeferredTexts(self.n_output_features_, lambda: tuple(make().tolist()))

    @property
    def sources(self) -> Sequence[str]:
        """Raw columns of each output feature: ``a`` for a^2, ``a*b`` for a^2*b."""
        self._fitted()
        return DeferredTexts(self.n_output_features_, self._sources)

    def _sources(self) -> tuple[str, ...]:
        names = names_of_columns(self)
        products = ("*".join(names[j] for j in dict.fromkeys(each)) for each in self.products())
        return ("1", *products) if self.include_bias else tuple(products)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the output feature names.

        Parameters
        ----------
        input_features : sequence of str, optional
            Column names; by default those of the training data, else ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str
        """
        self._fitted()
        names = names_of_columns(self, input_features)
        out = ["1"] if self.include_bias else []
        for factors in self.products():
            counts = Counter(factors)
            parts = (names[j] if n == 1 else f"{names[j]}^{n}" for j, n in counts.items())
            out.append("*".join(parts))
        return np.array(out, dtype=object)

    def products(self) -> Iterator[tuple[int, ...]]:
        """Yield the columns multiplied for each output feature, without the column of ones."""
        least, highest = self._degrees()
        make = combinations if self.interaction_only else combinations_with_replacement
        for degree in range(least, highest + 1):
            yield from make(range(self.n_features_in_), degree)

    @property
    def powers_(self) -> NDArray[np.int64]:
        """Exponent of each column in each output feature."""
        self._fitted()
        powers = np.zeros((self.n_output_features_, self.n_features_in_), np.int64)
        for index, factors in enumerate(self.products(), start=bool(self.include_bias)):
            np.add.at(powers[index], list(factors), 1)
        return powers

    # --- encoding ---

    def encode(self, data: Any) -> Rows:
        """Multiply columns.

        Parameters
        ----------
        data : array-like, sparse matrix or data frame

        Returns
        -------
        Rows
            float64, sparse if the data is.
        """
        self._fitted()
        data, names = _table_of(data)
        rows = as_rows(data)
        check_names_and_count(self, rows.n_features, names)
        least, highest = self._degrees()
        plan = (least, highest, not self.interaction_only, bool(self.include_bias))
        if rows.indptr is None or rows.indices is None:
            starts = np.arange(rows.n_rows + 1, dtype=np.int64) * self.n_output_features_
            values = np.empty(int(starts[-1]))
            portable.polynomial_rows(core_rows(rows), *plan, starts, values, None)
            return self._checked(Rows(values.reshape(rows.n_rows, -1), self.n_output_features_))
        rows = _ascending(rows)
        assert rows.indptr is not None
        counts = np.empty(rows.n_rows, np.int64)
        sizes = np.diff(rows.indptr).astype(np.int64)
        portable.polynomial_counts(rows.n_features, *plan, sizes, counts)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        values, indices = np.empty(int(starts[-1])), np.empty(int(starts[-1]), np.int64)
        portable.polynomial_rows(core_rows(rows), *plan, starts, values, indices)
        if max(int(starts[-1]), self.n_output_features_) <= MAX_FEATURES:
            indices, starts = indices.astype(np.int32), starts.astype(np.int32)
        return self._checked(Rows(values, self.n_output_features_, indices, starts))

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values."""
        self._fitted()
        pair = isinstance(self.degree, (tuple, list))
        values = {
            "degree": [int(each) for each in self.degree] if pair else int(self.degree),  # type: ignore[union-attr, arg-type]
            "interaction_only": bool(self.interaction_only),
            "include_bias": bool(self.include_bias),
            "n_columns": int(self.n_features_in_),
        }
        return {**saved_names(self)}, values

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder; the inverse of `to_parts`."""
        known = {"degree", "interaction_only", "include_bias", "n_columns"}
        flags = values.get("interaction_only"), values.get("include_bias")
        degree, n = values.get("degree"), values.get("n_columns")
        whole = type(n) is int and 1 <= n <= MAX_FEATURES
        if set(values) != known or not set(tensors) <= {"names"} or not whole:
            raise ValueError("The saved PolynomialEncoder is damaged: wrong parts.")
        if not all(isinstance(flag, bool) for flag in flags):
            raise ValueError("The saved PolynomialEncoder is damaged: wrong flags.")
        range_: Any = tuple(degree) if isinstance(degree, list) else degree
        encoder = cls(range_, interaction_only=bool(flags[0]), include_bias=bool(flags[1]))
        assert isinstance(n, int)
        encoder._set_columns(n, names_in_parts(tensors, n))
        return encoder

    def _checked(self, rows: Rows) -> Rows:
        if not np.isfinite(rows.values).all():
            raise ValueError(
                "A product of columns overflows float64. Scale the columns first, for example "
                "with TableEncoder or sklearn.preprocessing.StandardScaler."
            )
        return rows


def _table_of(data: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return data that `as_rows` accepts, and its column names; records are stacked."""
    columns = columns_of_records(data)
    if columns is data:
        return data, column_names(data)
    matrix = np.array(list(columns.values()), dtype=np.float64).T
    return np.ascontiguousarray(matrix), tuple(map(str, columns))


def _n_products(n: int, least: int, highest: int, different: bool) -> int:
    degrees = range(least, highest + 1)
    return sum(comb(n, d) if different else comb(n + d - 1, d) for d in degrees)


def _ascending(rows: Rows) -> Rows:
    """Return sparse rows with sorted columns and without duplicates."""
    rows = distinct_rows(rows)
    assert rows.indptr is not None
    assert rows.indices is not None
    row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    if len(row) and ((np.diff(row) == 0) & (np.diff(rows.indices) < 0)).any():
        order = np.lexsort((rows.indices, row))
        return Rows(rows.values[order], rows.n_features, rows.indices[order], rows.indptr)
    return rows
