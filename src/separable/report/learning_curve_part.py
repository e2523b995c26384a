"""The learning curve of a report, on as many rows as its time limit allows."""

from __future__ import annotations

import math
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.split import stratified_split
from separable.report.contents import Absent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.select.curves.learning_results import LearningCurve

__all__ = ["learning_curve_of"]

#: Rows of a first curve, which measures the cost per row.
FIRST = 500

#: Repetitions and sizes: the first plan that fits the time limit is used.
PLANS: tuple[tuple[int, int | None], ...] = ((5, None), (3, 5), (2, 4))
#: Number of sizes by default, and the smallest fraction of rows if a plan gives the number.
USUAL_SIZES, SMALLEST = 9, 0.05

TOO_LONG = "It would take too long: each fit of this learner to these columns is slow."

#: The time of a fit grows at most with this power of the rows.
POWER = 1.25

#: A curve of fewer sizes says nothing.
SIZES = 3


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
        Not fitted, with all its parameters.
    X : array or sparse matrix, shape (n, d)
    y : ndarray, shape (n,)
    seconds : float, default 5
        Of more rows than can be learned from in this time a random part is taken.
    is_classifier : bool
        Whether y holds classes, which a part has in proportion.
    weight : ndarray, shape (n,), optional
        Of the rows, in learning and in figures.
    groups : ndarray, shape (n,), optional
        Rows of one group are held out together.
    seed : int, default 0
    how : str
        Behind the number of rows: how they were encoded.

    Returns
    -------
    curve : LearningCurve or Absent
    about : str
    """
    given = _Given(estimator, X, y, is_classifier, weight, groups, seed)
    n = len(y)
    try:
        if not given.planned(min(FIRST, n), seconds):
            return Absent(TOO_LONG), ""
        curve, used = _grown(given, n, seconds)
    except Exception as error:  # of rows that are too few, or of a fit that fails on some
        reason = " ".join(str(error).split()) or type(error).__name__
        return Absent(f"There is no learning curve of these rows. {reason}"), ""
    if len(curve.sizes) < SIZES:
        return Absent(f"{n} rows are too few for a learning curve."), ""
    return curve, _about(used, n, how, groups)


def _grown(given: _Given, n: int, seconds: float) -> tuple[LearningCurve, int]:
    """Return the curve of as many rows as there is time for, and their number."""
    over = time.monotonic() + seconds
    used, larger = 0, min(FIRST, n)
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


def _about(used: int, n: int, how: str, groups: Any) -> str:
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
        """Choose repetitions and sizes by the time of one fit; False: there is time for none."""
        from sklearn.base import clone

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
            warnings.simplefilter("ignore")  # of small sizes: what matters of the model is told
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
        """Return shares of the rows to learn from; None: as a learning curve chooses them."""
        if self.n_sizes is None:
            return None
        least = 0.0
        if self.is_classifier:  # three of each class, roughly
            least = 3 * len(np.unique(self.y[part])) / (0.7 * len(part))
        return np.geomspace(min(0.5, max(SMALLEST, least)), 1.0, self.n_sizes)

    def _part(self, rows: int) -> NDArray[Any]:
        n = len(self.y)
        if rows == n:
            return np.arange(n)
        if self.is_classifier:
            return stratified_split(self.y, 1 - rows / n, self.seed)[0]
        return np.sort(np.random.default_rng(self.seed).permutation(n)[:rows])
