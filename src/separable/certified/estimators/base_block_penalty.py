"""Base class of estimators with a block-separable penalty."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.certified.duality.block_certifier import correlation_at
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.duality.published import publish
from separable.certified.estimators.base import CertifiedEstimator, Fitted
from separable.certified.number_range import lost_penalty
from separable.certified.preparation import PLAIN
from separable.linalg.blas import one_blas_thread
from separable.model.parameters import POSITIVE, Requirement

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.certified.duality.certificate import Certificate
    from separable.certified.estimators.base import TrainingData
    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

    BlockSolver = Callable[[Lane, Floats | None], tuple[CertifiedSolution, int, str]]

__all__ = ["ALPHA", "BLOCK_REQUIREMENTS", "TOL", "BlockLearner"]

#: alpha of learners whose objective needs its penalty.
ALPHA = Requirement(
    "a finite float > 0 (without a penalty use LeastSquares or LogisticRegression(C=inf))",
    POSITIVE.holds,
)
#: The requested relative gap by default.
TOL = 1e-6
#: What these learners ask of their parameters: nothing is random here, and there is one thread.
BLOCK_REQUIREMENTS = {
    name: requirement
    for name, requirement in CertifiedEstimator._requirements.items()
    if name not in ("random_state", "n_jobs")
}


class BlockLearner(CertifiedEstimator):
    """A learner of the mean loss and alpha times a penalty that is a sum over blocks."""

    alpha: float

    _most_exponent = PLAIN  # the penalty takes the unit: nobody needs its square
    _requirements: ClassVar[dict[str, Requirement]] = {"alpha": ALPHA, **BLOCK_REQUIREMENTS}

    # ------------------------------------------------------------------ what a learner says

    def _block_solver(self, problem: Problem) -> BlockSolver:
        """Return a function that solves a lane: solution, passes and solver name.

        The objective is penalty(w) + C times the sum of weighted losses.
        """
        raise NotImplementedError

    def _alpha_of(self, problem: Problem, correlation: Floats) -> float:
        """Return alpha_max, given minus the gradient of the mean loss at 0."""
        raise NotImplementedError

    # ------------------------------------------------------------------ learning

    @property
    def _tol(self) -> float:
        return TOL if self.tol is None else float(self.tol)

    def _learn(self, training: TrainingData) -> Fitted:
        return self._learn_path(training, np.array([float(self.alpha)]))[0]

    def _learn_path(self, training: TrainingData, alphas: Floats) -> list[Fitted]:
        """Return the models of each alpha, learned from the largest on, each from the last."""
        problem = replace(self._problem(training), value=1.0)
        starts = self._last_weights(problem, training)
        found: dict[int, Fitted] = {}
        with one_blas_thread(), np.errstate(over="ignore", under="ignore"):
            solver = self._block_solver(problem)
            for place in np.argsort(-alphas, kind="stable").tolist():
                alpha = float(alphas[place])
                lanes = [problem.alpha_lane(alpha, each) for each in training.models]
                solved = [solver(*pair) for pair in zip(lanes, starts, strict=True)]
                starts = [one.weights[:, 0] for one, _, _ in solved]
                whole = CertifiedSolution.side_by_side([one.times(alpha) for one, _, _ in solved])
                is_done = self.standardize or all(one.converged for one in whole.certificates)
                inside = CertifiedSolution.side_by_side([one for one, _, _ in solved])
                found[place] = Fitted(
                    problem,
                    whole,
                    publish(problem, lanes, inside, is_blocks=True).times(alpha),
                    np.array([passes for _, passes, _ in solved]),
                    [name for _, _, name in solved],
                    doubt="" if is_done else lost_penalty(problem, alpha),
                )
        return [found[place] for place in range(len(alphas))]

    def _largest_alpha(self, training: TrainingData) -> float:
        """Return alpha_max, the smallest alpha with all weights 0."""
        problem = replace(self._problem(training), value=1.0)
        none = np.zeros(problem.rows.n_features)
        correlations = (
            correlation_at(problem, problem.alpha_lane(1.0, target), none)
            for target in training.models
        )
        return max(self._alpha_of(problem, correlation) for correlation in correlations)

    def _last_weights(self, problem: Problem, training: TrainingData) -> list[Floats | None]:
        """Return where a warm start goes on from: the weights of the last fit."""
        none: list[Floats | None] = [None] * len(training.models)
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return none
        last, d = self._weights_only().weights, training.rows.n_features
        if last.shape != (len(training.models), d):
            return none
        weights, _ = problem.columns.seen(last.T, np.zeros(len(last)))
        return [np.ascontiguousarray(one) for one in weights.T]

    def _penalty_units(self, problem: Problem) -> Floats:
        """Return the size of the penalised weight of each column where the problem's is 1."""
        scale = problem.columns.scale
        if self.standardize or scale is None:
            return np.ones(problem.rows.n_features)
        return scale

    def _advice(self, worst: Certificate) -> str:
        del worst
        return (
            "More passes (max_iter), scaled columns (standardize=True) or a larger alpha bring it "
            "closer."
        )

    @property
    def n_iter_(self) -> int:
        """Passes over the columns, the most of any model."""
        check_is_fitted(self)
        return max(1, int(self._passes.max()))

    @property
    def dual_coef_(self) -> Floats:
        """The dual point that proves the certificate, (k, n): the scaled negative gradient."""
        check_is_fitted(self)
        return self._dual.T
