"""PolynomialEncoder: products of columns, so that a line can bend."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows
from separable.data.indicators import distinct_rows
from separable.data.rows import Rows, as_rows, column_names
from separable.features.raw_columns import check_names_and_count, names_of_columns, remember_columns
from separable.features.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from numpy.typing import NDArray

__all__ = ["PolynomialEncoder"]

#: More numbers out than this are refused.
MOST = 2**31 - 1


class PolynomialEncoder(Transformer):
    """Encode rows as the products of their columns, up to a degree.

    Of columns a and b, degree 2 gives ``a``, ``b``, ``a^2``, ``a*b`` and ``b^2``, in this order: by
    degree, then by columns. Sparse rows stay sparse: only products of their non-zeros are formed.
    The matrix is that of scikit-learn's ``PolynomialFeatures``, where by default a column of ones
    comes first.

    Parameters
    ----------
    degree : int or (int, int), default 2
        The highest degree; or the least and the highest.
    interaction_only : bool, default False
        Whether only products of different columns are formed.
    include_bias : bool, default False
        Whether a column of ones comes first. Learners have an intercept of their own.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the training data named its columns.
    n_output_features_ : int
    powers_ : ndarray of int, shape (numbers out, columns)
        How often each column is a factor of each number out.

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

    _input_tags = {"sparse": True}  # noqa: RUF012

    def __init__(
        self,
        degree: int | tuple[int, int] = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = False,
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn how many columns there are.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
        y : ignored

        Returns
        -------
        PolynomialEncoder
            Itself.
        """
        rows, names = as_rows(X), column_names(X)
        least, highest = self._degrees()
        n_out = _n_products(rows.n_features, least, highest, bool(self.interaction_only))
        n_out += bool(self.include_bias)
        if n_out > MOST:
            raise ValueError(
                f"Products of {rows.n_features} columns up to degree {highest} are {n_out} "
                f"numbers, more than the {MOST} there is room for. Choose a lower degree, "
                "interaction_only=True, or fewer columns."
            )
        if n_out == 0:
            raise ValueError(
                f"There is no product of {least} different columns out of {rows.n_features}. "
                "Choose a lower degree."
            )
        remember_columns(self, rows.n_features, names)
        self.n_output_features_ = n_out
        return self

    def _degrees(self) -> tuple[int, int]:
        given = self.degree
        pair = (0, given) if not isinstance(given, (tuple, list)) else tuple(given)
        whole = all(isinstance(each, (int, np.integer)) for each in pair)
        if len(pair) != 2 or not whole or not 0 <= pair[0] <= pair[1] or not 1 <= pair[1] <= 64:
            raise ValueError(
                "The 'degree' parameter of PolynomialEncoder must be an int from 1 to 64 or a pair "
                f"of the least and the highest degree. Got {given!r} instead."
            )
        return max(1, int(pair[0])), int(pair[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_output_features_")

    def _fitted(self) -> None:
        if not hasattr(self, "n_output_features_"):
            raise self._not_fitted()

    # --- names ---

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the numbers out."""
        return tuple(self.get_feature_names_out().tolist())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the numbers out.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns; by default those of the training data, else ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str
        """
        self._fitted()
        names = names_of_columns(self, input_features)
        out = ["1"] if self.include_bias else []
        for factors in self._products():
            counts = Counter(factors)
            parts = (names[j] if n == 1 else f"{names[j]}^{n}" for j, n in counts.items())
            out.append("*".join(parts))
        return np.array(out, dtype=object)

    def _products(self) -> Iterator[tuple[int, ...]]:
        least, highest = self._degrees()
        make = combinations if self.interaction_only else combinations_with_replacement
        for degree in range(least, highest + 1):
            yield from make(range(self.n_features_in_), degree)

    @property
    def powers_(self) -> NDArray[np.int64]:
        """How often each column is a factor of each number out."""
        self._fitted()
        powers = np.zeros((self.n_output_features_, self.n_features_in_), np.int64)
        for place, factors in enumerate(self._products(), start=bool(self.include_bias)):
            np.add.at(powers[place], list(factors), 1)
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
            Of float64, sparse if the data is.
        """
        self._fitted()
        rows = as_rows(data)
        check_names_and_count(self, rows.n_features, column_names(data))
        least, highest = self._degrees()
        plan = (least, highest, not self.interaction_only, bool(self.include_bias))
        if rows.indptr is None or rows.indices is None:
            starts = np.arange(rows.n_rows + 1, dtype=np.int64) * self.n_output_features_
            values = np.empty(int(starts[-1]))
            native.polynomial_rows(core_rows(rows), *plan, starts, values, None)
            return self._checked(Rows(values.reshape(rows.n_rows, -1), self.n_output_features_))
        rows = _ascending(rows)
        assert rows.indptr is not None
        counts = np.empty(rows.n_rows, np.int64)
        sizes = np.diff(rows.indptr).astype(np.int64)
        native.polynomial_counts(rows.n_features, *plan, sizes, counts)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        values, indices = np.empty(int(starts[-1])), np.empty(int(starts[-1]), np.int64)
        native.polynomial_rows(core_rows(rows), *plan, starts, values, indices)
        if starts[-1] <= MOST:
            indices, starts = indices.astype(np.int32), starts.astype(np.int32)
        return self._checked(Rows(values, self.n_output_features_, indices, starts))

    def _checked(self, rows: Rows) -> Rows:
        if not np.isfinite(rows.values).all():
            raise ValueError(
                "A product of columns is too large for float64. Scale the columns first, for "
                "example with TableEncoder or sklearn.preprocessing.StandardScaler."
            )
        return rows


def _n_products(n: int, least: int, highest: int, different: bool) -> int:
    degrees = range(least, highest + 1)
    return sum(comb(n, d) if different else comb(n + d - 1, d) for d in degrees)


def _ascending(rows: Rows) -> Rows:
    """Return sparse rows with every column once in a row, in ascending order."""
    rows = distinct_rows(rows)
    assert rows.indptr is not None
    assert rows.indices is not None
    row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    if len(row) and ((np.diff(row) == 0) & (np.diff(rows.indices) < 0)).any():
        order = np.lexsort((rows.indices, row))
        return Rows(rows.values[order], rows.n_features, rows.indices[order], rows.indptr)
    return rows
