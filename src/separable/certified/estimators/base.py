"""Base class of the certified estimators: parameters, problem, solver, model and certificate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.feasibility import feasible, feasible_points
from separable.certified.duality.published import Published, publish
from separable.certified.estimators.fitted import Fitted, warn_of_gap
from separable.certified.estimators.lost_columns import (
    FAR_FROM_OTHERS,
    dominated_target,
    first_remedy,
    lost_columns,
)
from separable.certified.estimators.sign_constraints import refuse_classes, signs_of
from separable.certified.estimators.training_data import TrainingData, read_data, training_rows
from separable.certified.number_range import check_objective
from separable.certified.preparation import SQUARED, level_target, prepare
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.driver import Driver
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.certified.solvers.solved import Solved, Start
from separable.data.resources import n_threads
from separable.data.rows import column_names
from separable.estimator import check_is_fitted, check_random_state
from separable.fitting.base import LinearEstimator
from separable.fitting.fold_fits import FoldData, FoldFit, LeftOut, PathSolver
from separable.fitting.fold_fits import Problem as ValidationProblem
from separable.fitting.model_attributes import changed_model_error, shape_of
from separable.fitting.separation_error import naming_columns
from separable.fitting.splits import Split
from separable.fitting.targets import check_targets
from separable.losses.loss import Loss
from separable.model.linear_model import LinearModel, Link
from separable.model.parameters import BOOL, COUNT, RANDOM_STATE, TOLERANCE, Requirement
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.statistics.dominant_columns import DominantValueWarning, message
from separable.typing import Floats

CALLBACK = Requirement("None or a callable", lambda v: v is None or callable(v))
N_JOBS = Requirement(
    "None or an int that is not 0",
    lambda v: v is None or (isinstance(v, int | np.integer) and not isinstance(v, bool) and v != 0),
)
#: What the parameters that certified learners share must be.
SOLVER_PARAMETERS: dict[str, Requirement] = {
    "fit_intercept": BOOL,
    "standardize": BOOL,
    "tol": TOLERANCE,
    "max_iter": COUNT,
    "warm_start": BOOL,
    "random_state": RANDOM_STATE,
    "n_jobs": N_JOBS,
    "callback": CALLBACK,
}


@dataclass(eq=False, repr=False, kw_only=True)
class CertifiedEstimator(LinearEstimator):
    """A convex learner with a certificate of suboptimality.

    Parameters
    ----------
    C : float
        Inverse of the regularization: smaller values penalize more.
    standardize : bool
        Penalize the weights of standardized columns. ``coef_`` is for the raw columns.
    max_iter : int
        Maximum number of passes over the rows; with few columns, maximum number of steps, each of a
        few passes.
    warm_start : bool
        ``fit`` starts from the previous solution.
    random_state : int, RandomState or None
        The order of rows in passes. The result depends on it only within the certificate.
    n_jobs : int or None
        Number of threads when many models are fitted; None: 1, -1: all. The result is bit-identical
        for any number.
    callback : callable or None
        Called with the number of a pass and the relative gap so far; returning ``True`` stops the
        fit.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model, for prediction, explanation and saving.
    certificate_ : Certificate
        ``primal``, ``dual``, ``gap``, ``relative_gap``, ``converged``: no weights have an
        objective below ``dual``. With an l2 penalty ``distance`` bounds how far the weights are
        from the optimal ones. Of all models together; ``certificates_`` has one each.
    coef_, intercept_, classes_ : ndarray
        Attributes of the model; ``classes_`` of classifiers only.
    dual_coef_ : ndarray, shape (k, n)
        The dual point that proves the certificate, with the sign of the target.
    n_iter_ : int
        Passes over the rows, the most of any model; a list, one a target, of several targets.
    mean_, scale_ : ndarray
        With ``standardize=True``: of the columns (``mean_`` of dense ones).
    evidence_ : dict
        The certificate's numbers, ``passes`` and ``engine``.
    """

    fit_intercept: bool = True
    standardize: bool = False
    tol: float | None = None
    max_iter: int = 1000
    warm_start: bool = False
    callback: Callable[[int, float], Any] | None = None

    C: float = field(init=False)
    random_state: Any = field(init=False)
    n_jobs: int | None = field(init=False)

    _dual: Floats = field(init=False)
    _signs: tuple[int, ...] | None = field(init=False)

    _family = "certified"
    #: Whether y may have several columns, with a model of each.
    _takes_targets: ClassVar[bool] = False
    #: Options of the solvers that are no parameters.
    _default_options: ClassVar[SolverOptions] = SolverOptions()
    #: The largest exponent of two by which columns are brought to a common scale.
    _most_exponent: ClassVar[int] = SQUARED
    _requirements: ClassVar[dict[str, Requirement]] = SOLVER_PARAMETERS

    # ------------------------------------------------------------------ what a learner says

    def _loss(self) -> Loss:
        """Return the loss of the objective."""
        raise NotImplementedError

    def _penalty(self) -> ElasticNetPenalty:
        """Return the penalty of the objective."""
        return ElasticNetPenalty()

    def _is_joint(self) -> bool:
        """Return whether three or more classes are learned jointly."""
        return False

    def _lane(self, problem: Problem, regularization: float, target: int, fold: int) -> Lane:
        """Return the lane of one model of a problem."""
        del problem
        return Lane(regularization, target, fold)

    def _rescaled(self, published: Published, regularization: float) -> Published:
        """Return a model with its certificate in terms of this learner's objective."""
        del regularization
        return published

    def _shares_folds(self) -> bool:
        """Return whether folds and values of C or alpha are solved together."""
        return True

    def _has_left_out(self, data: FoldData) -> bool:
        """Return whether leave-one-out can be estimated from one fit."""
        del data
        return False

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class, or the number, of each row. Of some regressors (n, t): t targets, each with a
            model of its own.
        sample_weight : array-like of shape (n,), optional
            Weight k is the row k times; 0 is no row.

        Returns
        -------
        self
        """
        if self._takes_targets and len(shape_of(y)) == 2 and shape_of(y)[1] > 1:
            return self._fit_targets(X, y, sample_weight)
        self._fit_data(self.fold_data(X, y, sample_weight), X)
        self._note_target(y)
        return self

    def _fit_targets(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn a model for each column of y."""
        targets = check_targets(y, shape_of(y)[0], type(self).__name__)
        data = self.fold_data(X, targets[:, 0], sample_weight)
        parts = [self._training_data(replace(data, target=target)) for target in targets.T]
        with naming_columns(column_names(X)):
            fitted = [self._learn(part) for part in parts]
        self._remember_columns(X)
        for each, part in zip(fitted, parts, strict=True):
            self._warn_of_dominant_values(each, part)
        whole = Fitted.side_by_side(fitted)
        self._keep(whole, parts[0], warn=False)
        self._warn_of_gap(whole, whole.reason(self._column_names), stacklevel=3)
        return self

    def _fit_data(self, data: FoldData, X: Any, evidence: Mapping[str, Any] | None = None) -> Self:
        """Learn from rows as `fold_data` returns them; X names the columns."""
        training = self._training_data(data)
        with naming_columns(column_names(X)):
            fitted = self._learn(training)
        self._remember_columns(X)
        self._keep(fitted, training, evidence)
        return self

    def fold_data(self, X: Any, y: Any, sample_weight: Any) -> FoldData:
        """Return the rows as this learner reads them; see `separable.fitting.fold_fits`."""
        self.check_parameters()
        data = self._read(X, y, sample_weight)
        self._signs = signs_of(self, data.rows.n_features, column_names(X))
        return data

    def _read(self, X: Any, y: Any, sample_weight: Any) -> FoldData:
        """Check rows, target and weights."""
        return read_data(X, y, sample_weight, self._class_weight, self)

    def check_data(self, data: FoldData) -> None:
        """Refuse rows that cannot be learned from; see `separable.fitting.fold_fits`."""
        self._training_data(data)

    @property
    def _class_weight(self) -> Any:
        return getattr(self, "class_weight", None)

    def _training_data(self, fold_data: FoldData) -> TrainingData:
        """Return what can be learned from: rows that count, and the classes among them."""
        training = training_rows(
            fold_data, self._class_weight, self._loss(), is_joint=self._is_joint()
        )
        if training.classes is not None:
            self._refuse_one_class(training.classes)
            refuse_classes(self, len(training.classes))
        return training

    def _solver_options(self) -> SolverOptions:
        state = self.random_state
        seed = _seed_of(int(state)) if isinstance(state, int | np.integer) else _drawn_seed(state)
        return replace(
            self._default_options,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed,
            n_jobs=n_threads(self.n_jobs, type(self).__name__),
            callback=self.callback,
        )

    def _problem(self, training: TrainingData) -> Problem:
        made = prepare(
            training.rows,
            self._loss(),
            training.target,
            training.weight,
            fit_intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            penalty=self._penalty(),
            n_classes=training.n_joint,
            most=self._most_exponent,
        )
        return level_target(made)

    def _learn(self, training: TrainingData) -> Fitted:
        """Learn one model, or one a class."""
        return self._fit_lanes(
            solver_of(self._problem(training), self._solver_options()), training, self.C
        )

    def _fit_lanes(self, solver: Driver, training: TrainingData, regularization: float) -> Fitted:
        """Fit the models of all classes for one value of C or alpha."""
        return self._solve(solver, training, self._lanes(training, regularization))

    def _lanes(self, training: TrainingData, regularization: float) -> list[Lane]:
        return [Lane(float(regularization), target) for target in training.models]

    def _solve(self, solver: Driver, training: TrainingData, lanes: list[Lane]) -> Fitted:
        """Learn lanes; those of all rows come first, in the order of the models."""
        self._check_range(solver.problem, lanes)
        found = Solved.in_order(
            list(solver.solve(lanes, self._start(solver.problem, training, lanes)))
        )
        doubts = [
            self._check_lane(solver.problem, lane, found.solution.lane(k), training.classes)
            for k, lane in enumerate(lanes)
            if not math.isfinite(lane.C)
        ]
        return Fitted(
            solver.problem,
            found.solution,
            publish(solver.problem, lanes[: len(training.models)], found.solution),
            found.passes,
            found.solvers,
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
        if not self.warm_start or "_dual" not in self.__dict__:
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

    def _keep(
        self,
        fitted: Fitted,
        training: TrainingData,
        evidence: Mapping[str, Any] | None = None,
        *,
        warn: bool = True,
    ) -> None:
        """Make the model of a fit, and warn where it did not converge."""
        published = fitted.published
        self._columns = fitted.problem.columns if self.standardize else None
        self._certificates = published.certificates
        self._passes = fitted.passes
        self._dual = training.given.spread(published.dual)
        self._model = LinearModel(
            weights=np.ascontiguousarray(published.weights.T),
            intercept=published.intercept,
            classes=training.classes,
            link=self._link_of(training.classes),
            feature_names=self._column_names,
            encoder=self._encoder,
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family=self._family,
            evidence={**self._evidence_of(fitted), **(evidence or {})},
            calibration=fitted.calibration,
        )
        if warn:
            reason = self._warn_of_dominant_values(fitted, training)
            self._warn_of_gap(fitted, reason or fitted.reason(self._column_names), stacklevel=4)

    def _warn_of_dominant_values(self, fitted: Fitted, training: TrainingData) -> str:
        """Name values that leave nothing to learn from the others; return advice for slow fits."""
        found = lost_columns(fitted, training)
        text = message(found, self._name, FAR_FROM_OTHERS) if found else ""
        is_squared = training.classes is None and self._loss().is_quadratic
        target = dominated_target(training) if is_squared else []
        for each in (text, message(target, lambda _: "y") if target else ""):
            if each:
                warnings.warn(each, DominantValueWarning, stacklevel=5)
        converged = all(one.converged for one in fitted.certificates)
        return "" if converged else first_remedy(found, self._name)

    def _link_of(self, classes: NDArray[Any] | None) -> Link:
        """Return what scores of these classes mean."""
        del classes
        return self._link()

    def _evidence_of(self, fitted: Fitted) -> dict[str, Any]:
        """Return the evidence of a fit."""
        certificates = fitted.certificates
        names = ("primal", "dual", "gap", "relative_gap")
        numbers = {name: [getattr(one, name) for one in certificates] for name in names}
        solvers = fitted.solvers
        return {
            **{name: each[0] if len(each) == 1 else each for name, each in numbers.items()},
            "tol": certificates[0].tol,
            "converged": all(one.converged for one in certificates),
            "passes": fitted.passes.tolist(),
            "engine": solvers[0] if len(set(solvers)) == 1 else solvers,
        }

    def _warn_of_gap(self, fitted: Fitted, reason: str, stacklevel: int) -> None:
        warn_of_gap(
            type(self).__name__,
            self.regularization,
            fitted.certificates,
            int(fitted.passes.max()),
            reason,
            stacklevel=stacklevel + 1,
        )

    # ------------------------------------------------------------------ searches

    def path_solver(self, data: FoldData, splits: Sequence[Split]) -> PathSolver | None:
        """Return the solver of many C or alphas; see `separable.fitting.fold_fits`."""
        from separable.certified.fold_lanes import LaneSolver

        return LaneSolver(self, data, splits) if self._shares_folds() else None

    def fold_fits(
        self,
        problem: ValidationProblem,
        candidates: Sequence[Any],
        splits: Sequence[Split],
        *,
        certified: bool = True,
    ) -> Iterator[FoldFit] | None:
        """Return fits of all folds and candidates; see `separable.fitting.fold_fits`."""
        from separable.certified.fold_lanes import fold_fits

        if not self._shares_folds():
            return None
        return fold_fits(problem, candidates, splits, certified=certified)

    def growing_fits(
        self, problem: ValidationProblem, splits: Sequence[Split]
    ) -> Iterator[FoldFit] | None:
        """Return fits to more and more rows, warm-started; see `separable.fitting.fold_fits`."""
        from separable.certified.fold_lanes import growing_fits

        return growing_fits(problem, splits)

    def left_out(self, problem: ValidationProblem, *, approximate: bool) -> LeftOut | None:
        """Return leave-one-out estimates; see `separable.fitting.fold_fits`."""
        from separable.certified.loo.certified_loo import estimates

        return estimates(self, problem) if approximate else None

    # ------------------------------------------------------------------ the model

    @property
    def certificate_(self) -> Certificate:
        """How far from the optimum the fit is, at most; of all models together."""
        return sum(self.certificates_[1:], self.certificates_[0])

    @property
    def certificates_(self) -> list[Certificate]:
        """The certificate of each model: one, or one a class where these are learned apart."""
        certificates: list[Certificate] = self._of_fit("certificate_", "_certificates")
        return certificates

    @property
    def n_iter_(self) -> Any:
        """Passes, the most of any model."""
        passes = self._of_fit("n_iter_", "_passes")
        several = self._takes_targets and len(passes) > 1
        return passes.tolist() if several else int(passes.max())

    @property
    def dual_coef_(self) -> Floats:
        """The dual point that proves the certificate, (k, n), with the sign of the target.

        With the l2 penalty and without ``standardize``, ``dual_coef_ @ X`` are the weights that it
        stands for.
        """
        dual: Floats = self._of_fit("dual_coef_", "_dual")
        return dual.T

    def _of_fit(self, name: str, kept: str) -> Any:
        """Return what is kept of a fit."""
        check_is_fitted(self)
        if kept not in self.__dict__:
            raise changed_model_error(name)
        return self.__dict__[kept]

    def _take_model(self, model: LinearModel) -> None:
        for name in ("_certificates", "_passes", "_dual", "_columns"):
            self.__dict__.pop(name, None)
        self._model = model

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_targets
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None


def _drawn_seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


@lru_cache(maxsize=64)
def _seed_of(random_state: int) -> int:
    """Return the seed drawn from a fixed state; initializing a generator costs 0.1 ms."""
    return _drawn_seed(random_state)
