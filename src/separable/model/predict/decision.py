"""Decision rule of a two-class model: a threshold on the probability of the positive class.

By decision theory (Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001) the class of
the least expected cost follows from the probability and one threshold. Probabilities and scores do
not depend on it; only predicted classes do.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = [
    "GIVEN",
    "LEAST_COST",
    "THRESHOLD_METRICS",
    "Costs",
    "Decision",
    "check_decision",
    "decision_text",
    "score_threshold",
]

#: How a threshold was chosen: given by the user, or the least cost; else by a metric.
GIVEN, LEAST_COST = "given", "cost"

#: Metrics that a threshold can maximize: those of labels that are not best at an end.
THRESHOLD_METRICS = ("accuracy", "balanced_accuracy", "f1", "mcc")


@dataclass(frozen=True)
class Costs:
    """Costs of the two kinds of mistakes; a correct prediction costs nothing.

    Parameters
    ----------
    false_positive : float
        Of predicting the positive class for a row of the other.
    false_negative : float
        Of predicting the other class for a row of the positive one.
    """

    false_positive: float
    false_negative: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not _is_number(value) or not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a finite number >= 0. Got {value!r:.80}.")
            object.__setattr__(self, name, float(value))
        if not self.false_positive + self.false_negative > 0:
            raise ValueError("The costs are both 0, so every prediction is as good as any other.")

    @property
    def threshold(self) -> float:
        """The best threshold for probabilities that are exactly right."""
        return self.false_positive / (self.false_positive + self.false_negative)


@dataclass(frozen=True)
class Decision:
    """A threshold on the probability of the positive class, and what is known of it.

    Parameters
    ----------
    positive : {0, 1}
        Index of the positive class.
    threshold : float
        Between 0 and 1: above it the positive class is predicted.
    chosen_by : str, default "given"
        "given", "cost" (least cost) or the metric that it maximizes.
    costs : Costs, optional
    expected : float, optional
        Cross-validated mean cost of a row; without costs the metric. The threshold of each fold is
        chosen on the other folds.
    standard_error : float, optional
        Of ``expected`` over the rows, if there are costs.
    at_half : float, optional
        The same figure at the threshold 0.5.
    rows : int, default 0
        The number of rows with out-of-fold predictions.
    """

    positive: int
    threshold: float
    chosen_by: str = GIVEN
    costs: Costs | None = None
    expected: float | None = None
    standard_error: float | None = None
    at_half: float | None = None
    rows: int = 0

    def __post_init__(self) -> None:
        if type(self.positive) is not int or self.positive not in (0, 1):
            raise ValueError(
                f"positive must be 0 or 1, the index of a class. Got {self.positive!r:.80}."
            )
        if not _is_number(self.threshold) or not 0 < self.threshold < 1:
            raise ValueError(
                f"threshold must be a number between 0 and 1. Got {self.threshold!r:.80}."
            )
        if self.chosen_by not in (known := (GIVEN, LEAST_COST, *THRESHOLD_METRICS)):
            raise ValueError(
                f"chosen_by must be one of {', '.join(known)}. Got {self.chosen_by!r:.80}."
            )
        if type(self.rows) is not int or self.rows < 0:
            raise ValueError(f"rows must be an int >= 0. Got {self.rows!r:.80}.")
        for name in ("threshold", "expected", "standard_error", "at_half"):
            value = getattr(self, name)
            if value is not None and (not _is_number(value) or not math.isfinite(value)):
                raise ValueError(f"{name} must be a finite number or None. Got {value!r:.80}.")
            object.__setattr__(self, name, None if value is None else float(value))

    @property
    def log_odds(self) -> float:
        """The log-odds of the second class above which it is predicted."""
        odds = math.log(self.threshold) - math.log1p(-self.threshold)
        return odds if self.positive == 1 else -odds

    def cost_of_rows(self, y_true: Any, predicted: Any) -> Floats:
        """Return the cost of each row from the indices of its true and predicted class."""
        import numpy as np  # the command line reads options without it

        assert self.costs is not None
        is_positive, says_positive = y_true == self.positive, predicted == self.positive
        cost: Floats = np.where(says_positive & ~is_positive, self.costs.false_positive, 0.0)
        return np.where(is_positive & ~says_positive, self.costs.false_negative, cost)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_decision(model: LinearModel) -> None:
    """Refuse a decision rule that the model cannot apply."""
    if model.decision is None:
        return
    if not isinstance(model.decision, Decision):
        raise TypeError(f"decision must be a Decision or None. Got {model.decision!r:.80}.")
    n_classes = 0 if model.classes is None else len(model.classes)
    if n_classes != 2:
        raise ValueError(f"A decision threshold needs two classes. The model has {n_classes}.")
    if model.link == "score" and model.calibration is None:
        raise ValueError(
            "A decision threshold needs probabilities, and the scores of this model are none. Give "
            "a calibration too."
        )


def decision_text(decision: Decision, classes: Any) -> str:
    """Return the rule in words, with its expected cost.

    Examples
    --------
    >>> rule = Decision(1, 0.0476, "cost", Costs(1, 20), 0.41, 0.02, 0.6, rows=900)
    >>> print(decision_text(rule, ["no", "yes"]))
    yes above probability 0.0476, least cost (fp 1, fn 20): 0.41 +- 0.02 a row, 0.6 at 0.5
    """
    from separable.model.words import number, shown

    costs, value, by = decision.costs, decision.expected, decision.chosen_by
    rule = f"{shown(classes[decision.positive], 24)} above probability {decision.threshold:.3g}, "
    rule += {GIVEN: "as given", LEAST_COST: "least"}.get(by, f"largest {by}")
    if value is None or decision.at_half is None:
        return rule
    if costs is not None:
        rule += " " if by == LEAST_COST else "; "
        rule += f"cost (fp {number(costs.false_positive)}, fn {number(costs.false_negative)})"
    error = "" if decision.standard_error is None else f" +- {decision.standard_error:.2g}"
    unit = "" if costs is None else " a row"
    return f"{rule}: {value:.3g}{error}{unit}, {decision.at_half:.3g} at 0.5"


def score_threshold(model: LinearModel) -> float:
    """Return the score above which the second of two classes is predicted."""
    if model.decision is None:
        return 0.0
    log_odds = model.decision.log_odds
    if model.calibration is None:
        return log_odds
    slope, offset = model.calibration[0].tolist()
    never = sys.float_info.max
    if slope == 0.0:  # all rows have the same probability
        return -never if offset > log_odds else never
    return min(max(float((log_odds - offset) / slope), -never), never)
