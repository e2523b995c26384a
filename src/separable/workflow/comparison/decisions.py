"""Decisions with costs: the threshold of two classes, chosen out of fold, and class weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import TableError, list_names
from separable.errors import Message, Option, OptionError
from separable.model.predict.decision import Costs
from separable.workflow.columns.role_columns import class_named
from separable.workflow.comparison.probability_calibration import out_of_fold, sigmoids_of
from separable.workflow.learners import LEARNERS, takes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.predict.decision import Decision
    from separable.typing import Floats
    from separable.workflow.holdout_splits import Folds
    from separable.workflow.options import ProblemOptions
    from separable.workflow.training_problem import Problem

__all__ = [
    "DecisionRequest",
    "class_weight_of",
    "coded_class_weight",
    "left_out_note",
]

#: Keys of costs that name the kind of mistake instead of the class.
MISTAKES = ("fp", "fn")


def _given(options: ProblemOptions) -> list[Option]:
    """Return the options that ask for a decision threshold."""
    both = {"cost": options.cost, "threshold": options.threshold}
    return [Option(name, value) for name, value in both.items() if value is not None]


# --- class weights ---


def class_weight_of(problem: Problem) -> dict[str, Any]:
    """Return the parameter ``class_weight`` of learners, by label; empty if it is not given."""
    options, given = problem.options, problem.options.class_weight
    if given is None:
        return {}
    option = Option("class_weight", given)
    if problem.task == "regression":
        raise OptionError(option, ": the task is regression, which has no classes. Leave it out.")
    if "class_weight" in options.settings:
        raise OptionError(
            option, " and ", Option("set", {"class_weight": ...}), " say the same. Give one."
        )
    for name in options.models:
        if not takes(name, "class_weight"):
            able = [each for each in LEARNERS if takes(each, "class_weight")]
            raise OptionError(option, f": {name} has no class weights. {list_names(able, 10)} do.")
    if isinstance(given, str):
        return {"class_weight": given}
    classes = np.unique(problem.target.values)
    weights = {class_named(classes, name, option): weight for name, weight in given.items()}
    if not all(weights.get(label, 1) > 0 for label in classes.tolist()):
        raise OptionError(option, ": a class of weight 0 is never learned. Give a weight above 0.")
    return {"class_weight": weights}


def coded_class_weight(given: Mapping[str, Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Return the class weights by index of the class, as the comparison has classes."""
    weights = given.get("class_weight")
    if not isinstance(weights, Mapping):
        return {}
    labels = classes.tolist()
    return {"class_weight": {labels.index(label): weight for label, weight in weights.items()}}


def left_out_note(names: list[str]) -> Message | None:
    """Return a note on learners that are not compared, as they have no class weights."""
    if not names:
        return None
    return Message(
        f"{', '.join(names)}: not compared, because class weights are given (",
        Option("class_weight"),
        ") and they have none.",
    )


# --- the threshold ---


@dataclass(frozen=True)
class DecisionRequest:
    """The requested costs and threshold of two classes.

    Parameters
    ----------
    classes : ndarray, shape (2,)
    positive : {0, 1}
        Index of the positive class.
    costs : Costs or None
    threshold : float, str or None
        A probability, a metric to maximize, or None: the least cost.
    """

    classes: NDArray[Any]
    positive: int
    costs: Costs | None
    threshold: float | str | None

    @classmethod
    def of(cls, problem: Problem, positive: Any) -> DecisionRequest | None:
        """Return the request of the options, or None; refuse what cannot be done."""
        options = problem.options
        for option in _given(options):
            _refuse(problem, option)
        if options.cost is None and options.threshold is None:
            return None
        classes = np.unique(problem.target.values)
        index = classes.tolist().index(positive)
        costs = None if options.cost is None else _costs(options.cost, classes, index)
        return cls(classes, index, costs, options.threshold)

    def decide(
        self,
        estimator: Any,
        X: Any,
        codes: NDArray[Any],
        folds: Folds,
        weight: Floats | None,
        calibration: Floats | None,
    ) -> tuple[Decision, Floats | None]:
        """Return the decision, chosen on out-of-fold probabilities, and the calibration.

        Parameters
        ----------
        estimator : estimator
            With the chosen parameters.
        X, codes : array-like
            The compared rows and the indices of their classes.
        folds : list of (train, test)
        weight : ndarray or None
            Sample weights.
        calibration : ndarray, shape (1, 2), or None
            Of a learner without probabilities, if it is known.
        """
        from separable.select.decision_threshold import OutOfFold, decision_of

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = out_of_fold(estimator, [{}], X, codes, folds, np.arange(2), weight)[0]
        rows = np.concatenate([test for _, test in folds])
        weights = np.ones(len(rows)) if weight is None else weight[rows]
        if all(part.probabilities is not None for part in parts):
            second = np.concatenate([part.probabilities[:, 1] for part in parts])  # type: ignore[index]
        else:
            second, calibration = _calibrated_second(parts, codes[rows], weights, calibration)
        ends = np.cumsum([0, *(len(test) for _, test in folds)])
        data = OutOfFold(
            second if self.positive == 1 else 1.0 - second,
            codes[rows] == self.positive,
            weights,
            [np.arange(*pair) for pair in pairwise(ends)],
            closed=self.positive == 0,
        )
        return decision_of(self.positive, data, self.costs, self.threshold), calibration

    def without_folds(self, estimator: Any, rows: int) -> Decision:
        """Return the decision where there are too few rows for folds."""
        from separable.select.decision_threshold import decision_of

        if isinstance(self.threshold, float) and hasattr(estimator, "predict_proba"):
            return decision_of(self.positive, None, self.costs, self.threshold)
        raise TableError(
            f"{rows} rows are too few for cross-validation, so a threshold cannot be chosen. Give "
            "a learner with probabilities and a number: ",
            Option("model", "logistic-regression"),
            ", ",
            Option("threshold", 0.2),
            ".",
        )


def _calibrated_second(
    parts: list[Any], codes: NDArray[Any], weight: Floats, calibration: Floats | None
) -> tuple[Floats, Floats]:
    """Return calibrated probabilities of the second class, and the calibration."""
    from separable.model.predict.probability import calibrated, sigmoid
    from separable.workflow.comparison.probability_calibration import finite_scores

    scores = np.concatenate([finite_scores(part.scores) for part in parts])
    pairs = sigmoids_of(scores, codes, weight) if calibration is None else calibration
    return sigmoid(calibrated(scores, pairs)[:, 0]), pairs


def _refuse(problem: Problem, option: Option) -> None:
    """Refuse a decision threshold for regression, many classes and learners that vote."""
    if problem.task == "regression":
        raise OptionError(option, ": the task is regression, which has no classes. Leave it out.")
    classes = np.unique(problem.target.values)
    if len(classes) != 2:
        raise OptionError(
            option,
            f": a threshold needs two classes, and {problem.options.target!r} has {len(classes)} "
            f"({list_names([str(each) for each in classes[:10].tolist()], 5)}). To weigh classes, "
            "use ",
            Option("class_weight"),
            ".",
        )
    for name in problem.options.models:
        if not LEARNERS[name].has_scores:
            raise OptionError(
                option,
                f": {name} gives neither probabilities nor scores. Name another learner, such as "
                "logistic-regression.",
            )


def _costs(given: Mapping[str, float], classes: NDArray[Any], positive: int) -> Costs:
    """Return the costs, given by kind of mistake or by the class that is mistaken."""
    if set(given) == set(MISTAKES):
        return Costs(given["fp"], given["fn"])
    option = Option("cost", dict(given))
    by_class = {class_named(classes, name, option): cost for name, cost in given.items()}
    labels = classes.tolist()
    if len(by_class) != 2:
        raise OptionError(option, ": give one cost for each of the two classes.")
    return Costs(by_class[labels[1 - positive]], by_class[labels[positive]])
