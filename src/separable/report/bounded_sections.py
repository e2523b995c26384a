"""Sections with a work limit: separability of the classes on a sample of rows, learning curve.

Work is counted in stored values times classes, not in seconds: the same rows give the same page on
every machine.
"""

from __future__ import annotations

import copy
import math
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, as_rows
from separable.data.split import stratified_split
from separable.errors import Absent
from separable.features.table.curve_column import CurveColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.verdict import Verdict
    from separable.select.curves.learning_results import LearningCurve


__all__ = [
    "learning_curve_of",
    "separability_of",
]


#: Maximum classes x rows x values per row for a verdict; two classes count as one. About 2 s.
VERDICT_WORK = 600_000

#: Rows of a first sample, which often shows that classes overlap; and the fewest rows worth a
#: verdict.
FIRST_SAMPLE, FEWEST = 1000, 200

NUMBERS_PREDICTED = "The task is regression; separability is a property of classes."

#: Maximum classes x rows x values per row, over all fits of a curve; two classes and a number count
#: as one. About 2 s.
CURVE_WORK = 5_000_000

#: Repetitions and sizes, None for doubling sizes; the first plan that allows this many rows, or
#: all, is used. The sizes of a curve add up to about TOTAL times the rows.
PLANS: tuple[tuple[int, int | None], ...] = ((5, None), (3, 5), (2, 4))
ENOUGH_ROWS, TOTAL = 1000, 1.5
#: Smallest fraction of rows if a plan gives the number of sizes.
SMALLEST = 0.05

#: Fewest rows of a curve, and the seconds after which a first fit ends it.
FEWEST_ROWS, SLOW_FIT = 100, 1.0

#: Most features of curves and interactions: the dependencies among them are solved exactly.
MOST_OF_CURVES = 100

TOO_LONG = "It would take too long: each fit of this learner to these columns is slow."

#: Minimum number of sizes of a curve.
SIZES = 3


def separability_of(
    rows: Any,
    labels: NDArray[Any],
    *,
    of_what: str = "",
    encoder: Any = None,
    feature_names: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[Verdict | Absent, str]:
    """Return the separability verdict and a description of its rows.

    Parameters
    ----------
    rows : Rows, array-like or sparse matrix, shape (n, d)
        As the model takes them.
    labels : ndarray, shape (n,)
    of_what : str
        A description of the rows, after their number: " of penguins.csv".
    encoder : encoder, optional
        Of the model.
    feature_names : sequence of str, optional
    seed : int, default 0
        Seed of the random sample.

    Returns
    -------
    verdict : Verdict or Absent
    about : str
    """
    whole = as_rows(rows)
    n, d = whole.shape
    classes = len(np.unique(labels))
    if classes < 2:
        return Absent("The rows are all of one class."), ""
    if d > MOST_OF_CURVES and has_curves(encoder):
        return Absent(
            f"The {d} features of curves would take too long here. The command `separable "
            "separability` decides whether the columns themselves separate the classes."
        ), ""
    most = _most_rows(whole, classes)
    if most < min(n, FEWEST):
        return Absent(
            f"{classes} classes with {d} columns would take too long here. Use "
            "separable.geometry.separability(X, y) in Python."
        ), ""
    names = None if feature_names is None or d > len(feature_names) else feature_names
    order = np.random.default_rng(seed).permutation(n)
    verdict, used = _bounded_verdict(whole, labels, order, names, most)
    if isinstance(verdict, Absent):
        return verdict, ""
    return verdict, _separability_note(verdict, used, n, d, of_what)


def has_curves(encoder: Any) -> bool:
    """Return whether an encoder makes curves of numbers."""
    columns = getattr(encoder, "column_encoders", ())
    return any(isinstance(column, CurveColumn) for column in columns)


def _bounded_verdict(
    whole: Rows,
    labels: NDArray[Any],
    order: NDArray[np.int64],
    names: Sequence[str] | None,
    most: int,
) -> tuple[Verdict | Absent, int]:
    """Decide a first sample and, unless its classes overlap, the largest one."""
    n = whole.n_rows
    result: Verdict | Absent = Absent("No random sample of the rows had two classes.")
    sizes = [most] if most <= 2 * FIRST_SAMPLE else [FIRST_SAMPLE, most]
    for used in sizes:
        chosen = np.arange(n) if used == n else np.sort(order[:used])
        if len(np.unique(labels[chosen])) == len(np.unique(labels)) or used == most:
            result = _verdict(whole, labels, chosen, names)
        if not isinstance(result, Absent) and result.kind == "overlap":
            break
    return result, used


def _most_rows(whole: Rows, classes: int) -> int:
    """Return the size of the largest sample within the work limit."""
    return int(min(whole.n_rows, VERDICT_WORK / (_lanes(classes) * _numbers(whole))))


def _lanes(classes: int) -> int:
    """Return how many scores are learned together."""
    return 1 if classes <= 2 else classes


def _numbers(whole: Rows) -> float:
    """Return the mean number of stored values per row."""
    return max(1.0, whole.values.size / whole.n_rows)


def _verdict(
    whole: Rows, labels: NDArray[Any], chosen: NDArray[Any], names: Sequence[str] | None
) -> Verdict | Absent:
    from separable.geometry.separability import separability

    if len(np.unique(labels[chosen])) < 2:
        return Absent("A random sample of the rows has one class.")
    part = whole
    if len(chosen) < whole.n_rows:
        part, names = _filled_columns(whole.take(chosen), names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report has the verdict
        result: Any = separability(part.to_matrix(), labels[chosen], feature_names=names)
    verdict: Verdict = result
    return verdict


def _filled_columns(part: Rows, names: Sequence[str] | None) -> tuple[Rows, Sequence[str] | None]:
    """Return sparse rows without empty columns, which only cost time."""
    if part.indices is None:
        return part, names
    used, new_index = np.unique(part.indices, return_inverse=True)
    rows = Rows(part.values, len(used), new_index.astype(part.indices.dtype), part.indptr)
    return rows, None if names is None else [names[j] for j in used.tolist()]


def _separability_note(verdict: Verdict, used: int, n: int, d: int, of_what: str) -> str:
    columns = f"{d} number{'s' * (d != 1)} each"
    if used == n:
        return f"All {n} rows{of_what} as encoded by the model, {columns}."
    sentence = (
        f"A random sample of {used} of the {n} rows{of_what} as encoded by the model, {columns}"
    )
    if verdict.separable is False:
        return f"{sentence}. A sample is enough: if it is not separable, neither are all rows."
    return f"{sentence}, to limit the time. All rows together may be harder to separate."


def learning_curve_of(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    is_classifier: bool,
    weight: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
    seed: int = 0,
    how: str = "",
) -> tuple[LearningCurve | Absent, str]:
    """Return a learning curve within a work limit, and a description of its rows.

    Parameters
    ----------
    estimator : estimator
        Unfitted, with its parameters.
    X : array or sparse matrix, shape (n, d)
    y : ndarray, shape (n,)
    is_classifier : bool
        Whether y holds classes; samples are then stratified.
    weight : ndarray, shape (n,), optional
        Weights of the rows, in training and in scores.
    groups : ndarray, shape (n,), optional
        Rows of one group are held out together.
    seed : int, default 0
    how : str
        After the number of rows: how they were encoded.

    Returns
    -------
    curve : LearningCurve or Absent
    about : str
    """
    given = _Given(estimator, X, y, is_classifier, weight, groups, seed)
    n = len(y)
    try:
        used = given.affordable_rows()
        if used < min(n, FEWEST_ROWS) or given.is_slow(min(used, FIRST_SAMPLE)):
            return Absent(TOO_LONG), ""
        curve = given.curve(used)
    except Exception as error:  # too few rows, or a failed fit
        reason = " ".join(str(error).split()) or type(error).__name__
        return Absent(f"There is no learning curve of these rows. {reason}"), ""
    if len(curve.sizes) < SIZES:
        return Absent(f"{n} rows are too few for a learning curve."), ""
    return curve, _curve_note(used, n, how, groups)


def _round(rows: float) -> int:
    """Return a round number of rows, at most this many."""
    unit = int(10 ** math.floor(math.log10(max(rows, 1.0))))
    return next(k for k in (7, 5, 3, 2, 1) if k * unit <= max(rows, 1.0)) * unit


def _curve_note(used: int, n: int, how: str, groups: Any) -> str:
    rows = f"{n} rows{how}."
    if used < n:
        rows = f"A random sample of {used} of {n} rows{how}, to limit the time."
    apart = ", keeping groups together" if groups is not None else ""
    return (
        f"{rows} Each repetition holds out 30 % of them at random{apart} and trains on growing "
        "parts of the rest."
    )


class _Given:
    """The data of a learning curve, from which a random sample can be drawn."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        is_classifier: bool,
        weight: NDArray[np.float64] | None,
        groups: NDArray[Any] | None,
        seed: int,
    ) -> None:
        self.estimator, self.X, self.y, self.is_classifier = estimator, X, y, is_classifier
        self.weight, self.groups, self.seed = weight, groups, seed
        self.repeats, self.n_sizes = PLANS[0]

    def affordable_rows(self) -> int:
        """Choose repetitions and sizes, and return the rows that fit the work limit."""
        n = len(self.y)
        lanes = _lanes(len(np.unique(self.y))) if self.is_classifier else 1
        values = self.X.nnz if hasattr(self.X, "nnz") else self.X.size
        work = TOTAL * 0.7 * lanes * max(1.0, values / n)  # of one repetition, per row
        for self.repeats, self.n_sizes in PLANS:
            rows = CURVE_WORK / (self.repeats * work)
            if rows >= min(n, ENOUGH_ROWS):
                break
        return n if rows >= n else _round(rows)

    def is_slow(self, rows: int) -> bool:
        """Return whether a fit to few rows takes far longer than the limit is made for."""
        part = self._part(rows)
        given = {} if self.weight is None else {"sample_weight": self.weight[part]}
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy.deepcopy(self.estimator).fit(self.X[part], self.y[part], **given)
        return time.process_time() - begun > SLOW_FIT

    def curve(self, rows: int) -> LearningCurve:
        """Return the curve of a sample of this size."""
        from separable.select.curves.learning import learning_curve

        part = self._part(rows)
        weight = None if self.weight is None else self.weight[part]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about small sizes
            return learning_curve(
                self.estimator,
                self.X[part],
                self.y[part],
                sizes=self._sizes(part),
                repeats=self.repeats,
                random_state=self.seed,
                sample_weight=weight,
                score_weight=weight,
                groups=None if self.groups is None else self.groups[part],
            )

    def _sizes(self, part: NDArray[Any]) -> Any:
        """Return the training sizes as fractions; None: the default of a learning curve."""
        if self.n_sizes is None:
            return None
        least = 0.0
        if self.is_classifier:  # about three rows per class
            least = 3 * len(np.unique(self.y[part])) / (0.7 * len(part))
        return np.geomspace(min(0.5, max(SMALLEST, least)), 1.0, self.n_sizes)

    def _part(self, rows: int) -> NDArray[Any]:
        n = len(self.y)
        if rows == n:
            return np.arange(n)
        if self.is_classifier:
            return stratified_split(self.y, 1 - rows / n, self.seed)[0]
        return np.sort(np.random.default_rng(self.seed).permutation(n)[:rows])
