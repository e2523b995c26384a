"""SciPy sparse matrices as CSR arrays: copied, checked, then converted.

SciPy converts without checking indices: an index outside the shape would write outside an array.
The owner of the matrix may also modify it while compiled code reads it. So the index arrays are
copied, the copies are checked, and only the copies are used.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["csr_of"]

REMEDY = "Rebuild it with a shape that contains every index."


def csr_of(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return values, indices and indptr of a SciPy sparse matrix of any format.

    Parameters
    ----------
    X : sparse matrix or sparse array
        CSR values are not copied; indices and indptr are.

    Returns
    -------
    values, indices, indptr : ndarray
        Every index is within the shape, and indptr increases from 0 to the number of values.

    Raises
    ------
    ValueError
        Names the index outside the shape and its position.
    """
    if X.ndim != 2:
        raise ValueError(f"Expected a 2D matrix, got a {X.ndim}D sparse array.")
    readers: dict[str, Callable[[Any], tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]] = {
        "csr": _of_csr,
        "csc": _of_csc,
        "bsr": _of_bsr,
        "coo": _of_coo,
        "dok": _of_dok,
        "lil": _of_lil,
        "dia": _of_dia,
    }
    if X.format not in readers:
        raise ValueError(f"Unknown sparse matrix format {X.format!r}. Use X.tocsr().")
    return readers[X.format](X)


def _of_csr(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    indices, indptr = _owned(X.indices), _owned(X.indptr)
    values = np.asarray(X.data)
    _check_compressed(values, indices, indptr, X.shape, ("column", "row"))
    n = int(indptr[-1])
    return values[:n], indices[:n], indptr


def _of_csc(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from scipy.sparse import csc_array

    indices, indptr = _owned(X.indices), _owned(X.indptr)
    values = np.asarray(X.data)
    _check_compressed(values, indices, indptr, X.shape[::-1], ("row", "column"))
    n = int(indptr[-1])
    return _arrays(csc_array((values[:n], indices[:n], indptr), shape=X.shape))


def _of_bsr(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from scipy.sparse import bsr_array

    indices, indptr = _owned(X.indices), _owned(X.indptr)
    values = np.asarray(X.data)
    height, width = values.shape[1:] if values.ndim == 3 else (0, 0)
    if min(height, width) < 1 or X.shape[0] % height or X.shape[1] % width:
        raise ValueError(
            f"The sparse matrix of shape {X.shape} has blocks in an array of shape "
            f"{values.shape}. Rebuild it with blocks that fill the shape."
        )
    blocks = X.shape[0] // height, X.shape[1] // width
    _check_compressed(values, indices, indptr, blocks, ("block column", "block row"))
    n = int(indptr[-1])
    return _arrays(bsr_array((values[:n], indices[:n], indptr), shape=X.shape))


def _of_coo(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return _of_coordinates(np.asarray(X.data), _owned(X.row), _owned(X.col), X.shape)


def _of_dok(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    items = list(X.items())
    coordinates = np.array([bad for bad, _ in items], dtype=np.int64).reshape(-1, 2)
    values = np.array([value for _, value in items], dtype=X.dtype)
    return _of_coordinates(values, coordinates[:, 0], coordinates[:, 1], X.shape)


def _of_coordinates(
    values: NDArray[Any], row: NDArray[Any], column: NDArray[Any], shape: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from scipy.sparse import coo_array

    if not len(values) == len(row) == len(column):
        raise ValueError(
            f"The sparse matrix has {len(values)} values, {len(row)} row indices and "
            f"{len(column)} column indices. Rebuild it with equal numbers of each."
        )
    for what, index, size in (("row", row, shape[0]), ("column", column, shape[1])):
        bad = _outside(index, size)
        if bad is not None:
            raise ValueError(
                f"The sparse matrix has {what} index {int(index[bad])} at entry {bad}, outside "
                f"0 ... {size - 1}. {REMEDY}"
            )
    return _arrays(coo_array((values, (row, column)), shape=shape))


def _of_lil(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rows, data = list(map(list, X.rows)), list(map(list, X.data))
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    if len(rows) != X.shape[0] or list(map(len, data)) != lengths.tolist():
        raise ValueError(
            "The sparse matrix (lil) has rows whose numbers of indices and values differ. "
            "Rebuild it."
        )
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.fromiter(chain.from_iterable(rows), np.int64, int(indptr[-1]))
    values = np.fromiter(chain.from_iterable(data), X.dtype, int(indptr[-1]))
    _check_compressed(values, indices, indptr, X.shape, ("column", "row"))
    return values, indices, indptr


def _of_dia(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from scipy.sparse import dia_array

    return _arrays(dia_array((np.asarray(X.data), _owned(X.offsets)), shape=X.shape))


def _arrays(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Convert a checked matrix."""
    csr = matrix.tocsr()
    return csr.data, csr.indices, csr.indptr


def _owned(index: Any) -> NDArray[Any]:
    """Return an int32 or int64 copy of an index array."""
    index = np.asarray(index)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise ValueError(
            f"The sparse matrix has indices of dtype {index.dtype} and {index.ndim} dimension(s). "
            "Rebuild it with a 1D array of integers."
        )
    kept = index.dtype.kind == "i" and index.dtype.itemsize in (4, 8) and index.dtype.isnative
    return np.array(index, dtype=index.dtype if kept else np.int64)


def _check_compressed(
    values: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: tuple[int, int],
    words: tuple[str, str],
) -> None:
    """Reject compressed index arrays (CSR or CSC) that point outside the shape."""
    what, of = words
    n_major, n_minor = shape
    if len(indptr) != n_major + 1 or indptr[0] != 0:
        raise ValueError(
            f"The sparse matrix has an indptr of {len(indptr)} entries that starts with "
            f"{int(indptr[0]) if len(indptr) else 'nothing'}; {n_major} {of}s need {n_major + 1} "
            "entries, starting with 0. Rebuild it."
        )
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        raise ValueError(f"The sparse matrix has an indptr that decreases at {of} {falls[0]}.")
    n = int(indptr[-1])
    if n > min(len(indices), len(values)):
        raise ValueError(
            f"The sparse matrix has an indptr that ends at {n}, but {len(indices)} indices and "
            f"{len(values)} values. Rebuild it with equal numbers of each."
        )
    bad = _outside(indices[:n], n_minor)
    if bad is not None:
        where = int(np.searchsorted(indptr, bad, side="right")) - 1
        raise ValueError(
            f"The sparse matrix has {what} index {int(indices[bad])} in {of} {where}, outside "
            f"0 ... {n_minor - 1}. {REMEDY}"
        )


def _outside(index: NDArray[Any], size: int) -> int | None:
    """Return the position of the first index outside 0 ... size - 1."""
    if not len(index):
        return None
    unsigned = np.ascontiguousarray(index).view(f"u{index.itemsize}")  # negative ones become large
    if unsigned.max() < size:
        return None
    return int(np.flatnonzero(unsigned >= size)[0])
