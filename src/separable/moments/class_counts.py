"""``ClassCounts``: what naive Bayes knows of the data, as a value with laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows
from separable.data.indicators import refuse_negative_threshold
from separable.data.rows import largest_magnitude
from separable.fitting.targets import find_classes
from separable.model.linear_model import TrainingState
from separable.model.scores import row_blocks
from separable.moments.negative_values import refuse_outside
from separable.moments.state import IMPOSSIBLE, checked_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.moments.data import Data

    Floats = NDArray[np.float64]

__all__ = ["ClassCounts"]

#: Less than this of a class left by a subtraction, and half of the digits are gone.
LEAST_LEFT = 1e-8
#: What rounding may leave below 0, of what was there before.
ROUNDING = 1e-12
#: Values added between two looks for Ctrl-C.
VALUES_BETWEEN_LOOKS = 1 << 24
#: Whole numbers up to here are exact in float64.
MOST_WHOLE = 2.0**53


class ClassCounts:
    """Rows, weight and sums of columns of each class, in one pass and in any pieces.

    For rows x_i with weights c_i: n_k = sum_{i in k} c_i and F_kj = sum_{i in k} c_i x_ij, or, with
    a threshold, the weight of the rows of class k whose x_ij is above it. Sums are kept in float64
    and made row after row: the same rows in other pieces give the same bits, and whole numbers up
    to 2^53 are exact, whatever is added, merged and subtracted.

    Parameters
    ----------
    threshold : float, optional
        Count values above it instead of adding values.

    Examples
    --------
    >>> import numpy as np
    >>> from separable.fitting.targets import RowWeights
    >>> from separable.moments.class_counts import ClassCounts
    >>> from separable.moments.data import Data, checked_rows
    >>> X = np.array([[2.0, 0.0], [1.0, 3.0], [0.0, 5.0]])
    >>> data = Data(checked_rows(X), np.array(["b", "a", "a"]), RowWeights(), X)
    >>> counts = ClassCounts().add_data(data)
    >>> counts.classes.tolist(), counts.weight.tolist()
    (['a', 'b'], [2.0, 1.0])
    >>> counts.sums
    array([[1., 8.],
           [2., 0.]])
    """

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = threshold
        self.n_features = 0
        self._classes: NDArray[Any] | None = None
        self._rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._weight: Floats = np.zeros(0)
        self._sums: Floats = np.zeros((0, 0))

    # ------------------------------------------------------------------ reading

    @property
    def is_empty(self) -> bool:
        """Whether no row was added."""
        return self._classes is None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._rows.sum())

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes met, sorted; None before the first row."""
        return self._classes

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of each class, (K,)."""
        return _seen(self._rows)

    @property
    def weight(self) -> Floats:
        """The weight n_k of each class, (K,)."""
        return _seen(self._weight)

    @property
    def sums(self) -> Floats:
        """The sums F_kj, (K, d)."""
        return _seen(self._sums)

    @property
    def is_whole(self) -> bool:
        """Whether weights and sums are whole numbers, of which no digit can be lost."""
        return _is_whole(self._weight) and _is_whole(self._sums)

    # ------------------------------------------------------------------ adding rows

    def add_data(self, data: Data, chosen: NDArray[np.intp] | None = None) -> Self:
        """Add rows, or the chosen of them, of which only the values may still be bad.

        What fails leaves the counts as they were.
        """
        part = data.present(chosen)
        rows, y, weight = part.rows, part.y, part.counted.weight
        if not rows.n_rows:
            return self
        if self.n_features not in (0, rows.n_features):
            raise ValueError(
                f"X has {rows.n_features} features, but these ClassCounts have {self.n_features}."
            )
        refuse_negative_threshold(rows, self.threshold)
        core = core_rows(rows)  # checks columns
        classes = np.unique(y)
        if self._classes is not None:
            find_classes(classes, self._classes)  # refuses labels of another type
            classes = np.union1d(self._classes, classes)
        group = find_classes(y, classes)
        grown = self._aligned(classes, rows.n_features)
        saved: tuple[Any, Floats] | None = None
        columns: Any
        if grown._sums is self._sums:  # added to in place: keep what was there
            columns = slice(None)
            if rows.indices is not None and len(rows.indices) < self.n_features // 4:
                columns = np.unique(rows.indices)
            saved = columns, self._sums[:, columns].copy()
        try:
            finite, negative = _add_rows(grown._sums, rows, core, group, weight, self.threshold)
            if not finite:
                largest_magnitude(data.rows, data.X)  # says where
            if negative and self.threshold is None:
                refuse_outside(data, rows, np.inf)
            touched = grown._sums if saved is None else grown._sums[:, saved[0]]
            if not np.isfinite(touched).all():
                self._refuse_overflow(grown._sums)
            counts = grown._rows + np.bincount(group, minlength=len(classes))
            weights = grown._weight.copy()
            np.add.at(weights, group, 1.0 if weight is None else weight)  # row after row
        except BaseException:
            if saved is not None:
                self._sums[:, saved[0]] = saved[1]
            raise
        self._classes, self.n_features = classes, rows.n_features
        self._rows, self._weight, self._sums = counts, weights, grown._sums
        return self

    def _aligned(self, classes: NDArray[Any], n_features: int) -> ClassCounts:
        """Return the counts with a place for every class, sharing the sums where they fit."""
        made = ClassCounts(self.threshold)
        made._classes, made.n_features = classes, n_features
        if self._classes is not None and len(classes) == len(self._classes):
            made._rows, made._weight, made._sums = self._rows, self._weight, self._sums
            return made
        made._rows, made._weight = np.zeros(len(classes), np.int64), np.zeros(len(classes))
        made._sums = np.zeros((len(classes), n_features))
        if self._classes is not None:
            place = find_classes(self._classes, classes)
            made._rows[place], made._weight[place] = self._rows, self._weight
            made._sums[place] = self._sums
        return made

    def _refuse_overflow(self, sums: Floats) -> None:
        column = int(np.flatnonzero(~np.isfinite(sums).all(axis=0))[0])
        raise ValueError(
            f"The sum of column {column} overflows float64: its values exceed 1.8e308 together. "
            "Scale the column."
        )

    # ------------------------------------------------------------------ algebra

    def copy(self) -> ClassCounts:
        """Return counts that can be added to without changing these."""
        made = ClassCounts(self.threshold)
        made._classes, made.n_features = self._classes, self.n_features
        made._rows, made._weight = self._rows, self._weight
        made._sums = self._sums.copy()
        return made

    def _both(self, other: ClassCounts) -> tuple[ClassCounts, ClassCounts]:
        """Return both with the same classes, after checking that they are of the same kind."""
        for what in ("threshold", "n_features"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise ValueError(f"The two ClassCounts differ in {what}: {mine!r} and {theirs!r}.")
        assert self._classes is not None
        assert other._classes is not None
        find_classes(other._classes, self._classes)  # refuses labels of another type
        classes = np.union1d(self._classes, other._classes)
        return self._aligned(classes, self.n_features), other._aligned(classes, self.n_features)

    def __add__(self, other: ClassCounts) -> ClassCounts:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        if self.is_empty or other.is_empty:
            return (other if self.is_empty else self).copy()
        a, b = self._both(other)
        with np.errstate(over="ignore"):
            sums = a._sums + b._sums
        if not np.isfinite(sums).all():
            self._refuse_overflow(sums)
        return self._made(a._classes, a._rows + b._rows, a._weight + b._weight, sums)

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        if other.is_empty:
            return self.copy()
        if self.is_empty:
            raise ValueError("The rows to subtract are not among those that were added.")
        a, b = self._both(other)
        rows, weight, sums = a._rows - b._rows, a._weight - b._weight, a._sums - b._sums
        if (
            (rows < 0).any()
            or (weight < -ROUNDING * a._weight).any()
            or (sums < -ROUNDING * np.abs(a._sums)).any()
        ):
            raise ValueError("The rows to subtract are not among those that were added.")
        kept = rows > 0
        if not kept.any():
            return ClassCounts(self.threshold)
        weight, sums = np.maximum(weight, 0.0), np.maximum(sums, 0.0)
        if not (a.is_whole and b.is_whole):
            _refuse_few_digits(a, kept, weight, sums)
        assert a._classes is not None
        return self._made(a._classes[kept], rows[kept], weight[kept], sums[kept])

    def _made(
        self, classes: NDArray[Any] | None, rows: NDArray[np.int64], weight: Floats, sums: Floats
    ) -> ClassCounts:
        made = ClassCounts(self.threshold)
        made._classes, made.n_features = classes, sums.shape[1]
        made._rows, made._weight, made._sums = rows, weight, sums
        return made

    # ------------------------------------------------------------------ files

    def to_state(self) -> TrainingState:
        """Return the counts as a model file keeps them."""
        tensors = {"rows": self._rows, "weight": self._weight, "sums": self._sums}
        classes = [] if self._classes is None else self._classes.tolist()
        return TrainingState(tensors, {"classes": classes, "threshold": self.threshold})

    @classmethod
    def from_state(cls, state: TrainingState) -> Self:
        """Return the counts of a model file, after checking them."""
        names = ("rows", "weight", "sums")
        listed, threshold = state.values.get("classes"), state.values.get("threshold")
        if any(name not in state.tensors for name in names) or not isinstance(listed, list):
            raise ValueError("The file's sums are not those of ClassCounts.")
        rows, weight, sums = (np.array(state.tensors[name]) for name in names)
        if (
            not listed
            or rows.shape != (len(listed),)
            or weight.shape != rows.shape
            or sums.ndim != 2
            or len(sums) != len(rows)
            or not sums.shape[1]
            or rows.dtype != np.int64
            or not all(a.dtype == np.float64 and np.isfinite(a).all() for a in (weight, sums))
            or (rows < 1).any()
            or (weight <= 0).any()
            or (sums < 0).any()
            or not (threshold is None or isinstance(threshold, int | float))
            or (threshold is not None and not abs(threshold) <= np.finfo(np.float64).max)
        ):
            raise ValueError(IMPOSSIBLE)
        classes = checked_labels(listed)
        made = cls(None if threshold is None else float(threshold))
        made._classes, made.n_features = classes, sums.shape[1]
        made._rows, made._weight, made._sums = rows, weight, sums
        return made

    def __repr__(self) -> str:
        k = 0 if self._classes is None else len(self._classes)
        return f"ClassCounts({self.n_rows} rows, {self.n_features} features, {k} classes)"


def _add_rows(
    sums: Floats,
    rows: Rows,
    core: native.Rows,
    group: NDArray[np.int32],
    weight: Floats | None,
    threshold: float | None,
) -> tuple[bool, bool]:
    """Add rows; return whether all values are finite, and whether one may be negative."""
    finite, negative = True, False
    for start, stop in row_blocks(rows, most=VALUES_BETWEEN_LOOKS):
        cut = slice(start, stop)
        seen = native.group_sums(
            core,
            start,
            stop - start,
            group[cut],
            None if weight is None else weight[cut],
            threshold,
            sums,
        )
        finite, negative = finite and seen[0], negative or seen[1]
    return finite, negative


def _seen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view


def _is_whole(array: Floats) -> bool:
    return bool((array == np.floor(array)).all() and (np.abs(array) <= MOST_WHOLE).all())


def _refuse_few_digits(
    whole: ClassCounts, kept: NDArray[np.bool_], weight: Floats, sums: Floats
) -> None:
    """Refuse a difference of which hardly any digits are left."""
    assert whole.classes is not None
    for before, after in ((whole._weight, weight), (whole._sums.sum(axis=1), sums.sum(axis=1))):
        asked = kept & (before > 0)
        share = after[asked] / before[asked]
        if len(share) and share.min() < LEAST_LEFT:
            digits = max(0.0, 16 + np.log10(max(share.min(), 1e-16)))
            label = whole.classes[np.flatnonzero(asked)[share.argmin()]]
            raise ValueError(
                f"After the subtraction {share.min():.1e} of the sums of class {label!r} is left, "
                f"which has about {digits:.0f} correct digits. Add up the rows that stay instead "
                "of subtracting."
            )
