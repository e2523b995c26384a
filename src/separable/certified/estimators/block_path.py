"""Base class of learners with a block-separable penalty: alphas from the largest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import correlation_at
from separable.certified.duality.published import publish
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import TrainingData
from separable.certified.fold_lanes import FoldModels, LaneSolver
from separable.certified.number_range import lost_penalty
from separable.certified.preparation import PLAIN
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.options import SolverOptions
from separable.fitting.fold_fits import FoldData, PathSolver
from separable.fitting.splits import Split
from separable.linalg.blas import one_blas_thread
from separable.model.parameters import POSITIVE, Requirement
from separable.typing import Floats

BlockSolver = Callable[[Lane, Floats | None], tuple[CertifiedSolution, int, str]]


class BlockLearner(CertifiedEstimator):
    """A learner of the mean loss and alpha times a penalty over blocks of weights.

    Parameters
    ----------
    alpha : float
        Multiplier of the penalty.
    tol : float or None
        The requested relative gap, 1e-6 by default. Small problems are always solved to rounding.
    max_iter : int
        Maximum number of passes over the columns.
    callback : callable or None
        Called with the number of a round and the relative gap so far; returning ``True`` stops the
        fit.

    Attributes
    ----------
    n_iter_ : int
        Passes over the columns, the most of any model.
    """

    alpha: float

    _most_exponent = PLAIN  # the penalty takes the unit: nobody needs its square
    _requirements: ClassVar[dict[str, Requirement]] = {
        "alpha": Requirement(
            "a finite float > 0 (without a penalty use LeastSquares or LogisticRegression(C=inf))",
            POSITIVE.holds,
        ),
    }

    def _block_solver(self, problem: Problem) -> BlockSolver:
        """Return the solver of a lane from a start: solution, passes and name of the solver."""
        raise NotImplementedError

    def _alpha_of(self, problem: Problem, correlation: Floats) -> float:
        """Return the smallest alpha with all weights 0."""
        raise NotImplementedError

    def _shares_folds(self) -> bool:
        return False

    def path_solver(self, data: FoldData, splits: Sequence[Split]) -> PathSolver:
        """Return the solver of many alphas; see `separable.fitting.fold_fits`."""
        return BlockPathSolver(self, data, splits)

    def _how(self) -> dict[str, Any]:
        """Return the options of the solvers."""
        tol = SolverOptions(tol=self.tol).requested_tol
        return {"tol": tol, "max_iter": int(self.max_iter), "callback": self.callback}

    def _penalty_units(self, problem: Problem) -> Floats:
        """Return the size of the penalised weight of each column where the problem's is 1."""
        scale = problem.columns.scale
        if self.standardize or scale is None:
            return np.ones(problem.rows.n_features)
        return scale

    def _learn(self, training: TrainingData) -> Fitted:
        return self._learn_path(training, np.array([float(self.alpha)]))[0]

    def _learn_path(self, training: TrainingData, alphas: Floats) -> list[Fitted]:
        """Return the models of each alpha, learned from the largest on, each from the last.

        The objective is penalty(w) + C times the sum of weighted losses.
        """
        problem = replace(self._problem(training), value=1.0)
        starts = self._last_weights(problem, training)
        found: dict[int, Fitted] = {}
        with one_blas_thread(), np.errstate(over="ignore", under="ignore"):
            solver = self._block_solver(problem)
            for index in np.argsort(-alphas, kind="stable").tolist():
                alpha = float(alphas[index])
                lanes = [problem.alpha_lane(alpha, each) for each in training.models]
                solved = [solver(*pair) for pair in zip(lanes, starts, strict=True)]
                starts = [one.weights[:, 0] for one, _, _ in solved]
                inside = CertifiedSolution.side_by_side([one for one, _, _ in solved])
                whole = inside.times(alpha)
                is_done = self.standardize or all(one.converged for one in whole.certificates)
                found[index] = Fitted(
                    problem,
                    whole,
                    publish(problem, lanes, inside, alpha=alpha, is_blocks=True),
                    np.array([passes for _, passes, _ in solved]),
                    [name for _, _, name in solved],
                    doubt="" if is_done else lost_penalty(problem, alpha),
                )
        return [found[index] for index in range(len(alphas))]

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

    @property
    def n_iter_(self) -> int:
        """Passes over the columns, the most of any model."""
        return max(1, int(super().n_iter_))


@dataclass(frozen=True)
class BlockPathSolver(LaneSolver):
    """Solver of many alphas from all rows; a `PathSolver`."""

    learner: BlockLearner

    def largest(self) -> float:
        """Return alpha_max, the smallest alpha with all weights 0."""
        learner = self.learner
        training = learner._training_data(self.data)
        problem = replace(learner._problem(training), value=1.0)
        none = np.zeros(problem.rows.n_features)
        correlations = (
            correlation_at(problem, problem.alpha_lane(1.0, target), none)
            for target in training.models
        )
        return float(max(learner._alpha_of(problem, each) for each in correlations))

    def solve(
        self,
        values: Floats,
        *,
        certified: bool = True,
        tol: float | None = None,
        keep_weights: bool = True,
    ) -> Iterator[FoldModels]:
        """Yield the models of each alpha."""
        del certified, tol, keep_weights
        training = self.learner._training_data(self.data)
        codes = [] if training.classes is None else [*range(len(training.classes))]
        data = replace(self.data, classes=training.classes)
        for index, fitted in enumerate(self.learner._learn_path(training, values)):
            yield FoldModels.of(self.learner, data, 0, index, fitted, codes, training.models)
