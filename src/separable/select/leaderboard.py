"""Leaderboard: the scores of several learners on the same folds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.best_candidate import standard_errors
from separable.model.words import lined_up, shown
from separable.select.results import SIGNIFICANCE, p_value, shown_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from separable.typing import Floats


__all__ = ["Leaderboard", "Standing"]

#: Maximum number of characters of a failure in the table.
MAX_REASON_LENGTH = 60
#: Relative rounding error allowed in comparisons with a standard error.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Standing:
    """Scores of one learner.

    Parameters
    ----------
    name : str
    estimator : estimator
        Not fitted, with the best parameters.
    params : mapping of str to object
        The best parameters of its grid.
    scores : ndarray, shape (folds,), or None
        Scores with these parameters, one per fold; None if the learner failed.
    how : str
        "lanes", "sums", "refit", or "mixed" if folds differ.
    seconds : float
        Time of all its fits and scores.
    fit_seconds : float
        Time of one fit with these parameters, averaged over the folds; the time of fits that ran
        together is divided equally.
    tried : tuple of mapping
        All candidates of the grid.
    tried_scores : ndarray, shape (folds, tried), or None
    failed : str or None
        The error of a learner without scores.
    warnings : tuple of str
        Warnings of its fits.
    difference, difference_error : float
        Its mean minus the best mean, and the standard error of the paired differences by fold.
    test_per_train : float
        Test rows over training rows, averaged over the folds; NaN: as in k folds.
    p_value : float
        P-value of the difference to the best, by the corrected resampled t-test of Nadeau and
        Bengio (2003); NaN for the best itself and for one fold.
    choice_scores : ndarray, shape (folds, tried), or None
        Scores that selected the parameters, if they differ from ``tried_scores``.
    converged : bool
        False: some of its fits ended at their limit of passes.
    """

    name: str
    estimator: Any
    params: Mapping[str, Any] = field(default_factory=dict)
    scores: Floats | None = None
    how: str = ""
    seconds: float = 0.0
    fit_seconds: float = math.nan
    tried: tuple[Mapping[str, Any], ...] = ()
    tried_scores: Floats | None = None
    failed: str | None = None
    warnings: tuple[str, ...] = ()
    difference: float = math.nan
    difference_error: float = math.nan
    test_per_train: float = math.nan
    p_value: float = math.nan
    choice_scores: Floats | None = None
    converged: bool = True

    @property
    def differs(self) -> bool | None:
        """Whether the difference to the best is significant at 5 %; None: unknown.

        Folds share training rows, so the variance of a mean over them is larger than its standard
        error suggests; the test corrects for that. At this level one in twenty learners that are as
        good as the best is expected to appear different.
        """
        return None if math.isnan(self.p_value) else self.p_value < SIGNIFICANCE

    @property
    def mean(self) -> float:
        """Mean of the scores; NaN if the learner failed."""
        return math.nan if self.scores is None else float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; NaN for one fold."""
        return math.nan if self.scores is None else float(standard_errors(self.scores[:, None])[0])

    def to_dict(self) -> dict[str, Any]:
        """Return it as lists, numbers and text; NaN is None."""
        return {
            "learner": self.name,
            "params": dict(self.params),
            "mean": _known(self.mean),
            "standard_error": _known(self.standard_error),
            "difference": _known(self.difference),
            "difference_error": _known(self.difference_error),
            "p_value": _known(self.p_value),
            "differs": self.differs,
            "scores": None if self.scores is None else self.scores.tolist(),
            "how": self.how,
            "seconds": self.seconds,
            "fit_seconds": _known(self.fit_seconds),
            "failed": self.failed,
            "converged": self.converged,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """Learners from best to worst on the same folds; failed ones are last.

    Parameters
    ----------
    rows : tuple of Standing
    metric : str
        Name of the score.
    greater_is_better : bool
    """

    rows: tuple[Standing, ...]
    metric: str
    greater_is_better: bool = True

    @classmethod
    def of(
        cls, standings: Iterable[Standing], metric: str, greater_is_better: bool = True
    ) -> Leaderboard:
        """Rank learners; ties keep the given order.

        Parameters
        ----------
        standings : iterable of Standing
            From the same folds.
        metric : str
        greater_is_better : bool, default True

        Returns
        -------
        Leaderboard
        """
        given = list(standings)
        validated = [each for each in given if each.scores is not None]
        failed = [each for each in given if each.scores is None]
        if not validated:
            reasons = "; ".join(f"{each.name}: {each.failed}" for each in failed)
            raise ValueError(f"No learner could be validated. {reasons}")
        sign = -1.0 if greater_is_better else 1.0
        validated.sort(key=lambda each: sign * each.mean)
        best = validated[0]
        ranked = [_beside(each, best) for each in validated]
        return cls((*ranked, *failed), metric, greater_is_better)

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Standing:
        for each in self.rows:
            if each.name == name:
                return each
        raise KeyError(name)

    @property
    def best(self) -> Standing:
        """The best learner."""
        return self.rows[0]

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        assert self.best.scores is not None
        return len(self.best.scores)

    def preferred(self, order: Sequence[str]) -> Standing:
        """Return the first learner in an order of preference that is as good as the best.

        Parameters
        ----------
        order : sequence of str
            Names, the preferred first.

        Returns
        -------
        Standing
        """
        alike = {each.name: each for each in [self.best, *self.as_good()]}
        return next((alike[name] for name in order if name in alike), self.best)

    def as_good(self) -> list[Standing]:
        """Return the other learners within one standard error of the best.

        The standard error of the paired differences and that of the best score: a learner that
        fails in a single fold has a large error of its own, which is no excuse.
        """
        own = self.best.standard_error
        own = own if math.isfinite(own) else math.inf
        return [
            each
            for each in self.rows[1:]
            if each.failed is None
            and abs(each.difference) <= min(each.difference_error, own) * (1 + ROUNDING)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        return {
            "metric": self.metric,
            "greater_is_better": self.greater_is_better,
            "folds": self.n_folds,
            "learners": [each.to_dict() for each in self.rows],
        }

    def to_text(self) -> str:
        """Return the leaderboard as a table."""
        lines = [
            [
                "rank", "learner", "parameters", "mean", "std. error", "to the best",
                "std. error", "significant", "fit", "seconds",
            ]
        ]  # fmt: skip
        failures = []
        for rank, each in enumerate(self.rows, 1):
            if each.failed is not None:
                failures.append(f"{each.name} failed: {shown(each.failed, MAX_REASON_LENGTH)}")
                continue
            figures = [each.mean, each.standard_error, *_gap(each, self.best)]
            params = ", ".join(f"{name}={value}" for name, value in each.params.items())
            noise = {True: "yes", False: "no", None: ""}[each.differs]
            times = [_short(each.fit_seconds), f"{each.seconds:.2f}"]
            lines.append([str(rank), each.name, params, *map(shown_number, figures), noise, *times])
        title = f"{self.metric}, mean of {self.n_folds} fold{'s' * (self.n_folds > 1)}"
        return "\n".join([title, lined_up(lines, left=3), *failures])

    def __repr__(self) -> str:
        return self.to_text()


def _beside(standing: Standing, best: Standing) -> Standing:
    assert standing.scores is not None
    assert best.scores is not None
    if standing is best:
        return replace(standing, difference=0.0, difference_error=0.0)
    apart = standing.scores - best.scores
    ratio, k = standing.test_per_train, len(apart)
    if math.isnan(ratio):
        ratio = 1.0 / max(1, k - 1)
    return replace(
        standing,
        difference=float(apart.mean()),
        difference_error=float(standard_errors(apart[:, None])[0]),
        p_value=p_value(apart, ratio),
    )


def _gap(standing: Standing, best: Standing) -> tuple[float, float]:
    if standing is best:
        return math.nan, math.nan
    return standing.difference, standing.difference_error


def _short(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{seconds:.2g}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
