"""Choice of a decision threshold from out-of-fold probabilities of two classes.

Between two neighbouring probabilities every threshold makes the same predictions, so one threshold
for each gap is enough: sorted once, all of them are evaluated by cumulative sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.predict.decision import GIVEN, LEAST_COST, Costs, Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.typing import Floats, Indices

__all__ = ["OutOfFold", "decision_of"]

#: Relative rounding error of sums, within which two thresholds are equally good.
ROUNDING = 1e-12

#: Thresholds lie strictly between 0 and 1.
SMALLEST, LARGEST = float(np.finfo(np.float64).tiny), float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold probabilities of the positive class.

    Parameters
    ----------
    probability : ndarray of float64, shape (n,)
    is_positive : ndarray of bool, shape (n,)
    weight : ndarray of float64, shape (n,)
        Sample weights.
    folds : sequence of ndarray of int
        The rows of each fold.
    closed : bool, default False
        Whether a probability equal to the threshold is predicted positive: the first of two classes
        wins ties.
    """

    probability: Floats
    is_positive: NDArray[np.bool_]
    weight: Floats
    folds: Sequence[Indices]
    closed: bool = False

    def take(self, rows: Indices) -> OutOfFold:
        """Return some rows, as one fold."""
        parts = (self.probability[rows], self.is_positive[rows], self.weight[rows])
        return OutOfFold(*parts, [np.arange(len(rows))], self.closed)

    def predicted(self, threshold: float | Floats) -> NDArray[np.bool_]:
        """Return the rows that are predicted positive."""
        if self.closed:
            return np.asarray(self.probability >= threshold)
        return np.asarray(self.probability > threshold)


@dataclass(frozen=True)
class Objective:
    """A figure to maximize over the thresholds: the negative mean cost, or a metric."""

    costs: Costs | None
    metric: str | None = None

    def __call__(self, counts: _Counts) -> Any:
        """Return the figure of counts, larger is better."""
        if self.costs is not None and self.metric is None:
            total = counts.positives + counts.negatives
            fp, fn = self.costs.false_positive, self.costs.false_negative
            return -(fp * counts.false_positives + fn * counts.false_negatives) / total
        return FIGURES[str(self.metric)](counts)

    @property
    def middle(self) -> float:
        """The threshold that is preferred among equally good ones."""
        return 0.5 if self.costs is None or self.metric is not None else self.costs.threshold


@dataclass(frozen=True, eq=False)
class _Counts:
    """Weights of correct and wrong predictions, for one or for many thresholds."""

    true_positives: Any
    false_positives: Any
    positives: float
    negatives: float

    @property
    def false_negatives(self) -> Any:
        return self.positives - self.true_positives

    @property
    def true_negatives(self) -> Any:
        return self.negatives - self.false_positives

    @classmethod
    def of(cls, data: OutOfFold, predicted: NDArray[np.bool_]) -> _Counts:
        ours = np.where(data.is_positive, data.weight, 0.0)
        others = np.where(data.is_positive, 0.0, data.weight)
        true, false = float(ours[predicted].sum()), float(others[predicted].sum())
        return cls(true, false, float(ours.sum()), float(others.sum()))


def _ratio(part: Any, whole: Any) -> Any:
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _accuracy(n: _Counts) -> Any:
    return (n.true_positives + n.true_negatives) / (n.positives + n.negatives)


def _balanced_accuracy(n: _Counts) -> Any:
    return (_ratio(n.true_positives, n.positives) + _ratio(n.true_negatives, n.negatives)) / 2


def _f1(n: _Counts) -> Any:
    return _ratio(2 * n.true_positives, n.true_positives + n.false_positives + n.positives)


def _mcc(n: _Counts) -> Any:
    said = n.true_positives + n.false_positives
    unsaid = n.true_negatives + n.false_negatives
    product = n.true_positives * n.true_negatives - n.false_positives * n.false_negatives
    return _ratio(product, np.sqrt(n.positives * n.negatives * said * unsaid))


FIGURES = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1": _f1,
    "mcc": _mcc,
}


def _best_threshold(data: OutOfFold, objective: Objective) -> float:
    """Return the best threshold; of equally good ones the nearest to the middle."""
    order = np.argsort(data.probability, kind="stable")
    values = data.probability[order]
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # last row of each value
    weight, is_positive = data.weight[order], data.is_positive[order]
    below = [
        np.append(0.0, np.cumsum(np.where(side, weight, 0.0))[ends])
        for side in (is_positive, ~is_positive)
    ]
    ours, others = (float(side[-1]) for side in below)
    counts = _Counts(ours - below[0], others - below[1], ours, others)
    edges = np.concatenate([[0.0], values[ends], [1.0]])
    thresholds = np.clip((edges[1:] + edges[:-1]) / 2, SMALLEST, LARGEST)
    figures = np.asarray(objective(counts), dtype=np.float64)
    if not thresholds[0] < values[0]:  # probabilities of 0 and 1 are beyond every threshold
        figures[0] = -np.inf
    if not thresholds[-1] >= values[-1]:
        figures[-1] = -np.inf
    good = np.flatnonzero(figures >= figures.max() - ROUNDING * max(1.0, abs(figures.max())))
    return float(thresholds[good[np.abs(thresholds[good] - objective.middle).argmin()]])


def decision_of(
    positive: int,
    data: OutOfFold | None,
    costs: Costs | None = None,
    threshold: float | str | None = None,
) -> Decision:
    """Return the decision rule of two classes.

    Parameters
    ----------
    positive : {0, 1}
        Index of the positive class.
    data : OutOfFold or None
        None if there are none: the threshold has to be given.
    costs : Costs, optional
    threshold : float or str, optional
        A threshold; or one of `THRESHOLD_METRICS`, which is maximized. By default the cost is
        minimized.

    Returns
    -------
    Decision
        Of equally good thresholds the nearest to that of exact probabilities, fp / (fp + fn), or
        for a metric to 0.5. The expected cost or metric is cross-validated: the threshold of each
        fold is chosen on the other folds, if there are any.
    """
    metric = threshold if isinstance(threshold, str) else None
    by = metric or (GIVEN if threshold is not None else LEAST_COST)
    given = threshold if isinstance(threshold, (int, float)) else None
    if data is None:
        assert given is not None
        return Decision(positive, given, by, costs)
    objective = Objective(costs, metric)
    chosen = _best_threshold(data, objective) if given is None else float(given)
    if costs is None and metric is None:
        return Decision(positive, chosen, by, rows=len(data.weight))
    predicted = _cross_validated(data, objective, given)
    reports = Objective(costs, None if costs is not None else metric)
    sign = -1.0 if costs is not None else 1.0
    return Decision(
        positive,
        chosen,
        by,
        costs,
        expected=sign * float(reports(_Counts.of(data, predicted))),
        standard_error=None if costs is None else _standard_error(data, predicted, costs),
        at_half=sign * float(reports(_Counts.of(data, data.predicted(0.5)))),
        rows=len(data.weight),
    )


def _cross_validated(
    data: OutOfFold, objective: Objective, given: float | None
) -> NDArray[np.bool_]:
    """Return the predictions of each fold by the threshold of the other folds."""
    if given is not None:
        return data.predicted(given)
    if len(data.folds) < 2:
        return data.predicted(_best_threshold(data, objective))
    thresholds = np.empty(len(data.weight))
    for fold in data.folds:
        others = np.setdiff1d(np.arange(len(data.weight)), fold)
        thresholds[fold] = _best_threshold(data.take(others), objective)
    return data.predicted(thresholds)


def _standard_error(data: OutOfFold, predicted: NDArray[np.bool_], costs: Costs) -> float:
    """Return the standard error of the mean cost over the rows."""
    rule = Decision(1, 0.5, costs=costs)
    values = rule.cost_of_rows(data.is_positive.astype(np.int64), predicted.astype(np.int64))
    fractions = data.weight / data.weight.sum()
    return float(np.linalg.norm(fractions * (values - fractions @ values)))
