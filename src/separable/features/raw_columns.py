"""Columns of an array, a data frame or a table, unconverted, with their names if any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separable.data.rows import column_names, is_scipy_sparse
from separable.data.strings import is_texts

__all__ = [
    "check_names_and_count",
    "columns_of_records",
    "names_in_parts",
    "names_of_columns",
    "raw_columns",
    "remember_columns",
    "saved_names",
]


def raw_columns(X: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """Return the columns of X, unconverted, and their names.

    Parameters
    ----------
    X : array-like with two dimensions, data frame, Arrow table or dict of columns

    Returns
    -------
    columns : list
        NumPy arrays, Arrow arrays or columns of the data frame.
    names : tuple of str or None
    """
    columns: list[Any]
    names: tuple[str, ...] | None
    if is_scipy_sparse(X):
        raise TypeError(
            "Sparse data was passed, but categories must be in a dense array or a data frame. "
            "Use X.toarray() if the matrix is small, or encode the categories before building it."
        )
    X = columns_of_records(X)
    if isinstance(X, Mapping):
        columns, names = _mapped_columns(X), tuple(str(name) for name in X)
    elif hasattr(X, "column_names") and hasattr(X, "to_batches"):  # an Arrow table
        columns, names = list(X.columns), tuple(X.column_names)
    elif hasattr(X, "iloc"):
        if X.ndim != 2:
            raise ValueError(_one_dimension((len(X),)))
        columns, names = [X.iloc[:, index] for index in range(X.shape[1])], column_names(X)
    elif hasattr(X, "get_columns") and hasattr(X, "columns"):  # polars
        columns, names = X.get_columns(), tuple(X.columns)
    elif hasattr(X, "__arrow_c_stream__") and not isinstance(X, np.ndarray):
        import pyarrow as pa

        table = pa.RecordBatchReader.from_stream(X).read_all()
        columns, names = list(table.columns), tuple(table.column_names)
    else:
        columns, names = _array_columns(X), None
    if not columns:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({_n_rows(X)}, 0)) while a minimum of 1 is "
            "required."
        )
    if len(columns[0]) == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(columns)})) while a minimum of 1 is "
            "required."
        )
    return columns, names


def columns_of_records(X: Any) -> Any:
    """Return a list of dicts as a dict of columns, anything else unchanged."""
    if type(X) is not list or not X or not all(isinstance(record, Mapping) for record in X):
        return X
    names = list(X[0])
    for row, record in enumerate(X):
        if record.keys() != X[0].keys():
            odd = min(map(str, record.keys() ^ X[0].keys()))
            raise ValueError(f"Record {row} has other columns than record 0: {odd!r:.80}.")
    columns = {}
    for name in names:
        columns[name] = np.empty(len(X), dtype=object)
        columns[name][:] = [record[name] for record in X]
    return columns


def _mapped_columns(X: Mapping[Any, Any]) -> list[Any]:
    lengths = {str(name): len(values) for name, values in X.items()}
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(
            f"{name!r} has {length}" for name, length in list(lengths.items())[:5]
        )
        raise ValueError(
            f"The columns differ in length: {lengths_text}. Give all columns the same number of "
            "rows."
        )
    return list(X.values())


def _n_rows(X: Any) -> int:
    return len(X) if hasattr(X, "__len__") else 0


def _array_columns(X: Any) -> list[Any]:
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # numbers mixed with texts stay numbers
    if array.ndim == 0:
        raise ValueError(f"Expected 2D array, got scalar array instead: array={X!r}.")
    if array.ndim == 1:
        raise ValueError(_one_dimension(array.shape))
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required.")
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: the array has dtype {array.dtype}.")
    return [array[:, index] for index in range(array.shape[1])]


def _one_dimension(shape: tuple[int, ...]) -> str:
    return (
        f"Expected 2D array, got 1D array instead (shape={shape}). Reshape your data using "
        "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it is a "
        "single row."
    )


def remember_columns(encoder: Any, n_columns: int, names: tuple[str, ...] | None) -> None:
    """Set the fitted attributes of scikit-learn: ``n_features_in_`` and ``feature_names_in_``.

    Parameters
    ----------
    encoder : Transformer
    n_columns : int
    names : tuple of str or None
    """
    encoder.n_features_in_ = n_columns
    if names is not None:
        encoder.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(encoder, "feature_names_in_"):
        del encoder.feature_names_in_


def names_of_columns(encoder: Any, input_features: Any = None) -> list[str]:
    """Return the column names that an encoder was fitted with, else ``x0``, ``x1``, ...

    Parameters
    ----------
    encoder : Transformer
    input_features : sequence of str, optional
        Names for unnamed columns; for named columns they must be equal.
    """
    known, count = getattr(encoder, "feature_names_in_", None), encoder.n_features_in_
    if input_features is None:
        return [f"x{index}" for index in range(count)] if known is None else list(known)
    names = [str(name) for name in input_features]
    if known is not None and names != list(known):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(names) != count:
        raise ValueError(
            "input_features should have length equal to number of features "
            f"({count}), got {len(names)}"
        )
    return names


def check_names_and_count(encoder: Any, n_columns: int, names: tuple[str, ...] | None) -> None:
    """Raise if the columns differ from those the encoder was fitted with."""
    expected = encoder.n_features_in_
    if n_columns != expected:
        raise ValueError(
            f"X has {n_columns} features, but {type(encoder).__name__} is expecting {expected} "
            "features as input."
        )
    fitted = getattr(encoder, "feature_names_in_", None)
    if names is not None and fitted is not None and list(fitted) != list(names):
        index = next(
            i for i, pair in enumerate(zip(names, fitted, strict=True)) if len({*pair}) > 1
        )
        raise ValueError(
            "The feature names should match those that were passed during fit: column "
            f"{index} is {names[index]!r}, expected {fitted[index]!r}. Reorder or rename the "
            "columns, for example X[list(encoder.feature_names_in_)]."
        )


def saved_names(encoder: Any) -> dict[str, tuple[str, ...]]:
    """Return the column names as a part of a file, empty if there are none."""
    names = getattr(encoder, "feature_names_in_", None)
    return {} if names is None else {"names": tuple(str(name) for name in names)}


def names_in_parts(tensors: Mapping[str, Any], n_columns: int) -> tuple[str, ...] | None:
    """Return the names written by `saved_names`, after validation."""
    if "names" not in tensors:
        return None
    names = tensors["names"]
    if not is_texts(names) or len(names) != n_columns:
        raise ValueError(f"The saved encoder is damaged: 'names' must be {n_columns} texts.")
    return tuple(names)
