"""Classification metrics with sample weights.

A class that is never predicted has precision 0. A class without rows has no recall and is excluded
from means over classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.model.metrics.metric_registry import UndefinedMetric

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.model.metrics.metric_case import ClassCase
    from separable.typing import Floats


__all__ = [
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "brier",
    "f1",
    "f1_macro",
    "f1s",
    "log_loss",
    "mcc",
    "precision",
    "precisions",
    "recall",
    "recalls",
    "roc_auc",
    "row_values",
]

#: Probabilities are clipped to [EPS, 1 - EPS] before taking the logarithm.
EPS = float(np.finfo(np.float64).eps)


def accuracy(case: ClassCase) -> float:
    """Return the fraction of correct predictions."""
    return float(case.right.sum() / case.weight.sum())


def balanced_accuracy(case: ClassCase) -> float:
    """Return the mean recall over the classes that occur."""
    return float(recalls(case)[case.present].mean())


def precision(case: ClassCase) -> float:
    """Return the precision of the positive class, or the mean over classes."""
    return _of_positive(case, precisions(case))


def recall(case: ClassCase) -> float:
    """Return the recall of the positive class, or the mean over classes."""
    if case.positive is not None and not case.support[case.positive]:
        raise UndefinedMetric(f"no row is {case.labels[case.positive]!r}")
    return _of_positive(case, recalls(case))


def f1(case: ClassCase) -> float:
    """Return the harmonic mean of precision and recall, or its mean over classes."""
    if case.positive is not None and not (case.support + case.answered)[case.positive]:
        raise UndefinedMetric(f"no row is or is predicted to be {case.labels[case.positive]!r}")
    return _of_positive(case, f1s(case))


def f1_macro(case: ClassCase) -> float:
    """Return the mean F1 over the classes that occur."""
    return float(f1s(case)[case.present].mean())


def mcc(case: ClassCase) -> float:
    """Return Matthews' correlation coefficient; 0 if labels or predictions are constant."""
    total, right = case.weight.sum(), case.right.sum()
    support, answered = case.support / total, case.answered / total
    spread = (1 - (support**2).sum()) * (1 - (answered**2).sum())
    if len(case.present) < 2 or np.count_nonzero(answered) < 2 or spread <= 0:
        return 0.0
    return float((right / total - support @ answered) / np.sqrt(spread))


def roc_auc(case: ClassCase) -> float:
    """Return the area under the ROC curve; ties count one half."""
    return _mean_of_classes(case, _area, both=True)


def average_precision(case: ClassCase) -> float:
    """Return the average precision: the sum of (R_i - R_i-1) P_i."""
    return _mean_of_classes(case, _average_precision, both=False)


def log_loss(case: ClassCase) -> float:
    """Return the mean of -log of the probability of the true class."""
    return _row_mean(case, row_values("log_loss", case))


def brier(case: ClassCase) -> float:
    """Return the Brier score, with one term per row for two classes."""
    return _row_mean(case, row_values("brier", case))


def row_values(name: str, case: ClassCase) -> Floats | None:
    """Return the per-row values of a metric that is a mean over rows, else None."""
    if name == "accuracy":
        right: Floats = (case.y_true == case.predicted).astype(np.float64)
        return right
    if name == "log_loss":
        losses: Floats = -np.log(np.clip(_true_class_probability(case), EPS, 1 - EPS))
        return losses
    if name == "brier":
        probabilities = _probabilities(case)
        halves = 0.5 if case.n_known == 2 else 1.0
        squares: Floats = halves * (
            (probabilities**2).sum(axis=1) + 1 - 2 * _true_class_probability(case)
        )
        return squares
    return None


def precisions(case: ClassCase) -> Floats:
    """Return the precision of each label, 0 if it is never predicted."""
    return _ratio(case.right, case.answered)


def recalls(case: ClassCase) -> Floats:
    """Return the recall of each label, 0 if it has no rows."""
    return _ratio(case.right, case.support)


def f1s(case: ClassCase) -> Floats:
    """Return the F1 score of each label, 0 if it has no rows and is never predicted."""
    return _ratio(2 * case.right, case.support + case.answered)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _row_mean(case: ClassCase, values: Floats | None) -> float:
    assert values is not None
    return float(case.weight @ values / case.weight.sum())


def _of_positive(case: ClassCase, values: Floats) -> float:
    return float(values[case.present].mean() if case.positive is None else values[case.positive])


def _probabilities(case: ClassCase) -> Floats:
    if case.probabilities is None:
        raise UndefinedMetric("the model gives no probabilities")
    return case.probabilities


def _true_class_probability(case: ClassCase) -> Floats:
    """Return the probability of each row's true class, 0 for an unknown class."""
    probabilities, known = _probabilities(case), case.y_true < case.n_known
    indices = np.where(known, case.y_true, 0)
    return np.where(known, probabilities[np.arange(len(probabilities)), indices], 0.0)


def _mean_of_classes(
    case: ClassCase, figure: Callable[[NDArray[np.bool_], Floats, Floats], float], *, both: bool
) -> float:
    """Return a metric of the positive class against the rest, or its mean over the classes."""
    indices = range(case.n_known) if case.positive is None else [case.positive]
    weight, figures = (
        case.weight / case.weight.max(),
        [],
    )  # equal weights become 1, so their sums are exact
    for index in indices:
        support = case.support[index]
        if support and not (both and len(case.present) == 1):
            scores = case.score_of(index)
            if scores is None:
                raise UndefinedMetric("the model gives no scores")
            figures.append(figure(case.y_true == index, scores, weight))
    if figures:
        return float(np.mean(figures))
    if both and len(case.present) == 1:
        raise UndefinedMetric(f"every row is {case.labels[case.present[0]]!r}")
    raise UndefinedMetric(f"no row is {case.labels[indices[0]]!r}")


def _groups(positive: NDArray[np.bool_], scores: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the weights of positive and negative rows at each score, in descending order."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    sides = (np.where(side, weight, 0.0)[order] for side in (positive, ~positive))
    ours, others = (np.add.reduceat(side, starts) for side in sides)
    return ours, others


def _area(positive: NDArray[np.bool_], scores: Floats, weight: Floats) -> float:
    ours, others = _groups(positive, scores, weight)
    below = others.sum() - np.cumsum(others) + others / 2
    return float(min(ours @ below / (ours.sum() * others.sum()), 1.0))


def _average_precision(positive: NDArray[np.bool_], scores: Floats, weight: Floats) -> float:
    ours, others = _groups(positive, scores, weight)
    true_positives = np.cumsum(ours)
    return float(
        min(
            ours @ (true_positives / (true_positives + np.cumsum(others))) / true_positives[-1], 1.0
        )
    )
