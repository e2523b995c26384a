"""Sections with a time limit: separability of the classes on a sample of rows, learning curve."""

from __future__ import annotations

import math
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, as_rows
from separable.data.split import stratified_split
from separable.report.contents import Absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.verdict import Verdict
    from separable.select.curves.learning_results import LearningCurve


__all__ = [
    "learning_curve_of",
    "separability_of",
]


#: Rows of the first sample, and the factor between samples. The first sample is smaller, but has
#: at least FEWEST rows, if classes times values exceed WORK.
FIRST_SAMPLE, TIMES = 1000, 2
FEWEST, WORK = 200, 2_000_000

#: Maximum classes x rows x columns of the smallest sample: more than two classes are compared in
#: pairs.
PAIRS = 1e8

#: Time limit in seconds for the next sample; work grows at worst with the square of the rows.
SECONDS = 5.0

#: With more rows and columns than BY_PASSES, separability is decided by passes over the rows;
#: with at most NUMBERS values these take a few seconds.
BY_PASSES, NUMBERS = 1500, 1_000_000

NUMBERS_PREDICTED = "The task is regression; separability is a property of classes."

#: Rows of a first curve, which measures the cost per row.
FIRST_ROWS = 500

#: Repetitions and sizes: the first plan that fits the time limit is used.
PLANS: tuple[tuple[int, int | None], ...] = ((5, None), (3, 5), (2, 4))
#: Number of sizes by default, and the smallest fraction of rows if a plan gives the number.
USUAL_SIZES, SMALLEST = 9, 0.05

TOO_LONG = "It would take too long: each fit of this learner to these columns is slow."

#: The time of a fit grows at most with this power of the rows.
POWER = 1.25

#: Minimum number of sizes of a curve.
SIZES = 3


def separability_of(
    rows: Any,
    labels: NDArray[Any],
    *,
    of_what: str = "",
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
    filled = min(d, FEWEST * _numbers(whole))
    if classes > 2 and classes * min(n, FEWEST) * filled > PAIRS:
        return Absent(
            f"{classes} classes with {d} columns would take too long here. Use "
            "separable.geometry.separability(X, y) in Python."
        ), ""
    names = None if feature_names is None or d > len(feature_names) else feature_names
    order = np.random.default_rng(seed).permutation(n)
    verdict, used = _verdict_in_time(whole, labels, order, names)
    if isinstance(verdict, Absent):
        return verdict, ""
    return verdict, _separability_note(verdict, used, n, d, of_what)


def _verdict_in_time(
    whole: Rows, labels: NDArray[Any], order: NDArray[np.int64], names: Sequence[str] | None
) -> tuple[Verdict | Absent, int]:
    """Decide growing samples until one overlaps, all rows are used or time is up."""
    n = whole.n_rows
    most = _most_rows(whole)
    used, expected = min(_first_rows(whole, len(np.unique(labels))), most), 0.0
    result: Verdict | Absent = Absent("No random sample of the rows had two classes.")
    start = time.monotonic()
    while True:
        begun = time.monotonic()
        chosen = np.arange(n) if used == n else np.sort(order[:used])
        if len(np.unique(labels[chosen])) == len(np.unique(labels)) or used == most:
            result = _verdict(whole, labels, chosen, names)
        seconds = time.monotonic() - begun
        larger = min(TIMES * used, most)
        expected = seconds * (larger / used) ** 2
        over = not isinstance(result, Absent) and result.kind == "overlap"
        if over or used == most or begun - start + seconds + expected > SECONDS:
            return result, used
        used = larger


def _first_rows(whole: Rows, classes: int) -> int:
    """Return the size of the first sample."""
    return int(min(FIRST_SAMPLE, max(FEWEST, WORK / (classes * _numbers(whole)))))


def _most_rows(whole: Rows) -> int:
    """Return the size of the largest sample that is fast enough."""
    n, d = whole.shape
    if min(n, d) <= BY_PASSES:
        return n
    return int(min(n, max(BY_PASSES, NUMBERS / _numbers(whole))))


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
    seconds: float = 5.0,
    is_classifier: bool,
    weight: NDArray[np.float64] | None = None,
    groups: NDArray[Any] | None = None,
    seed: int = 0,
    how: str = "",
) -> tuple[LearningCurve | Absent, str]:
    """Return a learning curve within a time limit, and a description of its rows.

    Parameters
    ----------
    estimator : estimator
        Unfitted, with its parameters.
    X : array or sparse matrix, shape (n, d)
    y : ndarray, shape (n,)
    seconds : float, default 5
        Time limit; if all rows take longer, a random sample is used.
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
        if not given.planned(min(FIRST_ROWS, n), seconds):
            return Absent(TOO_LONG), ""
        curve, used = _curve_in_time(given, n, seconds)
    except Exception as error:  # too few rows, or a failed fit
        reason = " ".join(str(error).split()) or type(error).__name__
        return Absent(f"There is no learning curve of these rows. {reason}"), ""
    if len(curve.sizes) < SIZES:
        return Absent(f"{n} rows are too few for a learning curve."), ""
    return curve, _curve_note(used, n, how, groups)


def _curve_in_time(given: _Given, n: int, seconds: float) -> tuple[LearningCurve, int]:
    """Return the curve of as many rows as the time allows, and their number."""
    over = time.monotonic() + seconds
    used, larger = 0, min(FIRST_ROWS, n)
    while larger > used:
        begun, used = time.monotonic(), larger
        curve = given.curve(used)
        now = time.monotonic()
        larger = _affordable(used, n, (over - now) / max(now - begun, 1e-3))
    return curve, used


def _affordable(used: int, n: int, times: float) -> int:
    """Return how many rows a fit can use in ``times`` the time of the rows used."""
    if times <= 1 or used == n:
        return used
    rows = used * times ** (1 / POWER)
    if rows >= n:
        return n
    # a round number, so that it seldom depends on the machine
    unit = int(10 ** math.floor(math.log10(rows)))
    return max(used, min(n, next(k for k in (7, 5, 3, 2, 1) if k * unit <= rows) * unit))


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

    def planned(self, rows: int, seconds: float) -> bool:
        """Choose repetitions and sizes by the time of one fit; False if no plan is fast enough."""
        from separable.estimator import clone

        part = self._part(rows)
        given = {} if self.weight is None else {"sample_weight": self.weight[part]}
        begun = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clone(self.estimator).fit(self.X[part], self.y[part], **given).predict(self.X[part])
        took = time.monotonic() - begun
        for repeats, n_sizes in PLANS:
            if repeats * (n_sizes or USUAL_SIZES) * took <= seconds:
                self.repeats, self.n_sizes = repeats, n_sizes
                return True
        return False

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
