"""Base class of the certified estimators: parameters, problem, solver, model and certificate."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from separable.certified.duality.l2_certifier import CertifiedSolution, feasible
from separable.certified.duality.published import publish
from separable.certified.duality.softmax_l2_certifier import feasible_points
from separable.certified.estimators.lost_columns import (
    FAR_FROM_OTHERS,
    dominated_target,
    first_remedy,
    lost_columns,
)
from separable.certified.number_range import (
    LARGEST_CELL,
    check_cells,
    check_objective,
    check_target,
    check_weights,
)
from separable.certified.preparation import SQUARED, level_target, prepare, without_duplicates
from separable.certified.problem import TOGETHER, Lane, Penalty, Problem
from separable.certified.solvers.dual_cd import Start
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import Learns, solver_of
from separable.data.rows import as_rows, column_names, largest_magnitude
from separable.fitting.base import LinearEstimator, one_or_list
from separable.fitting.separation_error import naming_columns
from separable.fitting.targets import weigh_rows
from separable.model.linear_model import LinearModel
from separable.model.parameters import (
    BOOL,
    COUNT,
    RANDOM_STATE,
    TOLERANCE,
    Requirement,
)
from separable.statistics.dominant_columns import DominantValueWarning, message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.certified.duality.certificate import Certificate
    from separable.certified.duality.published import Published
    from separable.certified.fold_lanes import LearnsFolds
    from separable.certified.loo.certified_loo import LeftOut
    from separable.data.rows import Rows
    from separable.fitting.splits import Split
    from separable.losses.base import Loss
    from separable.model.linear_model import Link
    from separable.typing import Floats


__all__ = [
    "CALLBACK",
    "N_JOBS",
    "CertifiedEstimator",
    "Fitted",
    "FoldData",
    "RowMask",
    "TrainingData",
    "read_rows",
]

CALLBACK = Requirement("None or a callable", lambda v: v is None or callable(v))
N_JOBS = Requirement(
    "None or an int that is not 0",
    lambda v: v is None or (isinstance(v, int | np.integer) and not isinstance(v, bool) and v != 0),
)


@dataclass(frozen=True)
class RowMask:
    """The rows of positive weight among all rows.

    Parameters
    ----------
    n_rows : int
        Of all rows given.
    counted : ndarray of int or None
        The rows of a weight above 0; None: all.
    """

    n_rows: int
    counted: NDArray[np.int64] | None = None

    def spread(self, values: Floats) -> Floats:
        """Return values of the rows that count, shape (m, k), as values of all, 0 elsewhere."""
        if self.counted is None:
            return values
        every = np.zeros((self.n_rows, values.shape[1]))
        every[self.counted] = values
        return every

    def take(self, values: Floats) -> Floats:
        """Return of values of all rows, shape (n, k), those of the rows that count."""
        return values if self.counted is None else values[self.counted]


@dataclass(frozen=True)
class FoldData:
    """All rows, including those of weight 0, which may be held out.

    Parameters
    ----------
    rows : Rows
        Finite, without duplicates.
    target : ndarray, shape (n,)
        int32: the number of the class; float64: the number to predict.
    classes : ndarray or None
        Sorted; None in regression.
    weight : ndarray, shape (n,), or None
        As given, without class weights.
    """

    rows: Rows
    target: NDArray[np.int32] | Floats
    classes: NDArray[Any] | None
    weight: Floats | None

    @property
    def labels(self) -> NDArray[Any]:
        """What y held."""
        return self.target if self.classes is None else self.classes[self.target]


@dataclass(frozen=True)
class TrainingData:
    """The training rows, all of positive weight, with targets and weights.

    Parameters
    ----------
    rows : Rows
        Finite, without duplicates.
    target : ndarray, shape (n,)
        int32: the number of the class; float64: the number to predict.
    weight : ndarray, shape (n,), or None
    classes : ndarray or None
        Sorted; None in regression.
    given : RowMask
        Which rows of those given these are.
    is_joint : bool, default False
        Whether all classes are learned jointly, where they are more than two.
    """

    rows: Rows
    target: NDArray[np.int32] | Floats
    weight: Floats | None
    classes: NDArray[Any] | None
    given: RowMask
    is_joint: bool = False

    @property
    def label(self) -> NDArray[np.int32]:
        """The number of each row's class."""
        return self.target.astype(np.int32, copy=False)

    @property
    def models(self) -> list[int]:
        """The class that is +1, of each model, or `TOGETHER`."""
        if self.classes is None or len(self.classes) == 2:
            return [1]
        return [TOGETHER] if self.is_joint else [*range(len(self.classes))]

    @property
    def n_joint(self) -> int:
        """How many classes are learned jointly; 2: none."""
        joint = self.classes is not None and self.is_joint
        return len(self.classes) if joint and self.classes is not None else 2


@dataclass(frozen=True)
class Fitted:
    """The fitted models of all classes.

    Parameters
    ----------
    problem : Problem
    solution : CertifiedSolution
    published : Published
        The numbers of the models and their certificates.
    passes : ndarray, shape (k,)
    solvers : list of str
    is_penalised : bool
        Whether C is finite.
    calibration : ndarray, shape (k, 2), or None
        Slope and offset of each model's scores.
    doubt : str
        Without a penalty, what is to be said where the fit does not prove that it has an optimum.
    """

    problem: Problem
    solution: CertifiedSolution
    published: Published
    passes: NDArray[np.int64]
    solvers: list[str]
    is_penalised: bool = True
    calibration: Floats | None = None
    doubt: str = ""

    @property
    def certificates(self) -> list[Certificate]:
        """Of the published numbers, one a model."""
        return self.published.certificates

    def reason(self, names: Sequence[str] | None = None) -> str:
        """Return why it has not converged, where that is known; columns by their names."""
        rounding = self.published.rounding
        return self.doubt if rounding is None else rounding.text(names)


class CertifiedEstimator(LinearEstimator):
    """A convex learner with a certificate of suboptimality."""

    C: float
    fit_intercept: bool
    standardize: bool
    tol: float | None
    max_iter: int
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    callback: Callable[[int, float], Any] | None

    _dual: Floats

    #: The largest exponent of two by which columns are brought to a common scale.
    _most_exponent: ClassVar[int] = SQUARED
    #: The name of the regularization parameter.
    _regularization_name: ClassVar[str] = "C"

    _requirements: ClassVar[dict[str, Requirement]] = {
        "fit_intercept": BOOL,
        "standardize": BOOL,
        "tol": TOLERANCE,
        "max_iter": COUNT,
        "warm_start": BOOL,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "callback": CALLBACK,
    }

    # ------------------------------------------------------------------ what a learner says

    def _loss(self) -> Loss:
        """Return the loss of the objective."""
        raise NotImplementedError

    def _penalty(self) -> Penalty:
        """Return the penalty of the objective."""
        return Penalty()

    def _fold_data(self, X: Any, y: Any, sample_weight: Any) -> FoldData:
        """Check rows, target and weights."""
        raise NotImplementedError

    def _lane(self, problem: Problem, regularization: float, target: int, fold: int) -> Lane:
        """Return the lane of one model of a problem."""
        del problem
        return Lane(regularization, target, fold)

    def _rescaled(self, published: Published, regularization: float) -> Published:
        """Return a model with its certificate in terms of this learner's objective."""
        del regularization
        return published

    def _sum_lanes(
        self,
        fold_data: FoldData,
        splits: Sequence[Split],
        regularizations: Floats,
        solver_options: SolverOptions,
    ) -> LearnsFolds | None:
        """Return what learns folds from their sums; None: they are learned from the rows."""
        del fold_data, splits, regularizations, solver_options
        return None

    def _left_out(self, fold_data: FoldData) -> LeftOut | None:
        """Return the scores that each row gets from the fit to all others, from one fit.

        See `left_out`. None: this learner, with these parameters, has no such short cut.
        """
        del fold_data
        return None

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class, or the number, of each row.
        sample_weight : array-like of shape (n,), optional
            Weight k is the row k times; 0 is no row.

        Returns
        -------
        self
        """
        self._check_parameters()
        training = self._training_data(self._fold_data(X, y, sample_weight))
        with naming_columns(column_names(X)):
            fitted = self._learn(training)
        self._remember_columns(X)
        self._keep(fitted, training)
        return self

    def _training_data(self, fold_data: FoldData) -> TrainingData:
        """Return what can be learned from: rows that count, and the classes among them."""
        counted = weigh_rows(
            fold_data.weight,
            getattr(self, "class_weight", None),
            fold_data.labels,
            balance_weights=True,
        )
        rows, target, classes = fold_data.rows, fold_data.target, fold_data.classes
        if classes is None and len(target):
            is_squared = self._loss().name == "squared_error"
            check_target(np.asarray(target, dtype=np.float64), is_squared=is_squared)
        weight, given = counted.weight, RowMask(rows.n_rows, counted.rows)
        if weight is not None:
            check_weights(weight)
        if counted.rows is not None and weight is not None:
            if len(counted.rows) == 0:
                raise ValueError("Every sample weight is zero, so no row is left to learn from.")
            rows, target = rows.take(counted.rows), target[counted.rows]
            weight = weight[counted.rows]
            if classes is not None:
                there, lane_indices = np.unique(target, return_inverse=True)
                classes, target = classes[there], lane_indices.astype(np.int32)
        return TrainingData(rows, target, weight, classes, given, self._is_joint())

    def _is_joint(self) -> bool:
        """Return whether three or more classes are learned jointly."""
        return False

    def _solver_options(self) -> SolverOptions:
        state = self.random_state
        seed = _seed_of(int(state)) if isinstance(state, int | np.integer) else _drawn_seed(state)
        return SolverOptions(
            self.tol, self.max_iter, seed, effective_n_jobs(self.n_jobs), self.callback
        )

    def _problem(self, training: TrainingData) -> Problem:
        made = prepare(
            training.rows,
            self._loss(),
            training.target,
            training.weight,
            fit_intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            most=self._most_exponent,
        )
        made = replace(made, penalty=self._penalty(), n_classes=training.n_joint)
        return level_target(made)

    def _learn(self, training: TrainingData) -> Fitted:
        """Learn one model, or one a class."""
        return self._fit_lanes(
            solver_of(self._problem(training), self._solver_options()), training, self.C
        )

    def _fit_lanes(self, solver: Learns, training: TrainingData, regularization: float) -> Fitted:
        """Fit the models of all classes for one value of C or alpha."""
        return self._solve(solver, training, self._lanes(training, regularization))

    def _lanes(self, training: TrainingData, regularization: float) -> list[Lane]:
        return [Lane(float(regularization), target) for target in training.models]

    def _solve(self, solver: Learns, training: TrainingData, lanes: list[Lane]) -> Fitted:
        """Learn lanes; those of all rows come first, in the order of the models."""
        self._check_range(solver.problem, lanes)
        solved = list(solver.solve(lanes, self._start(solver.problem, training, lanes)))
        order = np.argsort([place for some in solved for place in some.lane_indices])
        whole = CertifiedSolution.side_by_side([some.solution for some in solved])
        parts = [whole.lane(k) for k in order]
        doubts = [
            self._check_lane(solver.problem, *pair, training.classes)
            for pair in zip(lanes, parts, strict=True)
        ]
        whole = CertifiedSolution.side_by_side(parts)
        return Fitted(
            solver.problem,
            whole,
            publish(solver.problem, lanes[: len(training.models)], whole),
            np.concatenate([some.passes for some in solved])[order],
            [[name for part in solved for name in part.solvers][k] for k in order],
            math.isfinite(lanes[0].C),
            doubt=next(filter(None, doubts), ""),
        )

    def _check_range(self, problem: Problem, lanes: list[Lane]) -> None:
        """Refuse a loss that overflows with the C of a lane, but for classes with an l2 penalty."""
        largest = max((lane.C for lane in lanes), default=0.0)
        is_plain = problem.penalty.is_smooth and not problem.is_regression
        if 0 < largest < math.inf and not is_plain:
            total = problem.rows.n_rows if problem.weight is None else float(problem.weight.sum())
            check_objective(problem, largest * total, f"C={largest:g}")

    def _check_lane(
        self,
        problem: Problem,
        lane: Lane,
        found: CertifiedSolution,
        classes: NDArray[Any] | None,
        where: str = "",
    ) -> str:
        """Refuse a model that has no optimum; return what is to be said if that is not known.

        ``where`` names the rows that it was learned from, if not all.
        """
        del problem, lane, found, classes, where
        return ""

    def _start(self, problem: Problem, training: TrainingData, lanes: list[Lane]) -> Start | None:
        """Return where a warm start goes on from: the last fit, its dual points made feasible."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        last, k = self._dual, len(training.models) if training.n_joint == 2 else training.n_joint
        if (
            last.shape != (training.given.n_rows, k)
            or self.n_features_in_ != training.rows.n_features
        ):
            return None
        z = training.given.take(last) / problem.value
        if problem.n_classes > 2:
            dual = np.tile(feasible_points(problem, lanes[0], z), len(lanes))
        else:
            dual = feasible(problem, lanes, z[:, np.arange(len(lanes)) % k])[:, : len(lanes)]
        raw = self._weights_only()
        weights, b = problem.columns.seen(raw.weights.T, raw.intercept)
        some = np.arange(dual.shape[1]) % weights.shape[1]
        return Start(dual, np.resize(b, dual.shape[1]), weights[:, some])

    def _grows(self) -> bool:
        """Return whether a warm start from fewer rows ends where a fit from nothing does."""
        return "warm_start" in self.get_params(deep=False)

    def _meet_rows(self, n_more: int) -> None:
        """Let a warm start go on with more rows behind those of the last fit.

        Their dual points are 0, so what those of the others add up to stays what it was.
        """
        last: Floats = self._dual
        self._dual = np.concatenate([last, np.zeros((n_more, last.shape[1]))])

    def _keep(
        self,
        fitted: Fitted,
        training: TrainingData,
        evidence: dict[str, Any] | None = None,
        *,
        warn: bool = True,
    ) -> None:
        """Make the model of a fit, and warn where it did not converge."""
        found, published = fitted.solution, fitted.published
        self._columns = fitted.problem.columns if self.standardize else None
        self._certificates = published.certificates
        self._passes = fitted.passes
        unit = fitted.problem.value if fitted.is_penalised else 1.0
        self._dual = training.given.spread(found.dual * unit)
        self._model = LinearModel(
            weights=np.ascontiguousarray(published.weights.T),
            intercept=published.intercept,
            classes=training.classes,
            link=self._link_of(training.classes),
            feature_names=self._column_names,
            encoder=self._encoder,
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family="certified",
            evidence={**self._evidence_of(fitted), **(evidence or {})},
            calibration=fitted.calibration,
        )
        if warn:
            reason = self._warn_of_dominant_values(fitted, training)
            reason = reason or fitted.reason(self._column_names)
            self._warn_of_gap(published.certificates, reason)

    def _warn_of_dominant_values(self, fitted: Fitted, training: TrainingData) -> str:
        """Name values that leave nothing to learn from the others; return advice for slow fits."""
        found = lost_columns(fitted, training)
        text = message(found, self._name, FAR_FROM_OTHERS) if found else ""
        is_squared = training.classes is None and self._loss().name == "squared_error"
        target = dominated_target(training) if is_squared else []
        for each in (text, message(target, lambda _: "y") if target else ""):
            if each:
                warnings.warn(each, DominantValueWarning, stacklevel=4)
        converged = all(one.converged for one in fitted.certificates)
        return "" if converged else first_remedy(found, self._name)

    def _link_of(self, classes: NDArray[Any] | None) -> Link:
        """Return what scores of these classes mean."""
        del classes
        return self._link()

    def _evidence_of(self, fitted: Fitted) -> dict[str, Any]:
        """Return the evidence of a fit."""
        certificates = fitted.certificates
        numbers = {
            name: one_or_list(np.array([getattr(one, name) for one in certificates]))
            for name in ("primal", "dual", "gap", "relative_gap")
        }
        solvers = fitted.solvers
        return {
            **numbers,
            "tol": certificates[0].tol,
            "converged": all(one.converged for one in certificates),
            "passes": [int(passes) for passes in fitted.passes],
            "engine": solvers[0] if len(set(solvers)) == 1 else solvers,
        }

    def _warn_of_gap(self, certificates: list[Certificate], doubt: str = "") -> None:
        short = [k for k, one in enumerate(certificates) if not one.converged]
        if not short:
            if doubt:
                warnings.warn(f"{type(self).__name__}: {doubt}", ConvergenceWarning, stacklevel=3)
            return
        worst = max((certificates[k] for k in short), key=lambda one: one.relative_gap)
        which = (
            "" if len(certificates) == 1 else f" for {len(short)} of {len(certificates)} classes"
        )
        warnings.warn(
            f"{type(self).__name__} stopped{which} after {int(self._passes.max())} passes with a "
            f"relative gap of {worst.relative_gap:.1e}; {worst.tol:.1e} was asked for. "
            f"{doubt or self._advice(worst)}",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _advice(self, worst: Certificate) -> str:
        """Return what to do where a fit did not converge."""
        if not worst.is_penalised:
            return (
                "Without a penalty there may be no optimum: classes that can be separated have "
                "none. A finite C has one."
            )
        close = (
            f"The weights are at most {worst.distance:.1e} from the optimum. "
            if math.isfinite(worst.distance)
            else ""
        )
        return (
            f"{close}More passes (max_iter), scaled columns (standardize=True) or a smaller C "
            "bring it closer."
        )

    # ------------------------------------------------------------------ the model

    @property
    def certificate_(self) -> Certificate:
        """How far from the optimum the fit is, at most; of all models together."""
        return sum(self.certificates_[1:], self.certificates_[0])

    @property
    def certificates_(self) -> list[Certificate]:
        """The certificate of each model: one, or one a class where these are learned apart."""
        check_is_fitted(self)
        return self._certificates

    @property
    def dual_coef_(self) -> Floats:
        """The dual point that proves the certificate, (k, n), with the sign of the target.

        With the l2 penalty and without ``standardize``, ``dual_coef_ @ X`` are the weights that it
        stands for.
        """
        check_is_fitted(self)
        return self._dual.T

    @property
    def mean_(self) -> Floats:
        """The mean of each dense column, with ``standardize=True`` and an intercept."""
        return self._standardized("mean_", "shift")

    @property
    def scale_(self) -> Floats:
        """The standard deviation of each column, with ``standardize=True``; 0: constant."""
        inverse = self._standardized("scale_", "scale")
        return np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0)

    def _standardized(self, name: str, part: str) -> Floats:
        columns = getattr(self, "_columns", None)
        found: Floats | None = getattr(columns, part, None)
        if found is None:
            raise AttributeError(
                f"{type(self).__name__} has no {name}: it is there after a fit with "
                "standardize=True" + (", of dense columns." if part == "shift" else ".")
            )
        return found

    @property
    def model_(self) -> LinearModel:
        """The fitted model, for prediction, explanation and saving."""
        return self._weights_only()

    def _weights_only(self) -> LinearModel:
        check_is_fitted(self)
        assert self._model is not None
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None


def _drawn_seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


@lru_cache(maxsize=64)
def _seed_of(random_state: int) -> int:
    """Return the seed drawn from a fixed state; initializing a generator costs 0.1 ms."""
    return _drawn_seed(random_state)


def read_rows(X: Any) -> Rows:
    """Return X as finite rows without duplicates."""
    rows = as_rows(X, check_values=False)
    if largest_magnitude(rows, X) > LARGEST_CELL:
        check_cells(rows)
    return without_duplicates(rows)
