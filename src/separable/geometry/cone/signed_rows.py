"""Labelled rows, and rows of two classes as the vectors y_i (x_i, 1) of a cone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.data.rows import Rows, as_rows, column_names, core_rows
from separable.fitting.targets import check_labels
from separable.linalg.exact import lowest_bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.typing import Floats, Indices

__all__ = ["LabelledRows", "SeenRows", "SignedRows", "check_names", "read_labelled"]

#: Numbers of a block of rows that is written out at a time.
BLOCK = 1 << 18
#: Rows with at most this many numbers are kept in float64, as the search sees them.
MAX_CACHED = 1 << 25
#: Sparse rows with at most this many numbers become dense if a column is shifted.
MAX_DENSE = 1 << 24
#: A column is shifted if its middle is this many times its range away from 0.
SHIFT_RATIO = 4.0
#: No weight is above 2 to this power.
MAX_EXPONENT = 1000


class SignedRows:
    """Vectors z_i = y_i ((x_i - centre) scale, 1), or without the 1.

    Parameters
    ----------
    rows : Rows
        Finite; of sparse rows no column twice.
    sign : ndarray, shape (n,)
        y_i: -1.0 or 1.0.
    fit_intercept : bool
        Whether there is the 1.
    centre : ndarray, shape (d,), optional
        Only of dense rows, and only with an intercept, which it moves. None: 0.
    scale : ndarray, shape (d,), optional
        Powers of two. None: 1.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> cone = SignedRows(as_rows([[1.0, 2.0], [3.0, 5.0]]), np.array([1.0, -1.0]), True)
    >>> cone.take(np.array([1]))
    array([[-3., -5., -1.]])
    >>> cone.scores(np.array([1.0, 0.0, -2.0]))
    array([-1., -1.])
    """

    def __init__(
        self,
        rows: Rows,
        sign: Floats,
        fit_intercept: bool,
        centre: Floats | None = None,
        scale: Floats | None = None,
    ) -> None:
        self.rows, self.sign, self.fit_intercept = rows, sign, fit_intercept
        self.centre, self.scale = centre, scale
        self.size, self._d = rows.shape
        self.dimension = self._d + fit_intercept
        longest = self._d
        if rows.indptr is not None:
            longest = int(np.diff(rows.indptr).max(initial=0))
        self.terms = longest + fit_intercept

    @property
    def column(self) -> Indices:
        """The column that each coordinate is of; -1 for the intercept."""
        columns = np.arange(self._d)
        return np.append(columns, -1) if self.fit_intercept else columns

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse."""
        return self.rows.is_sparse

    @cached_property
    def _sparse(self) -> Any:
        # a copy of the indices, too: SciPy sorts them in place when it takes absolute values
        matrix = self.rows.astype(np.dtype(np.float64)).to_matrix().copy()
        if self.scale is not None:
            matrix.data *= self.scale[matrix.indices]
        return matrix

    @cached_property
    def _kept(self) -> NDArray[np.float64] | None:
        """Dense rows as they are seen, if they are few."""
        if self.size * self._d > MAX_CACHED:
            return None
        return self._seen(np.asarray(self.rows.values, dtype=np.float64))

    def _seen(self, block: Floats) -> Floats:
        if self.centre is not None:
            block = block - self.centre
        return block if self.scale is None else block * self.scale

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        step = max(1, BLOCK // self._d)
        for start in range(0, self.size, step):
            here = slice(start, min(self.size, start + step))
            if self._kept is not None:
                yield here, self._kept[here]
            else:
                yield here, self._seen(np.asarray(self.rows.values[here], dtype=np.float64))

    def _split(self, u: Floats) -> tuple[Floats, float]:
        return (u[:-1], float(u[-1])) if self.fit_intercept else (u, 0.0)

    def _product(self, u: Floats, absolute: bool) -> Floats:
        w, b = self._split(u)
        if self.is_sparse:
            matrix = abs(self._sparse) if absolute else self._sparse
            product: Floats = matrix @ w
        else:
            product = np.empty(self.size)
            for here, block in self._blocks():
                np.matmul(np.abs(block) if absolute else block, w, out=product[here])
        product += b
        return product

    def scores(self, u: Floats) -> Floats:
        """Return Zu, shape (n,)."""
        return self.sign * self._product(u, False)

    def magnitudes(self, u: Floats) -> Floats:
        """Return |Z||u|, shape (n,)."""
        return self._product(np.abs(u), True)

    def sums(self, a: Floats) -> Floats:
        """Return Z'a, shape (D,)."""
        return self._sum(self.sign * a, False)

    def sizes(self, a: Floats) -> Floats:
        """Return |Z|'|a|, shape (D,)."""
        return self._sum(np.abs(a), True)

    def _sum(self, signed: Floats, absolute: bool) -> Floats:
        if self.is_sparse:
            matrix = abs(self._sparse) if absolute else self._sparse
            total: Floats = matrix.T @ signed
        else:
            total = np.zeros(self._d)
            for here, block in self._blocks():
                total += signed[here] @ (np.abs(block) if absolute else block)
        return np.append(total, signed.sum()) if self.fit_intercept else total

    def gram(self, c: Floats) -> Floats:
        """Return Z'CZ, shape (D, D), for c >= 0."""
        d = self._d
        products = np.zeros((self.dimension, self.dimension))
        used = np.flatnonzero(c)
        if self.is_sparse:
            part = self._sparse if len(used) == self.size else self._sparse[used]
            weighed = part.copy()
            weighed.data *= np.repeat(c[used], np.diff(part.indptr))
            products[:d, :d] = (part.T @ weighed).toarray()
            if self.fit_intercept:
                products[:d, d] = np.bincount(weighed.indices, weighed.data, minlength=d)
        else:
            for here, block in self._blocks():
                self._add_block(products, block, c[here])
        if self.fit_intercept:
            products[d, d] = c[used].sum()
            products[d, :d] = products[:d, d]
        return products

    def _add_block(self, products: Floats, block: Floats, c: Floats) -> None:
        d, used = self._d, np.flatnonzero(c)
        part = block[used] if len(used) < len(block) else block
        weighed = part * c[used][:, None]
        products[:d, :d] += part.T @ weighed
        if self.fit_intercept:
            products[:d, d] += weighed.sum(axis=0)

    def take(self, chosen: Indices) -> Floats:
        """Return some vectors, few, written out: shape (k, D)."""
        if self.is_sparse:
            return self._take_sparse(chosen, None)
        if self._kept is not None:
            vectors = self._kept[chosen]
        else:
            vectors = self._seen(np.asarray(self.rows.values[chosen], dtype=np.float64))
        return self._signed(vectors, chosen)

    def take_occupied(self, chosen: Indices) -> tuple[Floats, Indices]:
        """Return the same without columns in which all of them are 0, and the columns left.

        Of dense rows columns are left as they are.
        """
        if not self.is_sparse:
            return self.take(chosen), np.arange(self.dimension)
        used = np.unique(self._sparse[chosen].indices)
        columns = np.append(used, self._d) if self.fit_intercept else used
        return self._take_sparse(chosen, used), columns.astype(np.intp)

    def _take_sparse(self, chosen: Indices, columns: Indices | None) -> Floats:
        part = self._sparse[chosen]
        part = part if columns is None else part[:, columns]
        return self._signed(part.toarray(), chosen)

    def _signed(self, vectors: Floats, chosen: Indices) -> Floats:
        if self.fit_intercept:
            vectors = np.hstack([vectors, np.ones((len(chosen), 1))])
        signed: Floats = vectors * self.sign[chosen][:, None]
        return signed

    def kernel(self) -> Floats:
        """Return ZZ', shape (n, n)."""
        if self.is_sparse:
            products = (self._sparse @ self._sparse.T).toarray()
        else:
            every = np.vstack([block for _, block in self._blocks()])
            products = every @ every.T
        signed: Floats = (products + float(self.fit_intercept)) * self.sign * self.sign[:, None]
        return signed

    def lowest_bits(self) -> NDArray[np.int64]:
        """Return for each column an e: all its values, as they came, are multiples of 2^e."""
        return self._lowest_bits

    @cached_property
    def _lowest_bits(self) -> NDArray[np.int64]:
        values = self.rows.values.reshape(1, -1) if self.is_sparse else self.rows.values
        step = max(1, BLOCK // values.shape[1])
        blocks = (values[start : start + step] for start in range(0, len(values), step))
        bits = np.zeros(values.shape[1], dtype=np.int64)
        for block in blocks:
            if (block != np.rint(block)).any():
                np.minimum(bits, lowest_bits(np.asarray(block, dtype=np.float64)), out=bits)
        if self.rows.indices is not None:
            least = np.zeros(self._d, dtype=np.int64)
            np.minimum.at(least, self.rows.indices, bits)
            bits = least
        return np.append(bits, 0) if self.fit_intercept else bits

    def raw(self, u: Floats) -> Floats:
        """Return the u of columns as they came, or a part of it that does not overflow."""
        w, b = self._split(u)
        if self.scale is not None:
            beyond = int((np.frexp(w)[1] + np.frexp(self.scale)[1]).max(initial=0)) - MAX_EXPONENT
            w, b = (np.ldexp(w, -beyond), float(np.ldexp(b, -beyond))) if beyond > 0 else (w, b)
            w = w * self.scale
        if not self.fit_intercept:
            return w
        return np.append(w, b if self.centre is None else b - self.centre @ w)


class SeenRows(SignedRows):
    """The same vectors for a search: columns centred and scaled, constant ones left out.

    Parameters
    ----------
    cone : SignedRows
        Vectors as they came.
    """

    def __init__(self, cone: SignedRows) -> None:
        rows, intercept = cone.rows, cone.fit_intercept
        if intercept and _is_shifted(rows):
            rows = _written(rows)
        centre, scale, live = _column_view(rows, intercept)
        self._all = rows.n_features
        self._live = np.flatnonzero(live)
        if not rows.is_sparse and 0 < len(self._live) < self._all:
            rows = Rows(np.ascontiguousarray(rows.values[:, self._live]), len(self._live))
            centre, scale = None if centre is None else centre[live], scale[live]
        else:
            self._live = np.arange(self._all)
        super().__init__(rows, cone.sign, intercept, centre, scale)

    def raw(self, u: Floats) -> Floats:
        """Return the u of columns as they came."""
        seen = super().raw(u)
        whole = np.zeros(self._all + self.fit_intercept)
        whole[self._live] = seen[: len(self._live)]
        whole[self._all :] = seen[len(self._live) :]
        return whole


def _column_view(
    rows: Rows, fit_intercept: bool
) -> tuple[Floats | None, Floats, NDArray[np.bool_]]:
    """Return centre, scale (powers of two) and which columns are not constant.

    Sparse columns are not centred.
    """
    if rows.indptr is not None:
        largest = np.zeros(rows.n_features)
        column = np.asarray(rows.indices, dtype=np.intp)  # NumPy is many times as quick with these
        np.maximum.at(largest, column, np.abs(rows.values).astype(np.float64))
        return None, _inverse_powers(largest), largest > 0
    low = rows.values.min(axis=0).astype(np.float64)
    high = rows.values.max(axis=0).astype(np.float64)
    if not fit_intercept:
        largest = np.maximum(np.abs(low), np.abs(high))
        return None, _inverse_powers(largest), largest > 0
    centre = 0.5 * low + 0.5 * high
    centre[np.abs(centre) <= SHIFT_RATIO * (0.5 * high - 0.5 * low)] = 0.0
    largest = np.maximum(np.abs(low - centre), np.abs(high - centre))
    return centre, _inverse_powers(largest), low < high


def _is_shifted(rows: Rows) -> bool:
    """Return whether sparse rows have a column far from 0 for its size, and are few enough."""
    if rows.indices is None or rows.n_rows * rows.n_features > MAX_DENSE:
        return False
    counts = np.bincount(rows.indices, minlength=rows.n_features)
    high, low = np.full((2, rows.n_features), -np.inf)
    column, values = rows.indices.astype(np.intp), rows.values.astype(np.float64)
    np.maximum.at(high, column, values)
    np.maximum.at(low, column, -values)
    full = counts == rows.n_rows
    middle = np.abs(high[full] - low[full])
    return bool((middle > SHIFT_RATIO * (high[full] + low[full])).any())


def _written(rows: Rows) -> Rows:
    """Return sparse rows written out."""
    values = np.zeros(rows.shape)
    column = np.arange(rows.n_features, dtype=np.int64)
    native.spread_columns(core_rows(rows), 0, rows.n_rows, column, values)
    return Rows(values, rows.n_features)


def _inverse_powers(largest: Floats) -> Floats:
    _, exponent = np.frexp(largest)
    return np.where(largest > 0, np.ldexp(1.0, np.clip(1 - exponent, -1022, 1022)), 1.0)


OWNER = "separability"


@dataclass(frozen=True)
class LabelledRows:
    """Rows and their labels.

    Parameters
    ----------
    rows : Rows
        Finite values; sparse rows without duplicate columns.
    label : ndarray of int, shape (n,)
        Index of each label in ``classes``.
    classes : ndarray, shape (K,)
        Sorted.
    names : tuple of str, or None
        Column names.
    """

    rows: Rows
    label: NDArray[np.intp]
    classes: NDArray[Any]
    names: tuple[str, ...] | None

    def signed(self, fit_intercept: bool) -> SignedRows:
        """Return the vectors of two classes."""
        sign = np.where(self.label == 1, 1.0, -1.0)
        return SignedRows(self.rows, sign, fit_intercept)


def read_labelled(X: Any, y: Any, feature_names: Sequence[str] | None = None) -> LabelledRows:
    """Read and check rows and labels."""
    rows = as_rows(X)
    if rows.is_sparse and core_rows(rows).has_repeats():
        rows = rows.sum_duplicates()
    labels = check_labels(y, rows.n_rows, OWNER)
    classes, label = np.unique(labels, return_inverse=True)
    names = column_names(X) if feature_names is None else check_names(feature_names, rows)
    return LabelledRows(rows, label.reshape(-1), classes, names)


def check_names(feature_names: Sequence[str], rows: Rows) -> tuple[str, ...]:
    """Return the column names, one per column."""
    names = tuple(str(name) for name in feature_names)
    if len(names) != rows.n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but X has {rows.n_features} columns. Give one "
            "name for each column, or None."
        )
    return names
