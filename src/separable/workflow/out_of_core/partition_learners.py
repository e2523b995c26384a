"""Learners over partitions: searches of folds x regularization in shared passes, and final fits.

Three kinds: lanes of a convex problem (logistic regression, linear SVM and SVR), sums of folds with
a closed form (ridge, least squares, LDA), and paths from these sums (lasso, elastic net).
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.gram.gram_sums import gram_problem
from separable.certified.partitioned.lane_problem import LaneProblem, column_sums
from separable.certified.partitioned.quasi_newton import PartitionedOptions, solve_lanes
from separable.certified.partitioned.sample_start import sample_start
from separable.certified.partitioned.summed_certificate import certify_lanes
from separable.certified.partitioned.summed_objective import LanePoint
from separable.certified.problem import TOGETHER, Lane
from separable.certified.solvers.options import SolverOptions
from separable.errors import InputError, Option, OptionError, by_spelling
from separable.losses.loss import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    epsilon_insensitive,
)
from separable.model.linear_model import LinearModel
from separable.moments.partitioned_sums import fold_moments
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.statistics.held_out import each_complement
from separable.workflow.learners import LEARNERS, new_learner
from separable.workflow.out_of_core.held_out_sums import FoldModels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.certified.duality.certificate import Certificate
    from separable.losses.loss import Loss
    from separable.model.linear_model import Link
    from separable.statistics.moments import Moments
    from separable.statistics.partitions import Partitions, TaskSums
    from separable.typing import Floats

__all__ = ["IN_MEMORY", "MAX_PRODUCTS", "PartitionData", "PartitionLearner", "partition_learner"]

#: The option that forces training in memory.
IN_MEMORY = by_spelling("out_of_core=False", "--in-memory")
#: Maximum columns for learners that need the products of all columns.
MAX_PRODUCTS = 2000
#: The relative gap of models of a search, and of a final fit.
SEARCH_TOL, FINAL_TOL = 1e-4, 1e-6


@dataclass
class PartitionData:
    """Encoded rows in partitions.

    Parameters
    ----------
    partitions : Partitions
        Whose targets are codes of the classes, or numbers.
    classes : ndarray or None
        The sorted labels; None for numbers.
    n_folds : int
        Rows have folds from 0; 0: none has.
    progress : callable, optional
        Called with the number of a pass and the relative gap so far.
    """

    partitions: Partitions
    classes: NDArray[Any] | None = None
    n_folds: int = 0
    progress: Callable[[int, float], None] | None = None

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def sums(self) -> TaskSums:
        """Means, squares and ranges of the columns."""
        return column_sums(self.partitions, self.n_classes, max(1, self.n_folds))

    @cached_property
    def moments(self) -> dict[int, Moments]:
        """The sums of each fold, from one pass."""
        return fold_moments(self.partitions, "numbers" if self.classes is None else "classes")

    def total(self) -> Moments:
        """Return the sums of all rows."""
        parts = list(self.moments.values())
        return sum(parts[1:], parts[0])

    def check_folds(self) -> None:
        """Refuse folds that leave a class without rows to learn from."""
        if self.classes is None:
            return
        weight = self.sums["classes"]
        learned = weight.sum(axis=0) - weight if len(weight) > 1 else weight
        absent = np.argwhere(learned <= 0)
        if len(absent):
            label = self.classes.tolist()[int(absent[0][1])]
            raise InputError(
                f"Class {label!r} has too few rows: a fold would learn without it. Use fewer "
                "folds, or drop the rows of rare classes; or learn in memory with ",
                IN_MEMORY,
                ".",
            )


class PartitionLearner(ABC):
    """A learner of `LEARNERS` over partitions.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    settings : dict
        Its parameters.
    """

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name, self.settings = name, settings
        regularization = LEARNERS[name].regularization
        self.parameter = None if regularization is None else regularization.name

    def made(self, value: float | None = None) -> Any:
        """Return the learner with checked parameters."""
        given = dict(self.settings)
        if value is not None and self.parameter is not None:
            given[self.parameter] = value
        made = new_learner(self.name, **given)
        made.check_parameters()
        return made

    def values(self, data: PartitionData) -> Sequence[float | None]:
        """Return the values to search, from more to less regularization."""
        regularization = LEARNERS[self.name].regularization
        if regularization is None or regularization.name in self.settings:
            return [None]
        deviation = 1.0
        if data.classes is None:
            deviation = math.sqrt(float(data.sums["y_squares"][0] / data.sums["weight"][0]))
        rows = int(data.sums["rows"][0])
        grid = regularization.grid(rows, deviation, self.settings)
        return sorted(grid, reverse=regularization.name != "C")

    @abstractmethod
    def search(self, data: PartitionData, values: Sequence[float | None]) -> FoldModels:
        """Return the models of all values and folds, those of a value side by side."""

    @abstractmethod
    def fit(
        self, data: PartitionData, value: float | None, start: LinearModel | None = None
    ) -> tuple[LinearModel, Certificate | None]:
        """Return the model of all rows, and its certificate if it has one."""

    def check(self, data: PartitionData) -> str:
        """Return why the learner cannot learn from such data; empty if it can."""
        del data
        return ""


class LaneLearner(PartitionLearner):
    """A convex problem; every class, fold and C is a lane of the same passes."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        super().__init__(name, settings)
        made = self.made()
        parameters = made.get_params(deep=False)
        refused = {
            "l1_ratio": 0.0,
            "penalty": "l2",
            "multi_class": "multinomial",
            "probability": False,
            "class_weight": None,
        }
        for key, only in refused.items():
            if key in parameters and parameters[key] != only:
                raise OptionError(
                    Option("set", {key: parameters[key]}),
                    f": {name} learns out of core with {key}={only!r} only. Leave it out, or use ",
                    IN_MEMORY,
                    ".",
                )
        if not math.isfinite(parameters["C"]):
            raise OptionError(
                Option("set", {"C": math.inf}), ": out of core C must be finite, such as 1e6."
            )
        self.parameters = parameters

    @property
    def loss(self) -> Loss:
        """The loss."""
        if self.name == "logistic-regression":
            return LOGISTIC
        if self.name == "linear-svr":
            return epsilon_insensitive(float(self.parameters["epsilon"]))
        return HINGE if self.parameters["loss"] == "hinge" else SQUARED_HINGE

    def _targets(self, data: PartitionData) -> list[int]:
        if self.loss.is_multinomial:
            return [TOGETHER if data.n_classes > 2 else 1]
        return list(range(data.n_classes)) if data.n_classes > 2 else [1]

    def _link(self) -> Link:
        if self.loss.is_regression:
            return "identity"
        return "logistic" if self.loss.is_multinomial else "score"

    def _problem(self, data: PartitionData, lanes: list[Lane]) -> LaneProblem:
        return LaneProblem.prepare(
            data.sums,
            self.loss,
            lanes,
            is_sparse=data.partitions.is_sparse,
            fit_intercept=bool(self.parameters["fit_intercept"]),
            standardize=bool(self.parameters["standardize"]),
            n_classes=max(2, data.n_classes),
        )

    def _unit(self, data: PartitionData) -> float:
        """Return the size of residuals without weights."""
        if data.classes is not None:
            return 1.0
        mean, squares = (float(data.sums[name][0]) for name in ("y_mean", "y_squares"))
        return math.sqrt(squares / float(data.sums["weight"][0])) + abs(mean) or 1.0

    def search(self, data: PartitionData, values: Sequence[float | None]) -> FoldModels:
        """Return the models of all values and folds."""
        C = [float(self.parameters["C"]) if value is None else value for value in values]
        lanes = [
            Lane(one, target, fold)
            for one in C
            for fold in range(data.n_folds)
            for target in self._targets(data)
        ]
        problem = self._problem(data, lanes)
        options = PartitionedOptions(tol=SEARCH_TOL, callback=data.progress)
        unit = self._unit(data)
        start = sample_start(data.sums["sample"][0], problem, options, unit)
        point, _ = solve_lanes(data.partitions, problem, options, start, unit)
        w, b = problem.columns.raw(point.u, point.b)
        folds = tuple(fold for _ in C for fold in range(data.n_folds))
        link: Link = "softmax" if problem.width > 1 else self._link()
        return FoldModels(w, b, folds, link)

    def fit(
        self, data: PartitionData, value: float | None, start: LinearModel | None = None
    ) -> tuple[LinearModel, Certificate | None]:
        """Return the model of all rows with its certificate."""
        made = self.made(value)
        C = float(made.get_params(deep=False)["C"])
        problem = self._problem(data, [Lane(C, target) for target in self._targets(data)])
        tol = FINAL_TOL if self.parameters["tol"] is None else float(self.parameters["tol"])
        options = PartitionedOptions(tol=tol, callback=data.progress)
        point: LanePoint | None
        if start is not None and self.loss.is_smooth:
            u, b = problem.columns.seen(start.weights.T, start.intercept)
            point = LanePoint(np.ascontiguousarray(u), b)
        else:
            point = sample_start(data.sums["sample"][0], problem, options, self._unit(data))
        for _ in range(3):  # rounding and repairs may take what was just reached
            point, passes = solve_lanes(
                data.partitions, problem, options, point, unit=self._unit(data)
            )
            published = certify_lanes(data.partitions, problem, point, tol)
            if all(one.converged for one in published.certificates):
                break
            options = replace(options, tol=0.1 * options.tol)
        total = sum(published.certificates[1:], published.certificates[0])
        link: Link = "softmax" if problem.width > 1 else self._link()
        return _model(
            made, published.weights, published.intercept, data, link, total, passes
        ), total


class SumsLearner(PartitionLearner):
    """A learner that is solved from the sums of folds, all from one pass."""

    def check(self, data: PartitionData) -> str:
        """Refuse more columns than there may be products of."""
        return _too_wide(data)

    def search(self, data: PartitionData, values: Sequence[float | None]) -> FoldModels:
        """Return the models of all values and folds."""
        learned = list(each_complement(list(data.moments.values())))
        with warnings.catch_warnings():  # the final fit says what they would
            warnings.simplefilter("ignore")
            models = [
                self.made(value).fit_sums(sums).model_ for value in values for sums in learned
            ]
        weights = np.concatenate([model.weights for model in models]).T
        intercept = np.concatenate([model.intercept for model in models])
        folds = tuple(fold for _ in values for fold in data.moments)
        return FoldModels(np.ascontiguousarray(weights), intercept, folds, models[0].link)

    def fit(
        self, data: PartitionData, value: float | None, start: LinearModel | None = None
    ) -> tuple[LinearModel, Certificate | None]:
        """Return the model of all rows."""
        del start
        model = self.made(value).fit_sums(data.total()).model_
        return replace(model, classes=data.classes, state=None), None


class PathLearner(PartitionLearner):
    """Lasso and elastic net: paths from the sums of folds, certified from these."""

    def check(self, data: PartitionData) -> str:
        """Refuse more columns than there may be products of."""
        return _too_wide(data)

    def _path(self, sums: Moments, values: Sequence[float | None], tol: float) -> Any:
        """Return the models of all values, and which of these sums have the digits for."""
        parameters = self.made(values[0]).get_params(deep=False)
        alphas = np.array([parameters["alpha"] if one is None else one for one in values])
        penalty = ElasticNetPenalty(
            float(parameters.get("l1_ratio", 1.0)), bool(parameters["positive"])
        )
        gram = gram_problem(
            sums,
            fit_intercept=bool(parameters["fit_intercept"]),
            standardize=bool(parameters["standardize"]),
        )
        return gram.path(alphas, penalty, SolverOptions(tol=tol), is_small=False)

    def search(self, data: PartitionData, values: Sequence[float | None]) -> FoldModels:
        """Return the models of all values and folds."""
        learned = list(each_complement(list(data.moments.values())))
        paths = [self._path(sums, values, SEARCH_TOL)[0] for sums in learned]
        weights = np.stack([path.weights for path in paths], axis=1)
        intercept = np.stack([path.intercept for path in paths], axis=1)
        folds = tuple(fold for _ in values for fold in data.moments)
        wide = np.ascontiguousarray(weights.reshape(len(folds), -1).T)
        return FoldModels(wide, intercept.ravel(), folds, "identity")

    def fit(
        self, data: PartitionData, value: float | None, start: LinearModel | None = None
    ) -> tuple[LinearModel, Certificate | None]:
        """Return the model of all rows with its certificate from the sums."""
        del start
        made = self.made(value)
        models, known = self._path(data.total(), [value], FINAL_TOL)
        certificate = models.certificates[0]
        if not known.all():  # the sums have too few digits to claim anything
            certificate = replace(certificate, gap=certificate.primal, dual=0.0)
        model = _model(
            made,
            models.weights.T,
            models.intercept,
            data,
            "identity",
            certificate,
            models.steps.tolist(),
        )
        return model, certificate


def _too_wide(data: PartitionData) -> str:
    d = data.partitions.n_features
    if d <= MAX_PRODUCTS:
        return ""
    return f"{d} columns are too many for their products, which need at most {MAX_PRODUCTS}"


def _model(
    made: Any,
    weights: Floats,
    intercept: Floats,
    data: PartitionData,
    link: Link,
    certificate: Certificate,
    passes: Sequence[int],
) -> LinearModel:
    """Return a certified model with its evidence."""
    names = ("primal", "dual", "gap", "relative_gap", "tol", "converged")
    evidence = {name: getattr(certificate, name) for name in names}
    return LinearModel(
        weights=np.ascontiguousarray(weights.T),
        intercept=intercept,
        classes=data.classes,
        link=link,
        learner=type(made).__name__,
        parameters=made.get_params(deep=False),
        family="certified",
        evidence={**evidence, "passes": list(passes), "engine": "partitions"},
    )


#: The kinds of the learners that partitions have.
KINDS: dict[str, type[PartitionLearner]] = {
    "logistic-regression": LaneLearner,
    "linear-svm": LaneLearner,
    "linear-svr": LaneLearner,
    "lda": SumsLearner,
    "ridge": SumsLearner,
    "least-squares": SumsLearner,
    "lasso": PathLearner,
    "elastic-net": PathLearner,
}


def partition_learner(name: str, settings: dict[str, Any]) -> PartitionLearner:
    """Return a learner over partitions; an error names those that there are."""
    kind = KINDS.get(name)
    if kind is None:
        raise OptionError(
            Option("model", name),
            " needs all rows in memory. Out of core there are ",
            ", ".join(sorted(KINDS)),
            "; with ",
            IN_MEMORY,
            " there are all.",
        )
    return kind(name, settings)
