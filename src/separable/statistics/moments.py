"""``Moments``: counts, means and scatter of columns, with addition, merging and subtraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from separable.data.resources import check_column_products
from separable.data.rows import as_rows, check_indices, largest_magnitude
from separable.fitting.targets import (
    check_labels,
    check_targets,
    find_classes,
    weigh_rows,
)
from separable.linalg.blas import fill_lower
from separable.model.linear_model import TrainingState
from separable.statistics.precision import check_digits
from separable.statistics.row_blocks import (
    Block,
    ScaleNeeded,
    add_block,
    add_dense_blocks,
    block_rows,
    fitting_scale,
    middle,
    stack_blocks,
)
from separable.statistics.sums import (
    IMPOSSIBLE,
    NOT_ADDED,
    Sums,
    checked_labels,
    checked_sums,
    merge_sums,
    subtract_sums,
    sums_as_tensors,
)
from separable.statistics.weighted_rows import Data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = ["Moments", "Target"]

Target: TypeAlias = Literal["numbers", "classes"]


class Moments:
    """Counts, means and scatter of columns, in one pass and in any chunks.

    For rows x_i with weights c_i: W = sum c_i, m = sum c_i x_i / W and the scatter
    S = sum c_i (x_i - m)(x_i - m)'. Regression targets are further columns. With classes, counts
    and means are per class, and the scatter is the within-class scatter,
    S = sum_k sum_{i in k} c_i (x_i - m_k)(x_i - m_k)'.

    Sums are stored in float64 relative to a point among the data, so that columns far from 0 keep
    their precision. Rows are added in blocks whose boundaries depend only on the row number: any
    chunking of the same rows gives the same bits. Merging and reordering change results only by
    rounding.

    Parameters
    ----------
    target : "numbers" or "classes", optional
        Kind of y; None: no target.
    products : bool, default True
        Store products of columns, d^2 numbers; otherwise only squares, d numbers.
    owner, instead : str
        The learner and its alternative, for the message that d^2 numbers do not fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from separable import Moments
    >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]])
    >>> first, rest = Moments().add(X[:1]), Moments().add(X[1:])
    >>> both = first + rest
    >>> both.mean
    array([ 2., 30.])
    >>> both.scatter
    array([[   2.,   50.],
           [  50., 1400.]])
    >>> (both - first).mean
    array([ 2.5, 40. ])
    """

    def __init__(
        self,
        target: Target | None = None,
        *,
        products: bool = True,
        owner: str = "Moments",
        instead: str = "keep only squares with products=False",
    ) -> None:
        if target not in (None, "numbers", "classes"):
            raise ValueError(f"target must be None, 'numbers' or 'classes'. Got {target!r}.")
        self.target, self.products = target, products
        self._owner, self._instead = owner, instead
        self.n_features = 0
        self.n_targets: int | None = None  # None: y is one-dimensional, or there is no target
        self._labels: NDArray[Any] | None = None  # sorted; group g has label g
        self._sums: Sums | None = None
        self._pending: list[Block] = []
        self._n_pending = 0
        self._settled: Sums | None = None  # shared with callers: never changed

    # ------------------------------------------------------------------ adding rows

    def add(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,) or, for numbers, (n, t), optional
        sample_weight : array-like of shape (n,), optional
            A row of weight k counts as k rows; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        rows = as_rows(X, check_values=False)
        check_indices(rows)
        owner = type(self).__name__
        if self.target == "numbers":
            y = check_targets(y, rows.n_rows, owner)
        elif self.target == "classes":
            y = check_labels(y, rows.n_rows, owner)
        elif y is not None:
            raise ValueError("These Moments have no target. Give Moments(target=...) to pass y.")
        counted = weigh_rows(sample_weight, None, np.empty(rows.n_rows) if y is None else y)
        return self.add_data(Data(rows, y, counted, X))

    def add_data(
        self, data: Data, chosen: NDArray[np.intp] | None = None, *, is_whole: bool = False
    ) -> Self:
        """Add rows, or the chosen ones; all but their values is checked already.

        ``is_whole``: these are all rows of a fit. The last block is summed at once; otherwise a
        copy of its rows waits until the block is full.
        """
        rows, y, weight = data.rows, data.y, data.counted.weight
        chosen = data.counting(chosen)
        if rows.is_sparse:
            largest_magnitude(rows, data.X)
        if chosen is not None and not len(chosen):
            return self
        if self._sums is not None and self._sums.precision is not None:
            return self._add_apart(data, chosen)
        before = self._kept()
        try:
            self._check_shape(rows, y)
            if self._sums is not None and (
                is_whole or self._n_pending + _length(rows, chosen) >= self._step(rows)
            ):
                self._sums = self._sums.copy()  # a failure leaves the sums unchanged
            self._pending = list(self._pending)
            group = self._groups(y, chosen)
            for block in self._blocks(rows, y, group, weight, chosen, is_whole=is_whole):
                self._add_block(self._start(), block)
        except BaseException as error:
            self.__dict__.update(before)
            if isinstance(error, ScaleNeeded):  # no scale fits: the values are not finite
                largest_magnitude(rows, data.X)
            raise
        self._settled = None
        return self

    def _add_apart(self, data: Data, chosen: NDArray[np.intp] | None) -> Self:
        """Add rows by merging, which propagates the error bounds of these sums."""
        self._check_shape(data.rows, data.y)
        total = self + self._none().add_data(data, chosen)
        self.__dict__.update(total._kept(), _settled=None)
        return self

    def _kept(self) -> dict[str, Any]:
        """Return the state that adding rows may change."""
        names = ("n_features", "n_targets", "_sums", "_labels", "_pending", "_n_pending")
        return {name: getattr(self, name) for name in names}

    def _check_shape(self, rows: Rows, y: NDArray[Any] | None) -> None:
        n_targets = None if y is None or y.ndim == 1 else y.shape[1]
        if self.n_features == 0:
            self.n_features, self.n_targets = rows.n_features, n_targets
            check_column_products(
                self._n_columns, self._owner, self._instead, products=self.products
            )
        if rows.n_features != self.n_features:
            raise ValueError(
                f"X has {rows.n_features} features, but these Moments have {self.n_features}."
            )
        if n_targets != self.n_targets:
            raise ValueError("y has another number of columns than before.")

    @property
    def _n_columns(self) -> int:
        return self.n_features + (0 if self.target != "numbers" else self.n_targets or 1)

    def _start(self) -> Sums:
        """Return the sums to add to, with one group per class."""
        if self._sums is None:
            n_groups = 1 if self._labels is None else len(self._labels)
            self._sums = Sums.empty(self._n_columns, n_groups, diagonal=not self.products)
        return self._sums

    def _groups(
        self, y: NDArray[Any] | None, chosen: NDArray[np.intp] | None
    ) -> NDArray[np.int32] | None:
        """Return the group of each row, adding groups for new classes."""
        if self.target != "classes" or y is None:
            return None
        present = np.unique(y if chosen is None else y[chosen])
        if self._labels is None:
            self._labels = present
        elif (find_classes(present, self._labels) < 0).any():
            self._add_groups(np.union1d(self._labels, present))
        return np.maximum(find_classes(y, self._labels), 0)

    def _add_groups(self, labels: NDArray[Any]) -> None:
        """Add groups for new classes; groups stay sorted by label."""
        assert self._labels is not None
        index = find_classes(self._labels, labels)
        if self._sums is not None:
            self._sums = self._sums.regroup(index, len(labels))
        self._pending = [block.regrouped(index) for block in self._pending]
        self._labels = labels

    def _step(self, rows: Rows) -> int:
        return block_rows(self.n_features, sparse=rows.is_sparse)

    def _blocks(
        self,
        rows: Rows,
        y: NDArray[Any] | None,
        group: NDArray[np.int32] | None,
        weight: Floats | None,
        chosen: NDArray[np.intp] | None,
        *,
        is_whole: bool,
    ) -> Iterator[Block]:
        """Yield the full blocks and keep the remaining rows for later, unless these are all."""
        targets = None
        if self.target == "numbers":
            assert y is not None
            targets = y[:, None] if y.ndim == 1 else y
        start, n, step = 0, _length(rows, chosen), self._step(rows)
        if self._n_pending >= step:  # pending rows of a format with larger blocks
            whole = stack_blocks(self._pending, self.n_features)
            self._pending, self._n_pending = [], 0
            yield whole
        while start < n:
            if self._sums is not None and group is None and not self._pending:
                whole_blocks = (n - start) // step * step
                start += add_dense_blocks(
                    self._sums, rows, targets, weight, chosen, start, whole_blocks, step
                )
                if start == n:
                    break
            stop = min(n, start + step - self._n_pending)
            cut: Any = slice(start, stop) if chosen is None else _run_of(chosen[start:stop])
            block = Block(
                rows.slice(cut.start, cut.stop) if isinstance(cut, slice) else rows.take(cut),
                None if targets is None else targets[cut],
                None if group is None else group[cut],
                None if weight is None else weight[cut],
            )
            start = stop
            if self._n_pending + block.rows.n_rows < step and not is_whole:
                block.refuse_not_finite()
                self._pending.append(block.copy())
                self._n_pending += block.rows.n_rows
            elif not self._pending:
                yield block
            else:
                whole = stack_blocks([*self._pending, block], self.n_features)
                self._pending, self._n_pending = [], 0
                yield whole

    def _add_block(self, sums: Sums, block: Block) -> Sums:
        if not sums.weight.any():
            sums.origin = middle(block)
        elif block.group is None:
            n = block.rows.n_rows
            if add_dense_blocks(sums, block.rows, block.targets, block.weight, None, 0, n, n):
                return sums
        try:
            add_block(sums, block)
        except ScaleNeeded:
            block.refuse_not_finite()
            scaled = sums.rescaled(fitting_scale(sums, block))
            sums.scale, sums.offset, sums.scatter = scaled.scale, scaled.offset, scaled.scatter
            add_block(sums, block)
        return sums

    # ------------------------------------------------------------------ algebra

    @property
    def sums(self) -> Sums:
        """The sums of all rows so far, groups in the order of ``classes``; read-only."""
        if self._settled is None:
            self._settled = self._settle()
        return self._settled

    def _settle(self) -> Sums:
        if self._n_pending == 0 and self._sums is None:
            raise ValueError("These Moments have no rows yet. Call add first.")
        if self._n_pending == 0 and self._sums is not None:
            fill_lower(self._sums.scatter)
            return self._sums  # adding rows copies it first
        sums = Sums.empty(0, 1, diagonal=True) if self._sums is None else self._sums.copy()
        if self._n_pending:
            kept, self._sums = self._sums, None if self._sums is None else sums
            try:
                sums = self._start()
                self._add_block(sums, stack_blocks(self._pending, self.n_features))
            finally:
                self._sums = kept
        fill_lower(sums.scatter)
        return sums

    @classmethod
    def from_sums(cls, sums: Sums, n_targets: int | None) -> Self:
        """Return the moments of rows with numeric targets (None: one) from their sums."""
        made = cls("numbers")
        made.n_features, made.n_targets = sums.n_columns - (n_targets or 1), n_targets
        made._sums = sums
        return made

    def _none(self) -> Moments:
        """Return empty moments of the same kind."""
        return Moments(
            self.target, products=self.products, owner=self._owner, instead=self._instead
        )

    def _with(self, sums: Sums | None, classes: NDArray[Any] | None) -> Moments:
        made = self._none()
        made.n_features, made.n_targets = self.n_features, self.n_targets
        made._sums, made._labels = sums, classes
        return made

    def copy(self) -> Moments:
        """Return an independent copy."""
        made = self._with(None if self._sums is None else self._sums.copy(), self._labels)
        made._pending, made._n_pending = list(self._pending), self._n_pending
        return made

    def _aligned(self, other: Moments) -> tuple[Sums, Sums, NDArray[Any] | None]:
        """Return the sums of both with aligned groups, and the classes."""
        for what in ("target", "products", "n_features", "n_targets"):
            own, theirs = getattr(self, what), getattr(other, what)
            if own != theirs:
                raise ValueError(f"The two Moments differ in {what}: {own!r} and {theirs!r}.")
        if self.classes is None or other.classes is None:
            return self.sums, other.sums, None
        classes = np.union1d(self.classes, other.classes)
        return (
            self.sums.regroup(find_classes(self.classes, classes), len(classes)),
            other.sums.regroup(find_classes(other.classes, classes), len(classes)),
            classes,
        )

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.is_empty or other.is_empty:
            return (other if self.is_empty else self).copy()
        a, b, classes = self._aligned(other)
        return self._with(merge_sums(a, b), classes)

    def __sub__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if other.is_empty:
            return self.copy()
        if self.is_empty:
            raise ValueError(NOT_ADDED)
        a, b, classes = self._aligned(other)
        left = subtract_sums(a, b)
        kept = left.rows > 0
        if not kept.any():
            return self._none()
        if classes is not None:
            left, classes = left.keep_groups(kept), classes[kept]
        check_digits(a.rescaled(left.scale), left, classes)
        return self._with(left, classes)

    # ------------------------------------------------------------------ reading

    @property
    def is_empty(self) -> bool:
        """Whether no row was added."""
        return self._sums is None and self._n_pending == 0

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return 0 if self.is_empty else int(self.sums.rows.sum())

    @property
    def weight(self) -> float:
        """The sum of the weights W."""
        return 0.0 if self.is_empty else float(self.sums.weight.sum())

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes seen, sorted; None without classes."""
        return None if self._labels is None else self._labels.copy()

    @property
    def class_weight(self) -> Floats:
        """The weight of each class, (K,)."""
        return self.sums.weight.copy()

    @property
    def class_means(self) -> Floats:
        """The mean of each class, (K, d)."""
        return self.sums.means[:, : self.n_features]

    @property
    def mean(self) -> Floats:
        """The mean of the columns of X, (d,)."""
        return self.sums.pooled().means[0, : self.n_features]

    @property
    def target_mean(self) -> Floats:
        """The mean of the targets, (t,)."""
        return self.sums.pooled().means[0, self.n_features :]

    @property
    def scatter(self) -> Floats:
        """Sums of products about the mean of all rows: (d, d), or (d,) without products."""
        x = slice(0, self.n_features)
        return _in_units_of_x(self.sums.pooled(), x, x)

    @property
    def within_scatter(self) -> Floats:
        """Sums of products about the means of the classes: (d, d), or (d,) without products."""
        x = slice(0, self.n_features)
        return _in_units_of_x(self.sums, x, x)

    @property
    def cross(self) -> Floats:
        """Centered sums of products of the columns of X with the targets, (d, t)."""
        return _in_units_of_x(
            self.sums, slice(0, self.n_features), slice(self.n_features, self._n_columns)
        )

    @property
    def target_scatter(self) -> Floats:
        """Centered sums of products of the targets, (t, t)."""
        y = slice(self.n_features, self._n_columns)
        return _in_units_of_x(self.sums, y, y)

    def column_sizes(self) -> tuple[Floats, Floats]:
        """Return the norm of each centered column of X, a bound on |x - mean|, and the mean."""
        sums, d = self.sums, self.n_features
        mean = sums.weight @ sums.offset / sums.weight.sum()
        squares = sums.diagonal + sums.weight @ (sums.offset - mean) ** 2
        with np.errstate(over="ignore"):  # an infinite bound is valid
            length = np.sqrt(np.maximum(squares, 0.0)) / sums.scale
        return length[:d], (sums.origin + mean / sums.scale)[:d]

    # ------------------------------------------------------------------ files

    def to_state(self) -> TrainingState:
        """Return the sums in the form of a model file."""
        values: dict[str, Any] = {"target": self.target, "n_targets": self.n_targets}
        if self.classes is not None:
            values["classes"] = self.classes.tolist()
        return TrainingState(sums_as_tensors(self.sums), values)

    @classmethod
    def from_state(cls, state: TrainingState) -> Self:
        """Return the checked moments of a model file."""
        sums, values = checked_sums(state.tensors), state.values
        target: Any = values.get("target")
        made = cls(target, products=not sums.is_diagonal)
        made.n_targets = _checked_target_count(values.get("n_targets"), target)
        made.n_features = sums.n_columns - (0 if target != "numbers" else made.n_targets or 1)
        if made.n_features < 1:
            raise ValueError(IMPOSSIBLE)
        listed = values.get("classes")
        if (listed is None) != (target != "classes"):
            raise ValueError("The file's sums must name classes if they are kept by class.")
        classes = None if listed is None else checked_labels(listed)
        if sums.n_groups != (1 if classes is None else len(classes)):
            raise ValueError("The file's sums have another number of classes than it names.")
        made._sums, made._labels = sums, classes
        return made

    def __repr__(self) -> str:
        what = "" if self.target is None else f", target={self.target!r}"
        return f"Moments({self.n_rows} rows, {self.n_features} features{what})"


def _length(rows: Rows, chosen: NDArray[np.intp] | None) -> int:
    return rows.n_rows if chosen is None else len(chosen)


def _run_of(chosen: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Return consecutive chosen rows as a slice, which copies nothing."""
    first, last = int(chosen[0]), int(chosen[-1])
    if last - first == len(chosen) - 1 and bool((np.diff(chosen) == 1).all()):
        return slice(first, last + 1)
    return chosen


def _checked_target_count(value: Any, target: Any) -> int | None:
    if value is None:
        return None
    if target != "numbers" or type(value) is not int or value < 1:
        raise ValueError(f"The file's number of targets is {value!r:.80}, which is not possible.")
    return value


def _in_units_of_x(sums: Sums, rows: slice, columns: slice) -> Floats:
    with np.errstate(over="ignore", under="ignore"):  # infinity and 0 are correct results
        if sums.is_diagonal:
            return sums.scatter[rows] / sums.scale[rows] / sums.scale[rows]
        return sums.scatter[rows, columns] / sums.scale[rows, None] / sums.scale[columns]
