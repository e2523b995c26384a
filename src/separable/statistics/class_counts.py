"""``ClassCounts``: column sums per class for naive Bayes, with merging and subtraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable._core import native, portable
from separable.data.row_operations import refuse_negative_threshold
from separable.data.rows import core_rows, largest_magnitude
from separable.fitting.targets import find_classes
from separable.model.linear_model import TrainingState
from separable.model.predict.scores import row_blocks
from separable.statistics.precision import SignificanceError
from separable.statistics.sums import IMPOSSIBLE, NOT_ADDED, checked_labels
from separable.statistics.weighted_rows import refuse_outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["ClassCounts"]

#: Largest relative error after a subtraction.
TOLERANCE = 1e-6
#: Relative rounding error of one addition; for n rows it grows with the square root of n.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
#: Number of values added between two checks for Ctrl-C.
VALUES_BETWEEN_POLLS = 1 << 24
#: Sums above this may overflow when added over columns.
NEAR_OVERFLOW = 1e290
#: A column sum above this multiple of the others is checked for dominant values.
DOMINANT_RATIO = 1e10
#: Sums up to this resolve fractions of 1/256.
MAX_WITH_FRACTIONS = 2.0**45
#: Sums of integers up to this are exact in float64.
MAX_EXACT_INTEGER = 2.0**53


class ClassCounts:
    """Row counts, weights and column sums per class, in one pass and in any chunks.

    For rows x_i with weights c_i: n_k = sum_{i in k} c_i and F_kj = sum_{i in k} c_i x_ij, or, with
    a threshold, the weight of the rows of class k with x_ij above it. Sums are float64 and added
    row by row: any chunking of the same rows gives the same bits, and integers up to 2^53 are exact
    under addition, merging and subtraction. For other numbers a subtraction stores error bounds and
    refuses sums that lost too much precision.

    Parameters
    ----------
    threshold : float, optional
        Count values above it instead of adding them.

    Examples
    --------
    >>> import numpy as np
    >>> from separable.fitting.targets import RowWeights
    >>> from separable.statistics.class_counts import ClassCounts
    >>> from separable.statistics.weighted_rows import Data, checked_rows
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
        self._has_whole_values = True
        #: Error bounds of weights and sums, after the first subtraction.
        self._errors: tuple[Floats, Floats] | None = None

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
        """The classes seen, sorted; None before the first row."""
        return self._classes

    @property
    def rows(self) -> NDArray[np.int64]:
        """The number of rows of each class, (K,)."""
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
        """Whether all weights and values were integers, so that all sums are exact."""
        return self._has_whole_values and _is_whole(self._weight) and _is_whole(self._sums)

    def column_sizes(self) -> tuple[Floats, Floats]:
        """Return the sum and the mean of each column; 0 for columns of ordinary size."""
        with np.errstate(over="ignore"):
            total = self._sums.sum(axis=0)
        present = total[total > 0]
        large = total / DOMINANT_RATIO > np.median(present) if len(present) else total > 0
        return np.where(large | (total > DOMINANT_RATIO), total, 0.0), total / self._weight.sum()

    # ------------------------------------------------------------------ adding rows

    def add_data(self, data: Data, chosen: NDArray[np.intp] | None = None) -> Self:
        """Add rows, or the chosen ones; all but their values is checked already.

        A failure leaves the counts unchanged.
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
        if grown._sums is self._sums:  # updated in place: keep a copy
            columns = slice(None)
            if rows.indices is not None and len(rows.indices) < self.n_features // 4:
                columns = np.unique(rows.indices)
            saved = columns, self._sums[:, columns].copy()
        try:
            finite, negative, whole = _add_rows(
                grown._sums, rows, core, group, weight, self.threshold
            )
            if not finite:
                largest_magnitude(data.rows, data.X)  # says where
            if negative and self.threshold is None:
                refuse_outside(data, rows, np.inf)
            touched = grown._sums if saved is None else grown._sums[:, saved[0]]
            if not np.isfinite(touched).all():
                self._refuse_overflow(grown._sums)
            if touched.max(initial=0.0) > NEAR_OVERFLOW:
                _refuse_total_overflow(grown._sums)
            counts = grown._rows + np.bincount(group, minlength=len(classes))
            weights = grown._weight.copy()
            np.add.at(weights, group, 1.0 if weight is None else weight)  # row after row
        except BaseException:
            if saved is not None:
                self._sums[:, saved[0]] = saved[1]
            raise
        self._classes, self.n_features = classes, rows.n_features
        self._rows, self._weight, self._sums = counts, weights, grown._sums
        self._errors = grown._errors
        if self._has_whole_values:
            whole = whole or self.threshold is not None or _is_whole(rows.values)
            self._has_whole_values = whole and (weight is None or _is_whole(weight))
        return self

    def _aligned(self, classes: NDArray[Any], n_features: int) -> ClassCounts:
        """Return the counts with a row for every class; the sums are shared if possible."""
        made = ClassCounts(self.threshold)
        made._classes, made.n_features = classes, n_features
        made._has_whole_values = self._has_whole_values
        if self._classes is not None and len(classes) == len(self._classes):
            made._rows, made._weight, made._sums = self._rows, self._weight, self._sums
            made._errors = self._errors
            return made
        made._rows, made._weight = np.zeros(len(classes), np.int64), np.zeros(len(classes))
        made._sums = np.zeros((len(classes), n_features))
        if self._classes is not None:
            index = find_classes(self._classes, classes)
            made._rows[index], made._weight[index] = self._rows, self._weight
            made._sums[index] = self._sums
            if self._errors is not None:
                made._errors = np.zeros_like(made._weight), np.zeros_like(made._sums)
                made._errors[0][index], made._errors[1][index] = self._errors
        return made

    def _refuse_overflow(self, sums: Floats) -> None:
        column = int(np.flatnonzero(~np.isfinite(sums).all(axis=0))[0])
        raise ValueError(
            f"The sum of column {column} overflows float64: its values exceed 1.8e308 together. "
            "Scale the column."
        )

    # ------------------------------------------------------------------ algebra

    def copy(self) -> ClassCounts:
        """Return an independent copy."""
        made = ClassCounts(self.threshold)
        made._classes, made.n_features = self._classes, self.n_features
        made._rows, made._weight = self._rows, self._weight
        made._sums, made._errors = self._sums.copy(), self._errors
        made._has_whole_values = self._has_whole_values
        return made

    def _both(self, other: ClassCounts) -> tuple[ClassCounts, ClassCounts]:
        """Return both with the same classes, after checking that they are compatible."""
        for what in ("threshold", "n_features"):
            own, theirs = getattr(self, what), getattr(other, what)
            if own != theirs:
                raise ValueError(f"The two ClassCounts differ in {what}: {own!r} and {theirs!r}.")
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
        if sums.max() > NEAR_OVERFLOW:
            _refuse_total_overflow(sums)
        made = self._made(a._classes, a._rows + b._rows, a._weight + b._weight, sums)
        made._has_whole_values = a._has_whole_values and b._has_whole_values
        if a._errors is not None or b._errors is not None:
            made._errors = _sum_of_errors(a, b)
        return made

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        return self.subtract(other)

    def subtract(
        self, other: ClassCounts, *, smoothing: float = 0.0, tolerance: float = TOLERANCE
    ) -> ClassCounts:
        """Return the counts without the rows of others.

        Parameters
        ----------
        other : ClassCounts
            Counts of some of these rows.
        smoothing : float, default 0.0
            Constant that will be added to every sum; errors are relative to the smoothed sum.
        tolerance : float
            Largest relative error.

        Returns
        -------
        ClassCounts

        Raises
        ------
        SignificanceError
            With the class and the columns that lost too much precision.
        """
        if other.is_empty:
            return self.copy()
        if self.is_empty:
            raise ValueError(NOT_ADDED)
        a, b = self._both(other)
        rows, weight, sums = a._rows - b._rows, a._weight - b._weight, a._sums - b._sums
        of_weight, of_sums = _sum_of_errors(a, b)
        kept = rows > 0
        gone = np.where(kept, 0.0, np.abs(weight) - of_weight)
        if (
            (rows < 0).any()
            or (weight < -of_weight).any()
            or (sums < -of_sums).any()
            or (gone > 0).any()
            or (np.where(kept[:, None], 0.0, sums - of_sums) > 0).any()
        ):
            raise ValueError(NOT_ADDED)
        if not kept.any():
            return ClassCounts(self.threshold)
        assert a._classes is not None
        weight, sums = np.maximum(weight, 0.0)[kept], np.maximum(sums, 0.0)[kept]
        left = self._made(a._classes[kept], rows[kept], weight, sums)
        left._has_whole_values = a._has_whole_values and b._has_whole_values
        left._errors = of_weight[kept], of_sums[kept]
        left._check_digits(smoothing, tolerance)
        if not (of_weight.any() or of_sums.any()):
            left._errors = None
        return left

    def _check_digits(self, smoothing: float, tolerance: float) -> None:
        assert self._errors is not None
        assert self._classes is not None
        of_weight, of_sums = self._errors
        bad = np.flatnonzero(of_weight > tolerance * self._weight)
        labels = self._classes.tolist()
        findings: list[tuple[str, tuple[int, ...], float]] = [
            (
                f"the weight of class {labels[k]!r}",
                (),
                float(of_weight[k] / max(self._weight[k], of_weight[k])),
            )
            for k in bad
        ]
        limit = np.multiply(tolerance, self._sums + smoothing)
        for k, j in zip(*np.nonzero(of_sums > limit), strict=True):
            error = of_sums[k, j] / max(self._sums[k, j] + smoothing, of_sums[k, j])
            findings.append((f"the sum of {{}} in class {labels[k]!r}", (int(j),), float(error)))
        if findings:
            raise SignificanceError(findings)

    def _made(
        self, classes: NDArray[Any] | None, rows: NDArray[np.int64], weight: Floats, sums: Floats
    ) -> ClassCounts:
        made = ClassCounts(self.threshold)
        made._classes, made.n_features = classes, sums.shape[1]
        made._rows, made._weight, made._sums = rows, weight, sums
        return made

    # ------------------------------------------------------------------ files

    def to_state(self) -> TrainingState:
        """Return the counts in the form of a model file."""
        tensors = {"rows": self._rows, "weight": self._weight, "sums": self._sums}
        if self._errors is not None:
            tensors |= {"error_weight": self._errors[0], "error_sums": self._errors[1]}
        classes = [] if self._classes is None else self._classes.tolist()
        values = {"classes": classes, "threshold": self.threshold, "whole": self._has_whole_values}
        return TrainingState(tensors, values)

    @classmethod
    def from_state(cls, state: TrainingState) -> Self:
        """Return the checked counts of a model file."""
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
        made._errors = _checked_errors(state, weight, sums)
        if "whole" in state.values:
            made._has_whole_values = state.values["whole"] is True
        else:  # older files lack the flag: moderate sums reveal fractions
            made._has_whole_values = bool(sums.max() <= MAX_WITH_FRACTIONS)
        return made

    def __repr__(self) -> str:
        k = 0 if self._classes is None else len(self._classes)
        return f"ClassCounts({self.n_rows} rows, {self.n_features} features, {k} classes)"


def _refuse_total_overflow(sums: Floats) -> None:
    with np.errstate(over="ignore"):
        total = float(sums.sum())
    if not np.isfinite(total):
        column = int(sums.max(axis=0).argmax())
        raise ValueError(
            f"The sum of all columns overflows float64. Column {column} has the largest values, up "
            f"to {sums[:, column].max():.3g} in all rows of a class. Scale the columns."
        )


def _add_rows(
    sums: Floats,
    rows: Rows,
    core: portable.Rows,
    group: NDArray[np.int32],
    weight: Floats | None,
    threshold: float | None,
) -> tuple[bool, bool, bool]:
    """Add rows; return whether all values are finite, any may be negative, all are integers."""
    finite, negative, whole = True, False, True
    for start, stop in row_blocks(rows, most=VALUES_BETWEEN_POLLS):
        cut = slice(start, stop)
        checks = native.group_sums(
            core,
            start,
            stop - start,
            group[cut],
            None if weight is None else weight[cut],
            threshold,
            sums,
        )
        finite, negative = finite and checks[0], negative or checks[1]
        whole = whole and checks[2]
    return finite, negative, whole


def _checked_errors(
    state: TrainingState, weight: Floats, sums: Floats
) -> tuple[Floats, Floats] | None:
    """Return the error bounds of a file, or None."""
    bounds = [state.tensors.get(name) for name in ("error_weight", "error_sums")]
    if bounds[0] is None and bounds[1] is None:
        return None
    if bounds[0] is None or bounds[1] is None:
        raise ValueError(IMPOSSIBLE)
    first, second = (np.array(array) for array in bounds)
    if (first.shape, second.shape) != (weight.shape, sums.shape) or not all(
        a.dtype == np.float64 and np.isfinite(a).all() and (a >= 0).all() for a in (first, second)
    ):
        raise ValueError(IMPOSSIBLE)
    return first, second


def _seen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view


def _is_whole(array: Floats) -> bool:
    return bool((array == np.floor(array)).all() and (np.abs(array) <= MAX_EXACT_INTEGER).all())


def _sum_of_errors(a: ClassCounts, b: ClassCounts) -> tuple[Floats, Floats]:
    """Return error bounds of the sum, or the difference, of counts with the same classes."""
    first, second = _errors_of(a), _errors_of(b)
    return first[0] + second[0], first[1] + second[1]


def _errors_of(counts: ClassCounts) -> tuple[Floats, Floats]:
    """Return error bounds of weights and sums: 0 for integers."""
    rounding = ROUNDING * np.sqrt(counts._rows)
    whole_weight, whole = _is_whole(counts._weight), counts.is_whole
    of_weight = np.zeros_like(counts._weight) if whole_weight else rounding * counts._weight
    of_sums = np.zeros_like(counts._sums) if whole else rounding[:, None] * counts._sums
    if counts._errors is None:
        return of_weight, of_sums
    return of_weight + counts._errors[0], of_sums + counts._errors[1]
