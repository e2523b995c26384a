"""Addition of blocks of rows to sums: one block of any rows, or many dense blocks in one pass."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native, portable
from separable.data.row_operations import stack_rows
from separable.data.rows import Rows, core_rows, index_of_columns
from separable.linalg.blas import add_rows_to_scatter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.sums import Sums
    from separable.typing import Floats

__all__ = [
    "DENSE_FRACTION",
    "Block",
    "ScaleNeeded",
    "add_block",
    "add_dense_blocks",
    "block_rows",
    "fitting_scale",
    "middle",
    "stack_blocks",
]

#: Numbers in a block, in float64: one megabyte, so that it stays in the cache.
BLOCK_VALUES = 1 << 17
#: Numbers up to which the memory for a centered block is kept.
SCRATCH_VALUES = 2 * BLOCK_VALUES
#: Range of values whose squares, and sums of squares, neither overflow nor underflow.
SMALLEST, LARGEST = 2.0**-400, 2.0**400
#: Columns of sparse rows with a larger fraction of non-zeros are multiplied as dense columns.
DENSE_FRACTION = 0.25
#: Smallest fraction of the raw sum of squares left after centering without loss of precision.
MIN_FRACTION_LEFT = 1e-3


class _Scratch(threading.local):
    """Memory for one centered block per thread: fresh pages cost as much as the products."""

    numbers: Floats = np.empty(0)

    def take(self, n_rows: int, n_columns: int) -> Floats:
        """Return an uninitialized array, valid until the next call in this thread."""
        size = n_rows * n_columns
        if size > SCRATCH_VALUES:
            return np.empty((n_rows, n_columns))
        if len(self.numbers) < size:
            self.numbers = np.empty(size)
        return self.numbers[:size].reshape(n_rows, n_columns)


_scratch = _Scratch()


class ScaleNeeded(Exception):  # noqa: N818  # no error: the caller chooses another scale
    """A block has columns whose squares overflow or underflow."""


class Block:
    """A block of rows.

    Parameters
    ----------
    rows : Rows
        X.
    targets : ndarray of float64, shape (n, t), or None
        Further columns, after those of X.
    group : ndarray of int32, shape (n,), or None
        The group of each row; None: group 0.
    weight : ndarray of float64, shape (n,), or None
        None: 1.
    """

    def __init__(
        self,
        rows: Rows,
        targets: Floats | None,
        group: NDArray[np.int32] | None,
        weight: Floats | None,
    ) -> None:
        self.rows, self.targets, self.group, self.weight = rows, targets, group, weight

    def weight_of_groups(self, n_groups: int) -> tuple[NDArray[np.int64], Floats]:
        """Return the number of rows and the weight of each group."""
        if self.group is None:
            n = self.rows.n_rows
            total = float(n) if self.weight is None else float(self.weight.sum())
            return np.array([n], np.int64), np.array([total])
        counts = np.bincount(self.group, minlength=n_groups).astype(np.int64)
        weights = counts if self.weight is None else np.bincount(self.group, self.weight, n_groups)
        return counts, weights.astype(np.float64)

    def refuse_not_finite(self) -> None:
        """Raise if values are not finite."""
        if not np.isfinite(self.rows.values).all():
            raise ScaleNeeded

    def copy(self) -> Block:
        """Return a block that does not share the caller's arrays."""
        rows = self.rows
        indices = None if rows.indices is None else rows.indices.copy()
        indptr = None if rows.indptr is None else rows.indptr.copy()
        return Block(
            Rows(rows.values.copy(), rows.n_features, indices, indptr),
            None if self.targets is None else self.targets.copy(),
            None if self.group is None else self.group.copy(),
            None if self.weight is None else self.weight.copy(),
        )

    def regrouped(self, group_index: NDArray[np.int32]) -> Block:
        """Return the block with renumbered groups."""
        group = None if self.group is None else group_index[self.group]
        return Block(self.rows, self.targets, group, self.weight)


def stack_blocks(blocks: list[Block], n_features: int) -> Block:
    """Concatenate blocks of the same kind."""
    if len(blocks) == 1:
        return blocks[0]
    weights = None
    if any(block.weight is not None for block in blocks):
        weights = np.concatenate(
            [np.ones(b.rows.n_rows) if b.weight is None else b.weight for b in blocks]
        )
    first = blocks[0]
    return Block(
        stack_rows([block.rows for block in blocks], n_features),
        None if first.targets is None else np.concatenate([b.targets for b in blocks]),
        None if first.group is None else np.concatenate([b.group for b in blocks]),
        weights,
    )


def block_rows(n_features: int, *, sparse: bool) -> int:
    """Return the number of rows of a block; it depends only on d, so chunking changes no bit."""
    if sparse:  # each block has a fixed cost of d^2
        return max(4096, 2 * n_features)
    rows = max(512, min(4096, BLOCK_VALUES // n_features))
    return int(1 << (rows.bit_length() - 1))


def add_block(sums: Sums, block: Block) -> None:
    """Add a block to sums in place; only the upper triangle of the scatter is updated.

    Raises
    ------
    ScaleNeeded
        Before any change.
    """
    counts, weight = block.weight_of_groups(sums.n_groups)
    if block.rows.is_sparse:
        mean, fill = _sparse(sums, block, weight)
    else:
        mean, fill = _dense(sums, block, weight)
    total = sums.weight + weight
    fraction = np.divide(weight, total, out=np.zeros_like(total), where=total > 0)
    gap = mean - sums.offset
    between = np.sqrt(sums.weight * fraction)[:, None] * gap
    fill(sums.scatter, between[between.any(axis=1)])
    sums.offset += np.where(sums.weight[:, None] > 0, fraction[:, None], weight[:, None] > 0) * gap
    sums.rows += counts
    sums.weight = total


# Steps of `add_block`: each returns the group means as z, and a function that adds the products of
# the block and of further rows to a scatter.


def _dense(sums: Sums, block: Block, weight: Floats) -> tuple[Floats, Any]:
    n, d = block.rows.shape
    buffer = _scratch.take(n + sums.n_groups, sums.n_columns)
    mean, largest = np.empty((sums.n_groups, sums.n_columns)), np.empty(sums.n_columns)
    _centre(sums, block, block.rows, weight, buffer, mean, largest, 0)
    if block.targets is not None:
        targets = Rows(np.ascontiguousarray(block.targets), block.targets.shape[1])
        _centre(sums, block, targets, weight, buffer, mean, largest, d)
    _check_scale(sums, largest, mean, slice(None))

    def fill(scatter: Floats, more: Floats) -> None:
        buffer[n : n + len(more)] = more
        add_rows_to_scatter(scatter, buffer[: n + len(more)])

    return mean, fill


def _centre(
    sums: Sums,
    block: Block,
    rows: Rows,
    weight: Floats,
    buffer: Floats,
    mean: Floats,
    largest: Floats,
    column: int,
) -> None:
    part = slice(column, column + rows.n_features)
    means, sizes = np.empty((sums.n_groups, rows.n_features)), np.empty(rows.n_features)
    native.centre_rows(
        core_rows(rows),
        0,
        rows.n_rows,
        block.group,
        block.weight,
        weight,
        sums.origin[part],
        sums.scale[part],
        means,
        sizes,
        buffer,
        column,
    )
    mean[:, part], largest[part] = means, sizes


def _check_scale(sums: Sums, largest: Floats, mean: Floats, columns: Any) -> None:
    """Raise ScaleNeeded if squares overflow, or underflow with no larger value before."""
    if largest.min() >= SMALLEST and largest.max() < LARGEST and np.isfinite(mean).all():
        return
    large = ~(largest < LARGEST) | ~np.isfinite(mean).all(axis=0)
    small = (largest > 0) & (largest < SMALLEST)
    if not large.any() and not small.any():
        return
    small &= (sums.diagonal[columns] == 0) & (sums.scale[columns] == 1)
    if large.any() or small.any():
        raise ScaleNeeded


def fitting_scale(sums: Sums, block: Block) -> Floats:
    """Return scales with which the squares of a block neither overflow nor underflow."""
    largest = np.abs(sums.origin)
    rows, d = block.rows, block.rows.n_features
    if rows.indices is None:
        np.maximum(largest[:d], np.abs(rows.values).max(axis=0), out=largest[:d])
    else:
        np.maximum.at(largest, rows.indices, np.abs(rows.values))
    if block.targets is not None:
        np.maximum(largest[d:], np.abs(block.targets).max(axis=0), out=largest[d:])
    _, exponent = np.frexp(largest)
    odd = (largest > LARGEST / 4) | ((largest > 0) & (largest < SMALLEST * 4))
    wanted = np.where(odd, np.ldexp(1.0, np.clip(-exponent - 1, -1022, 1022)), 1.0)
    return np.where(sums.diagonal > 0, np.minimum(wanted, sums.scale), wanted)


def middle(block: Block) -> Floats:
    """Return the origin for sums: a point among the rows, 0 for columns that are mostly 0."""
    rows, n = block.rows, block.rows.n_rows
    with np.errstate(over="ignore", invalid="ignore"):
        if rows.indices is None:
            centre = np.add.reduce(rows.values, axis=0, dtype=np.float64) / n
        else:
            centre = np.bincount(rows.indices, rows.values, minlength=rows.n_features) / n
            centre[np.bincount(rows.indices, minlength=rows.n_features) < DENSE_FRACTION * n] = 0.0
        if block.targets is not None:
            centre = np.concatenate([centre, np.add.reduce(block.targets, axis=0) / n])
    return np.where(np.isfinite(centre), centre, 0.0)


def _sparse(sums: Sums, block: Block, weight: Floats) -> tuple[Floats, Any]:
    """Sum sparse rows: full columns as dense ones, the others by pairs of non-zeros."""
    if (sums.scale != 1).any():
        block = _scaled(sums, block)
    rows = block.rows
    n, d = rows.shape
    core = core_rows(rows)
    totals = np.zeros((sums.n_groups, d))
    native.group_sums(core, 0, n, block.group, block.weight, None, totals)
    squares, filled, largest = np.zeros(d), np.zeros(d), np.zeros(d)
    native.column_squares(core, 0, n, block.weight, squares, filled, largest)
    _check_scale(sums, largest, totals, slice(0, d))
    mean = np.divide(totals, weight[:, None], out=np.zeros_like(totals), where=weight[:, None] > 0)
    if sums.is_diagonal:
        return _sparse_squares(sums, block, core, weight, mean)
    left = squares - (weight[:, None] * mean**2).sum(axis=0)  # fixed order of groups
    full = (filled > DENSE_FRACTION * weight.sum()) | (left < MIN_FRACTION_LEFT * squares)
    return _sparse_products(sums, block, core, weight, mean, np.flatnonzero(full))


def _scaled(sums: Sums, block: Block) -> Block:
    """Return the block multiplied by the scale, without the origin."""
    rows, d = block.rows, block.rows.n_features
    assert rows.indices is not None
    values = rows.values * sums.scale[rows.indices]
    return Block(
        Rows(values, d, rows.indices, rows.indptr),
        None if block.targets is None else block.targets * sums.scale[d:],
        block.group,
        block.weight,
    )


def _as_z(sums: Sums, mean: Floats) -> Floats:
    """Return means of scaled x as means of z."""
    return mean - sums.origin[: mean.shape[1]] * sums.scale[: mean.shape[1]]


def _sparse_squares(
    sums: Sums, block: Block, core: portable.Rows, weight: Floats, mean: Floats
) -> tuple[Floats, Any]:
    n, d = block.rows.shape
    assert block.targets is None
    squares, gaps = np.zeros(d), np.empty_like(mean)
    native.squares_about(core, 0, n, block.group, block.weight, weight, mean, squares, gaps)
    # for columns far from 0 the mean is rounded; its rounding error is known exactly
    missed = np.divide(gaps, weight[:, None], out=np.zeros_like(mean), where=weight[:, None] > 0)
    squares = np.maximum(squares - (gaps * missed).sum(axis=0), 0.0)

    def fill(scatter: Floats, more: Floats) -> None:
        scatter += squares
        add_rows_to_scatter(scatter, more)

    offset = _as_z(sums, mean) + missed
    offset[weight == 0] = 0.0
    return offset, fill


def _sparse_products(
    sums: Sums,
    block: Block,
    core: portable.Rows,
    weight: Floats,
    mean: Floats,
    full: NDArray[np.intp],
) -> tuple[Floats, Any]:
    n, d = block.rows.shape
    p = sums.n_columns
    dense = np.concatenate([full, np.arange(d, p)])
    origin = (sums.origin * sums.scale)[dense]  # the block is scaled already
    z = np.zeros((n, len(dense)))
    native.spread_columns(core, 0, n, index_of_columns(full, d), z)
    if block.targets is not None:
        z[:, len(full) :] = block.targets
    offset = np.zeros((sums.n_groups, p))
    offset[:, :d] = _as_z(sums, mean)
    if len(dense):
        means, largest = np.empty((sums.n_groups, len(dense))), np.empty(len(dense))
        native.centre_rows(
            core_rows(Rows(z, len(dense))), 0, n, block.group, block.weight, weight,
            origin, np.ones(len(dense)), means, largest, z, 0,
        )  # fmt: skip
        _check_scale(sums, largest, means, dense)
        offset[:, dense] = means
    offset[weight == 0] = 0.0

    def fill(scatter: Floats, more: Floats) -> None:
        thin = np.arange(d, dtype=np.int64)
        thin[full] = -1
        cross = np.zeros((p, len(dense)))
        native.add_products(core, 0, n, block.weight, thin, scatter, z, cross)
        centre = np.zeros((sums.n_groups, p))
        centre[:, :d] = np.sqrt(weight)[:, None] * mean
        centre[:, full] = 0.0
        add_rows_to_scatter(scatter, centre[centre.any(axis=1)], -1.0)
        _add_to_upper(scatter, thin[thin >= 0], dense, cross[thin[thin >= 0]])
        if len(dense) == p:
            add_rows_to_scatter(scatter, z)
        else:
            scatter[np.ix_(dense, dense)] += np.triu(z.T @ z)
        add_rows_to_scatter(scatter, more)

    return offset, fill


def _add_to_upper(
    scatter: Floats, rows: NDArray[np.intp], columns: NDArray[np.intp], values: Floats
) -> None:
    """Add values to the entries (row, column) or (column, row) of the upper triangle."""
    if len(rows) and len(columns):
        low, high = np.minimum(rows[:, None], columns), np.maximum(rows[:, None], columns)
        scatter[low, high] += values  # rows and columns are disjoint, so entries are unique


#: With more columns the products dominate, and BLAS is as fast.
MAX_COLUMNS = 320


def add_dense_blocks(
    sums: Sums,
    rows: Rows,
    targets: Floats | None,
    weight: Floats | None,
    chosen: NDArray[np.intp] | None,
    first: int,
    n_rows: int,
    step: int,
) -> int:
    """Add blocks to sums of one group in place; only the upper triangle of the scatter is updated.

    The products are centered by the mean of the earlier rows, so the first block must be present.

    Parameters
    ----------
    sums : Sums
    rows : Rows
    targets : ndarray of float64, shape (n, t), or None
    weight : ndarray of float64, shape (n,), or None
    chosen : ndarray of int, or None
        Row indices; None: all.
    first, n_rows : int
        Range of the chosen rows.
    step : int
        Number of rows per block.

    Returns
    -------
    int
        Number of rows added: up to the first block that needs another scale, higher precision, or
        refusal. None if another way is as fast.
    """
    if (
        n_rows <= 0
        or rows.is_sparse
        or sums.is_diagonal
        or sums.n_columns > MAX_COLUMNS
        or not sums.weight[0] > 0
        or not native.fuses_products()
    ):
        return 0
    added, total = native.add_dense_blocks(
        core_rows(rows),
        None if targets is None else np.ascontiguousarray(targets),
        weight,
        chosen,
        first,
        n_rows,
        step,
        sums.origin,
        sums.scale,
        float(sums.weight[0]),
        sums.offset,
        sums.scatter,
    )
    sums.rows += added
    sums.weight = np.array([total])
    return int(added)
