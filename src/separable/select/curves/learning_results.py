"""Results of a learning curve: scores by size, their means, and a forecast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._notebook import html_table
from separable.fitting.best_candidate import standard_errors
from separable.model.words import lined_up
from separable.select.curves.forecast import Measured, forecast_of, law_at
from separable.select.results import shown_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.select.curves.forecast import Forecast
    from separable.typing import Floats


__all__ = ["LearningCurve"]

#: Sizes of the default forecast, in multiples of the largest size.
FORECAST_MULTIPLES = (2, 4)
#: Largest number of rows.
MAX_ROWS = 2.0**62


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Performance on held-out rows by the number of training rows.

    Parameters
    ----------
    learner : str
        The class of the estimator.
    metric : str
        Name of the score: "1 - error rate", "MSE0 - MSE" or the name of a score.
    sizes : ndarray of int, shape (S,)
        Numbers of training rows, ascending.
    scores : ndarray, shape (S, repeats)
    how : tuple of str
        For each size "sums", "warm" or "stream" if the fit continued from the previous size,
        "refit" if the estimator was fitted to all its rows, "mixed" if repetitions differ.
    n_test : int
        Number of held-out rows, averaged over the repetitions.
    greater_is_better : bool
    baseline : float or None
        Performance of the best constant prediction: 1 - error rate of the most frequent class; 0
        for MSE0 - MSE; None with another ``scoring``.
    constant_errors : ndarray, shape (repeats,), or None
        Error of that prediction by repetition: its error rate, or MSE0.
    ceiling : float
        Upper bound on the performance; infinite if unknown.
    """

    learner: str
    metric: str
    sizes: NDArray[np.intp]
    scores: Floats
    how: tuple[str, ...]
    n_test: int
    greater_is_better: bool
    baseline: float | None
    constant_errors: Floats | None
    ceiling: float

    @property
    def repeats(self) -> int:
        """The number of repetitions."""
        return int(self.scores.shape[1])

    @property
    def mean(self) -> Floats:
        """The mean score of each size, (S,)."""
        mean: Floats = self.scores.mean(axis=1)
        return mean

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the means, s / sqrt(repeats); NaN for one repetition.

        Repetitions share rows, so the true error is larger; the forecast allows for that.
        """
        return standard_errors(self.scores.T)

    @cached_property
    def forecast(self) -> Forecast:
        """Forecast for two and four times the rows of the largest size."""
        return self.forecast_at([times * int(self.sizes[-1]) for times in FORECAST_MULTIPLES])

    def forecast_at(self, sizes: Any, *, level: float = 0.9) -> Forecast:
        """Return the forecast for other sizes.

        Parameters
        ----------
        sizes : int or sequence of int
            Numbers of training rows, at least the largest measured size.
        level : float, default 0.9
            Confidence level: the fraction of such intervals that contain the true value.

        Returns
        -------
        Forecast
        """
        requested = np.sort(_numbers(sizes))
        if not len(requested) or requested[0] < self.sizes[-1]:
            raise ValueError(
                f"A forecast starts at {self.sizes[-1]} rows, the largest measured size. Got "
                f"{sizes!r}; mean has the measured values, and curve_at values in between."
            )
        if not 0 < level < 1:
            raise ValueError(f"level must be above 0 and below 1. Got {level!r}.")
        return forecast_of(
            self._measured, np.rint(requested).astype(np.intp), level, self.metric, self._sign
        )

    def curve_at(self, sizes: Any) -> Floats:
        """Return the fitted power law, a - b n^-c, at any sizes.

        Parameters
        ----------
        sizes : int or sequence of int

        Returns
        -------
        ndarray
            One number per size; NaN if no law can be fitted.
        """
        requested = _numbers(sizes)
        if not (requested > 0).all():
            raise ValueError(f"sizes must be numbers of rows above 0. Got {sizes!r}.")
        return self._sign * law_at(self._measured, requested)

    @property
    def _sign(self) -> float:
        return 1.0 if self.greater_is_better else -1.0

    @property
    def _measured(self) -> Measured:
        return Measured(
            self.sizes.astype(np.float64),
            self._sign * self.scores,
            self._sign * self.ceiling if math.isfinite(self.ceiling) else math.inf,
            self.n_test / float(self.sizes[-1]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        errors = self.constant_errors
        return {
            "learner": self.learner,
            "metric": self.metric,
            "greater_is_better": self.greater_is_better,
            "sizes": self.sizes.tolist(),
            "scores": self.scores.tolist(),
            "mean": self.mean.tolist(),
            "standard_error": self.standard_error.tolist(),
            "how": list(self.how),
            "n_test": self.n_test,
            "baseline": self.baseline,
            "constant_errors": None if errors is None else errors.tolist(),
            "ceiling": self.ceiling,
            "forecast": self.forecast.to_dict(),
        }

    def to_text(self) -> str:
        """Return the curve as a table, with the forecast below it."""
        return "\n".join([self._title(), lined_up(self._table()), *self._notes()])

    def _title(self) -> str:
        times = f"{self.repeats} repetition{'s' * (self.repeats > 1)}"
        held = f"{self.n_test} row{'s' * (self.n_test > 1)}"
        return f"{self.learner}, {times}, {held} held out"

    def _table(self) -> list[list[str]]:
        table = [["rows", "by", self.metric, "std. error"]]
        for size, how, *figures in zip(
            self.sizes, self.how, self.mean, self.standard_error, strict=True
        ):
            table.append([str(size), how, *map(shown_number, figures)])
        return table

    def _notes(self) -> list[str]:
        best = self.baseline
        constant = [] if best is None else [f"Best constant prediction: {shown_number(best)}."]
        return [*constant, *self.forecast.to_text().splitlines()]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table(), self._notes())


def _numbers(sizes: Any) -> Floats:
    """Return numbers of rows as an array, checked."""
    given = np.atleast_1d(np.asarray(sizes))
    if given.ndim != 1 or given.dtype.kind not in "iuf" or not (np.abs(given) < MAX_ROWS).all():
        raise ValueError(f"sizes must be numbers of rows, one or a list of them. Got {sizes!r}.")
    return given.astype(np.float64)
