"""Screen of all pairs of columns for interactions, from binned residuals of an additive model.

The score of a pair is what a table of its bins explains of the residuals beyond the two columns
alone (as FAST in Lou et al., "Accurate Intelligible Models with Pairwise Interactions", KDD 2013).
All tables come from one matrix product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import as_columns
from separable.features.table.table_encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.typing import Floats, Indices

__all__ = ["DEFAULT_OPTIONS", "ScreenOptions", "ScreenedPair", "screen_codes", "screen_pairs"]


@dataclass(frozen=True)
class ScreenOptions:
    """Limits of the screen.

    Parameters
    ----------
    columns : int
        Most columns; of more, those with the most bins come first.
    cells : float
        Most cells of all tables, which limits the columns too.
    bins, least_bins, cell_rows : int
        Most bins of a column; fewer, but at least ``least_bins``, if a cell of the table of a pair
        would have less than ``cell_rows`` rows on average.
    pairs : int
        Most pairs that are kept.
    sweeps : int
        Rounds of removing the means of rows and columns from a table.
    entries : float
        Most rows times squared columns: of more rows, every second, third, ...
    batch : int
        Tables that are evaluated together.
    """

    columns: int = 200
    cells: float = 5e7
    bins: int = 10
    least_bins: int = 3
    cell_rows: int = 8
    pairs: int = 20
    sweeps: int = 8
    entries: float = 2e8
    batch: int = 2000


DEFAULT_OPTIONS = ScreenOptions()


@dataclass(frozen=True)
class ScreenedPair:
    """A pair of columns with its score.

    Parameters
    ----------
    first, second : str
    gain : float
        Decrease of the residual sum of squares, in units of the residual variance, less twice the
        degrees of freedom of the table: above 0, the pair is expected to help.
    standard_error : float
    """

    first: str
    second: str
    gain: float
    standard_error: float

    @property
    def columns(self) -> tuple[str, str]:
        """Both columns."""
        return self.first, self.second


def screen_pairs(
    X: Any,
    residuals: Any,
    *,
    encoder: TableEncoder | None = None,
    sample_weight: Any = None,
    options: ScreenOptions = DEFAULT_OPTIONS,
) -> list[ScreenedPair]:
    """Return the pairs of columns that explain residuals beyond each column alone, best first.

    Parameters
    ----------
    X : data frame, pyarrow Table, dict of columns or list of dicts
    residuals : array-like, shape (n,) or (n, k)
        Targets minus predictions of a model of the single columns; of classes, 0/1 indicators minus
        probabilities.
    encoder : TableEncoder, optional
        It decides the types of the columns; fitted to X with ``curves=True``.
    sample_weight : array-like, optional
    options : ScreenOptions

    Returns
    -------
    list of ScreenedPair
        At most 20, each with a gain above 0 and above its standard error. Use them as
        ``TableEncoder(curves=True, interactions=[pair.columns for pair in pairs])``.

    Examples
    --------
    >>> import numpy as np
    >>> from separable.select import screen_pairs
    >>> rng = np.random.default_rng(0)
    >>> X = {name: rng.normal(size=500) for name in "abc"}
    >>> screen_pairs(X, X["a"] * X["c"])[0].columns
    ('a', 'c')
    """
    columns = as_columns(X)
    residuals = np.asarray(residuals, np.float64).reshape(columns.n_rows, -1)
    weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    if not np.isfinite(residuals).all():
        raise ValueError("The residuals must be finite. Predict each row before the screen.")
    fitted = TableEncoder(curves=True).fit(columns) if encoder is None else encoder
    bins = min(
        options.bins, max(options.least_bins, math.isqrt(columns.n_rows // options.cell_rows))
    )
    return screen_codes(fitted.codes(columns, bins), residuals, weight, options)


def screen_codes(
    codes: Mapping[str, Indices],
    residuals: Floats,
    weight: Floats | None = None,
    options: ScreenOptions = DEFAULT_OPTIONS,
) -> list[ScreenedPair]:
    """Return the best pairs of columns that are already divided into bins.

    Parameters
    ----------
    codes : mapping of str to ndarray of int
        The bin of each row, from 0 on.
    residuals : ndarray, shape (n, k)
    weight : ndarray, shape (n,), optional
    options : ScreenOptions
    """
    names = [name for name, each in codes.items() if len(each) and each.max() > 0]
    if len(names) < 2:
        return []
    bins = 1 + max(int(codes[name].max()) for name in names)
    room = int((options.cells / (residuals.shape[1] + 1)) ** 0.5 / bins)
    most = max(min(options.columns, room), 2)
    finest = set(sorted(names, key=lambda name: -int(codes[name].max()))[:most])
    names = [name for name in names if name in finest]
    step = int(np.ceil(len(residuals) * len(names) ** 2 / options.entries))
    chosen = slice(None, None, max(step, 1))
    residuals, weight = residuals[chosen], None if weight is None else weight[chosen]
    spread = np.sqrt(np.average(residuals**2, axis=0, weights=weight).mean())
    if not spread > 0:
        return []
    counts, sums = _tables(
        [codes[name][chosen] for name in names], residuals / spread, weight, bins
    )
    pairs = list(combinations(range(len(names)), 2))
    made = []
    batch = max(options.batch // residuals.shape[1], 1)
    for start in range(0, len(pairs), batch):
        part = pairs[start : start + batch]
        i, j = np.array(part).T
        gains, errors = _gains(counts[i, :, j], sums[i, :, j], options.sweeps)
        made += [
            ScreenedPair(names[a], names[b], gain, error)
            for (a, b), gain, error in zip(part, gains.tolist(), errors.tolist(), strict=True)
            if gain > max(error, 0.0)
        ]
    return sorted(made, key=lambda pair: -pair.gain)[: options.pairs]


def _tables(
    codes: list[Indices], residuals: Floats, weight: Floats | None, bins: int
) -> tuple[Floats, Floats]:
    """Return weights and residual sums of all cells of all pairs: (p, b, p, b), (p, b, p, b, k)."""
    import scipy.sparse as sp

    n, p = len(residuals), len(codes)
    places = np.stack([code + k * bins for k, code in enumerate(codes)], axis=1).ravel()
    indptr = np.arange(n + 1) * p
    shape = (p, bins, p, bins)

    def table(values: Floats | None) -> Floats:
        ones = sp.csr_array((np.ones(n * p), places, indptr), shape=(n, p * bins))
        data = np.ones(n * p) if values is None else np.repeat(values, p)
        scaled = sp.csr_array((data, places, indptr), shape=(n, p * bins))
        return np.asarray((ones.T @ scaled).toarray(), np.float64).reshape(shape)

    w = None if weight is None else weight / weight.mean()
    parts = [table(column if w is None else w * column) for column in residuals.T]
    return table(w), np.stack(parts, axis=-1)


def _gains(counts: Floats, sums: Floats, sweeps: int) -> tuple[Floats, Floats]:
    """Return gains and standard errors of tables: counts (m, b, b), sums (m, b, b, k)."""
    sums = np.moveaxis(sums, -1, 1)
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    left = 1.0 / np.where(rows > 0, rows, 1.0)[:, None]
    right = 1.0 / np.where(columns > 0, columns, 1.0)[:, None]
    N = counts[:, None]
    b = np.zeros_like(sums[:, :, 0])
    for _ in range(sweeps):
        a = (sums - N * b[:, :, None, :]).sum(axis=3) * left
        b = (sums - N * a[:, :, :, None]).sum(axis=2) * right
    rest = sums - N * (a[:, :, :, None] + b[:, :, None, :])
    explained = (rest**2 / np.where(N > 0, N, 1.0)).sum(axis=(2, 3))
    occupied = (counts > 0).sum(axis=(1, 2))
    free = occupied - (rows > 0).sum(axis=1) - (columns > 0).sum(axis=1) + 1
    freedom = np.maximum(free, 0)[:, None]
    beyond = np.maximum(explained - freedom, 0.0)
    gains = np.where(freedom > 0, explained - 2.0 * freedom, 0.0).sum(axis=1)
    errors = np.sqrt((2.0 * (freedom + 2.0 * beyond)).sum(axis=1))
    return gains, errors
