"""Base class of lasso and elastic net."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separable.certified.duality.published import Published, publish
from separable.certified.duality.residual_certificate import certify_residuals
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import TrainingData
from separable.certified.gram.gram_models import (
    alpha_max,
    certify_alpha,
    columns_of,
    learn_from_rows,
    refuse_not_finite,
    with_end,
)
from separable.certified.gram.gram_problem import GramProblem
from separable.certified.gram.gram_sums import gram_problem, sums_of
from separable.certified.number_range import lost_penalty
from separable.certified.preparation import level_target
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import as_rows
from separable.fitting.fold_fits import FoldData, PathSolver
from separable.fitting.splits import Split
from separable.fitting.targets import check_numbers
from separable.losses.loss import SQUARED_ERROR, Loss
from separable.model.parameters import BOOL, NOT_NEGATIVE, Requirement
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.penalties.signed_ridge import SignedRidgePenalty
from separable.statistics.moments import Moments
from separable.typing import Floats

#: Columns whose deviations are below this, or above its inverse, are brought to a common scale.
EXTREME = 2.0**-30
#: Numbers in X from which float64 passes are cheaper than one in twice the precision (measured:
#: equal at 2e5).
MANY_NUMBERS = 200_000
#: The penalty of alpha=0, as a fraction of the one that makes all weights 0: it is lost in
#: rounding, and keeps the problem penalised.
ALMOST_NONE = 1e-12


@dataclass(eq=False, repr=False)
class PenalisedSquares(CertifiedEstimator):
    """Minimises 1/2 mean (y - w.x - b)^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2).

    Parameters
    ----------
    alpha : float
        Multiplier of the penalty. 0 is least squares, with a warning: ``LeastSquares`` is exact.
    positive : bool
        Constrain the weights to be non-negative.
    tol : float or None
        The requested relative gap. None: 1e-6. Small problems are always solved to rounding.
    max_iter : int
        Maximum number of passes over the columns.

    Attributes
    ----------
    dual_gap_ : float
        The gap of the certificate.
    n_iter_ : int
        Passes over the columns.
    evidence_ : dict
        The certificate's numbers, ``passes``, ``engine`` and ``nonzeros``.
    """

    _estimator_type = "regressor"

    alpha: float = 1.0
    _: KW_ONLY
    positive: bool = False
    n_jobs: int | None = None

    random_state = 0  # of no use: passes go over the columns in their order

    _column_target = "intercept"
    _takes_targets = True
    _requirements: ClassVar[dict[str, Requirement]] = {"alpha": NOT_NEGATIVE, "positive": BOOL}

    # ------------------------------------------------------------------ the problem

    def _ratio(self) -> float:
        """Return l1_ratio."""
        return 1.0

    def _penalty(self) -> ElasticNetPenalty:
        return ElasticNetPenalty(self._ratio(), bool(self.positive))

    def _loss(self) -> Loss:
        return SQUARED_ERROR

    def _read(self, X: Any, y: Any, sample_weight: Any) -> FoldData:
        """Check rows, target and weights; what is not finite in an array shows in its sums."""
        if type(X) is not np.ndarray or sample_weight is not None:
            return super()._read(X, y, sample_weight)
        rows = as_rows(X, check_values=False)
        if not self._default_options.gram.suits(*rows.shape, is_path=False):
            refuse_not_finite(rows)
        return FoldData(rows, check_numbers(y, rows.n_rows, type(self).__name__), None, None)

    def _lane(self, problem: Problem, regularization: float, target: int, fold: int) -> Lane:
        return problem.alpha_lane(regularization, target, fold)

    def _rescaled(self, published: Published, regularization: float) -> Published:
        return published.times(regularization)

    def path_solver(self, data: FoldData, splits: Sequence[Split]) -> PathSolver | None:
        """Return the solver of many alphas; see `separable.fitting.fold_fits`."""
        if self._is_constrained:
            return super().path_solver(data, splits)
        from separable.certified.gram.gram_lanes import AlphaSolver

        return AlphaSolver(self, data, splits)

    def _gram(self, sums: Moments) -> GramProblem:
        return gram_problem(
            sums, fit_intercept=bool(self.fit_intercept), standardize=bool(self.standardize)
        )

    def _has_left_out(self, data: FoldData) -> bool:
        del data
        return not self._is_constrained

    # ------------------------------------------------------------------ learning

    def check_parameters(self) -> None:
        """Check the parameters; warn of alpha=0."""
        super().check_parameters()
        self._check_constraints()
        if self.alpha == 0:
            exact = "LeastSquares(positive=True)" if self.positive else "LeastSquares"
            warnings.warn(
                f"With alpha=0, {type(self).__name__} has no penalty, and this algorithm does not "
                f"converge well. You are advised to use {exact}, which is exact.",
                UserWarning,
                stacklevel=4,
            )

    def _check_constraints(self) -> None:
        """Refuse constraints that do not go with the penalty."""

    def _learn(self, training: TrainingData) -> Fitted:
        """Fit from the Gram matrix if that is cheap, certified by the rows; else from the rows."""
        if self._is_constrained:
            return self._learn_constrained(training)
        start, steps = self._last_weights(training), 0
        solver_options, end = with_end(self._solver_options())
        if solver_options.gram.suits(*training.rows.shape, is_path=False):
            first = replace(
                solver_options,
                max_iter=solver_options.l1.sweeps(training.rows, solver_options.max_iter),
            )
            fitted = self._learn_from_sums(training, first, start)
            steps = int(fitted.passes[0])
            converged = fitted.solution.certificates[0].converged
            if converged or end.stop_requested or steps >= solver_options.max_iter:
                return fitted
            solver_options = replace(solver_options, max_iter=solver_options.max_iter - steps)
            start = fitted.published.weights[:, 0]
        problem = self._problem(training)
        alpha = self._level(lambda: alpha_max(replace(problem, penalty=ElasticNetPenalty(1.0))))
        doubt = "" if self.standardize else lost_penalty(problem, alpha)
        solved, published = learn_from_rows(problem, alpha, solver_options, start)
        if published.certificates[0].converged:
            doubt = ""
        passes = solved.passes + steps
        return Fitted(problem, solved.solution, published, passes, solved.solvers, doubt=doubt)

    def _level(self, largest: Callable[[], float]) -> float:
        """Return alpha; for 0 one that is lost in rounding beside the largest that matters."""
        return float(self.alpha) or ALMOST_NONE * largest() or 1.0

    @property
    def _is_constrained(self) -> bool:
        return isinstance(self._penalty(), SignedRidgePenalty)

    def _learn_constrained(self, training: TrainingData) -> Fitted:
        """Fit weights of given signs, from the rows."""
        problem, alpha = self._problem(training), float(self.alpha)
        lanes = [problem.alpha_lane(alpha)]
        start = self._start(problem, training, lanes)
        (solved,) = solver_of(problem, self._solver_options()).solve(lanes, start)
        published = publish(problem, lanes, solved.solution, alpha=alpha)
        return Fitted(problem, solved.solution, published, solved.passes, solved.solvers)

    def _learn_from_sums(
        self, training: TrainingData, solver_options: SolverOptions, start: Floats | None
    ) -> Fitted:
        target = np.asarray(training.target, dtype=np.float64)
        gram = self._gram(sums_of(training.rows, target, training.weight))
        problem = self._problem_of(training, gram)
        alpha = self._level(lambda: gram.alpha_max(ElasticNetPenalty(1.0)))
        tol = solver_options.requested_tol
        w, b, steps = gram.model(
            alpha, self._penalty(), solver_options, start, is_small=problem.is_small
        )
        problem.alpha_lane(alpha)  # refuses an alpha that float64 cannot hold
        certified = None
        if training.rows.n_rows * training.rows.n_features <= MANY_NUMBERS:
            certified = certify_residuals(problem, gram, target, alpha, w, b, tol)
        if certified is None:
            certified = certify_alpha(problem, alpha, w, tol)
        return Fitted(problem, *certified, steps, ["sums"])

    def _problem_of(self, training: TrainingData, gram: GramProblem) -> Problem:
        """Return the problem for certificates, with means and deviations from the Gram matrix."""
        rows = training.rows
        plain = self.standardize or EXTREME < float(gram.length.max(initial=0.0)) < 1 / EXTREME
        if rows.is_sparse or not plain:
            return self._problem(training)
        columns = columns_of(gram, standardize=bool(self.standardize), is_sparse=False)
        if gram.fit_intercept:
            columns = replace(columns, shift=gram.mean)
        return level_target(
            Problem(
                rows,
                self._loss(),
                training.target,
                training.weight,
                fit_intercept=gram.fit_intercept,
                columns=columns,
                penalty=self._penalty(),
                extent=gram.extent(rows.n_rows, training.weight),
            )
        )

    def _last_weights(self, training: TrainingData) -> Floats | None:
        """Return the weights that a warm start goes on from."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        last: Floats = self._weights_only().weights[0]
        return last if len(last) == training.rows.n_features else None

    def _evidence_of(self, fitted: Fitted) -> dict[str, Any]:
        nonzeros = int(np.count_nonzero(fitted.published.weights))
        return {**super()._evidence_of(fitted), "nonzeros": nonzeros}

    # ------------------------------------------------------------------ what was found

    @property
    def dual_gap_(self) -> Any:
        """The gap of the certificate: the objective is at most so much above the optimum.

        An array, one number a target, of several targets.
        """
        gaps = [one.gap for one in self.certificates_]
        return gaps[0] if len(gaps) == 1 else np.array(gaps)
