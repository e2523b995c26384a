"""Rows: the design matrix in the form that learners and models take.

A ``Rows`` is an n x d matrix, dense (C order) or CSR, held as NumPy arrays of float32 or float64.
``as_rows`` converts user data, without a copy if the format fits, and rejects unusable values with
an error that names row and column.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "Rows",
    "as_rows",
    "check_finite",
    "check_indices",
    "column_names",
    "core_rows",
    "index_of_columns",
    "is_scipy_sparse",
    "largest_magnitude",
]

FLOATS = "fd"  # dtype characters of native float32 and float64


@dataclass(frozen=True, slots=True)
class Rows:
    """An n x d matrix of rows, dense or CSR.

    Parameters
    ----------
    values : ndarray of float32 or float64
        Dense: shape (n, d), C order. CSR: the non-zero values, shape (nnz,).
    n_features : int
        The number of columns d.
    indices, indptr : ndarray of int32 or int64, optional
        CSR only: the column of each value, in any order within a row, and the n + 1 row offsets.
        Both have the same dtype.
    """

    values: NDArray[Any]
    n_features: int
    indices: NDArray[Any] | None = None
    indptr: NDArray[Any] | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are in CSR format."""
        return self.indptr is not None

    @property
    def n_rows(self) -> int:
        """The number of rows n."""
        return len(self.values) if self.indptr is None else len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """The pair (n, d)."""
        return self.n_rows, self.n_features

    def __len__(self) -> int:
        return self.n_rows

    def to_matrix(self) -> Any:
        """Return the rows as an ndarray or, if sparse, as a SciPy ``csr_array``."""
        if self.indptr is None or self.indices is None:
            return self.values
        from scipy.sparse import csr_array

        return csr_array((self.values, self.indices, self.indptr), shape=self.shape)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays: the values, and for CSR the indices and indptr."""
        if self.indptr is None or self.indices is None:
            return (self.values,)
        return self.values, self.indices, self.indptr

    def empty_like(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Return uninitialized arrays with space for the given rows."""
        if self.indptr is None or self.indices is None:
            return Rows(np.empty((len(rows), self.n_features), self.values.dtype), self.n_features)
        size = int((self.indptr[rows + 1] - self.indptr[rows]).sum())
        return Rows(
            np.empty(size, self.values.dtype),
            self.n_features,
            np.empty(size, self.indices.dtype),
            np.empty(len(rows) + 1, self.indptr.dtype),
        )

    def take(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Return the given rows, in the given order."""
        if self.indptr is None or self.indices is None:
            return Rows(self.values[rows], self.n_features)
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=self.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        # position of each value: the old start of its row plus its offset in the row
        where = np.repeat(self.indptr[:-1][rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Rows(self.values[where], self.n_features, self.indices[where], indptr)

    def slice(self, start: int, stop: int) -> Rows:
        """Return rows ``start`` to ``stop``, as views if possible."""
        if self.indptr is None or self.indices is None:
            return Rows(self.values[start:stop], self.n_features)
        first, last = self.indptr[start], self.indptr[stop]
        return Rows(
            self.values[first:last],
            self.n_features,
            self.indices[first:last],
            self.indptr[start : stop + 1] - first,
        )

    def canonical(self) -> Rows:
        """Return the rows with sorted columns without duplicates; self if they are so already."""
        if self.indptr is None or self.indices is None:
            return self
        ascends = np.diff(self.indices) > 0
        starts = self.indptr[1:-1]
        ascends[starts[(starts > 0) & (starts < len(self.indices))] - 1] = True
        return self if ascends.all() else self.sum_duplicates()

    def sum_duplicates(self) -> Rows:
        """Return the rows with the values of duplicate columns summed."""
        if self.indptr is None or self.indices is None:
            return self
        row = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))
        order = np.lexsort((self.indices, row))
        row, column = row[order], self.indices[order]
        first = np.flatnonzero(np.diff(row, prepend=-1) | np.diff(column, prepend=-1))
        return Rows(
            np.add.reduceat(self.values[order], first),
            self.n_features,
            column[first],
            np.searchsorted(row[first], np.arange(self.n_rows + 1)).astype(self.indptr.dtype),
        )

    def astype(self, dtype: np.dtype[Any]) -> Rows:
        """Return the rows with another float dtype; self if it is the same."""
        if self.values.dtype == dtype:
            return self
        return Rows(self.values.astype(dtype), self.n_features, self.indices, self.indptr)


def as_rows(X: Any, *, dtype: np.dtype[Any] | None = None, check_values: bool = True) -> Rows:
    """Convert arrays, SciPy sparse matrices and numeric data frames to ``Rows``.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Rows
        float32 and float64 are kept; other numbers become float64.
    dtype : dtype, optional
        Cast the values to this float type.
    check_values : bool, default True
        Reject NaN, infinity and column indices out of range. Without it, the caller must call
        ``largest_magnitude`` and ``check_indices``.

    Returns
    -------
    Rows
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.flags.c_contiguous and _is_float(X.dtype):
        rows = Rows(X, X.shape[1])
    elif isinstance(X, Rows):
        rows = X
    elif is_scipy_sparse(X):
        rows = _rows_from_scipy(X)
    else:
        rows = _rows_from_array(X)
    if rows.n_rows == 0 or rows.n_features == 0:
        what = "0 sample(s)" if rows.n_rows == 0 else "0 feature(s)"
        raise ValueError(
            f"Found array with {what} (shape={rows.shape}) while a minimum of 1 is required."
        )
    if check_values:
        if rows is X:
            check_indices(rows)
        largest_magnitude(rows, X)
    return rows if dtype is None else rows.astype(dtype)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, or None."""
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = getattr(X, "column_names", columns)  # pyarrow's `columns` holds the data
    names = tuple(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.char in FLOATS and dtype.isnative


def is_scipy_sparse(X: Any) -> bool:
    """Return whether X is a SciPy sparse matrix or array, without importing SciPy."""
    sparse = sys.modules.get(
        "scipy.sparse"
    )  # if SciPy is not imported, X cannot be one of its matrices
    return sparse is not None and bool(sparse.issparse(X))


def _rows_from_scipy(X: Any) -> Rows:
    from separable.data.ingest.sparse import csr_of

    values, indices, indptr = csr_of(X)
    _refuse_complex(values.dtype)
    values = values if _is_float(values.dtype) else values.astype(np.float64)
    if indptr.dtype != indices.dtype:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return Rows(
        np.ascontiguousarray(values),
        X.shape[1],
        np.ascontiguousarray(indices),
        np.ascontiguousarray(indptr),
    )


def check_indices(rows: Rows) -> None:
    """Raise if a column index of CSR rows is outside 0 ... d - 1, naming the row."""
    if rows.indptr is None or rows.indices is None or len(rows.indices) == 0:
        return
    unsigned = rows.indices.view(f"u{rows.indices.itemsize}")  # negative indices become large
    if unsigned.max() < rows.n_features:
        return
    bad = int(np.flatnonzero(unsigned >= rows.n_features)[0])
    row = int(np.searchsorted(rows.indptr, bad, side="right")) - 1
    raise ValueError(
        f"The sparse matrix has column index {int(rows.indices[bad])} in row {row}, outside 0 ... "
        f"{rows.n_features - 1}. Rebuild it with a shape that contains every index."
    )


def _rows_from_array(X: Any) -> Rows:
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        raise ValueError("X is a masked array with missing entries. Fill or drop them first.")
    _refuse_text_columns(X)
    array = X.to_numpy() if hasattr(X, "to_numpy") and not hasattr(X, "to_batches") else None
    if array is None:
        array = _stack_arrow_columns(X) if hasattr(X, "to_batches") else np.asarray(X)
    _refuse_complex(array.dtype)
    if array.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead (shape={array.shape}). Reshape your data "
            "using array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it "
            "is a single row."
        )
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array (shape={array.shape}).")
    if array.dtype.kind in "USV":
        raise ValueError(_text_message("0", array[0, 0] if array.size else "", 0))
    if array.dtype.kind in "mM":
        raise ValueError(_date_message("0", array.dtype))
    if array.dtype.kind == "O":
        array = _floats_from_objects(array)
    if not _is_float(array.dtype):
        array = array.astype(np.float64)
    return Rows(np.ascontiguousarray(array), array.shape[1])


def _stack_arrow_columns(table: Any) -> NDArray[Any]:
    columns = [np.asarray(column.to_numpy(), dtype=np.float64) for column in table.columns]
    return np.stack(columns, axis=1) if columns else np.empty((table.num_rows, 0))


def _floats_from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except TypeError:  # pandas' NA among numbers: the NaN check names its position
        missing = np.array([v is None or (v != v) is not False for v in array.reshape(-1)])
        return np.where(missing.reshape(array.shape), np.nan, array).astype(np.float64)
    except ValueError:
        for row, column in np.ndindex(*array.shape):
            if isinstance(array[row, column], (str, bytes)):
                raise ValueError(_text_message(str(column), array[row, column], row)) from None
        raise


def _refuse_text_columns(X: Any) -> None:
    """Reject a data frame with text or date columns before converting it."""
    names = column_names(X)
    if names is None:
        return
    for name in names:
        column = X[name]
        kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
        if kind.startswith(("date", "time", "duration")):
            raise ValueError(_date_message(name, kind))
        if kind.startswith(("object", "str", "string", "large_string", "categor", "enum", "dict")):
            values = (getattr(value, "as_py", lambda v=value: v)() for value in column)
            first = next((value for value in values if isinstance(value, str)), None)
            if first is not None:
                raise ValueError(_text_message(name, first, None))


def _text_message(column: str, value: object, row: int | None) -> str:
    index = "" if row is None else f" in row {row}"
    return (
        f"Column {column!r} holds text (could not convert string to float: "
        f"{str(value)!r}{index}). Encode it first, for example with separable.TableEncoder, which "
        "standardizes numbers and one-hot encodes categories."
    )


def _date_message(column: str, dtype: object) -> str:
    return (
        f"Column {column!r} holds dates or times ({dtype}). Convert them to meaningful numbers "
        "first: a year, a month, days since an event."
    )


def _refuse_complex(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: the matrix has dtype {dtype}.")


def largest_magnitude(rows: Rows, X: Any) -> float:
    """Return max |x|, 0 if empty; reject NaN and infinity, naming row and column of X."""
    if rows.values.size == 0:
        return 0.0
    values = rows.values  # ufuncs directly: a single row should cost a microsecond
    largest = float(
        max(np.maximum.reduce(values, axis=None), -np.minimum.reduce(values, axis=None))
    )
    if not largest < np.inf:
        check_finite(rows, column_names(X))
    return largest


def check_finite(rows: Rows, names: Sequence[str] | None) -> None:
    """Reject NaN and infinity, naming row and column."""
    flat = rows.values.reshape(-1)
    step = 1 << 20
    index = next(
        (
            start + int(np.argmin(np.isfinite(flat[start : start + step])))
            for start in range(0, flat.size, step)
            if not np.isfinite(flat[start : start + step]).all()
        ),
        None,
    )
    if index is None:
        return
    if rows.indptr is None or rows.indices is None:
        row, column = divmod(index, rows.n_features)
    else:
        row = int(np.searchsorted(rows.indptr, index, side="right")) - 1
        column = int(rows.indices[index])
    what = "NaN" if np.isnan(flat[index]) else "infinity"
    remedy = (
        "fill missing values first (for example with separable.TableEncoder or "
        "sklearn.impute.SimpleImputer) or drop the row"
        if what == "NaN"
        else "look for an overflow or a division by zero in the code that computed the column"
    )
    raise ValueError(
        f"Input X contains {what} in row {row}, column "
        f"{column if names is None else repr(names[column])}: {remedy}."
    )


def core_rows(rows: Rows) -> portable.Rows:
    """Return the rows for the compiled core, with checked indices."""
    try:
        return portable.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
    except ValueError:
        check_indices(rows)  # names the row
        raise


def index_of_columns(columns: NDArray[np.intp], n_features: int) -> NDArray[np.int64]:
    """Return the index of each column within ``columns``, -1 if absent."""
    index = np.full(n_features, -1, np.int64)
    index[columns] = np.arange(len(columns))
    return index
