"""Paths of learners with a block-separable penalty: alphas from the largest on, warm-started."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import correlation_at
from separable.certified.duality.published import publish
from separable.certified.estimators.base import SOLVER_PARAMETERS
from separable.certified.estimators.fitted import Fitted
from separable.certified.fold_lanes import FoldModels, LaneSolver
from separable.certified.number_range import lost_penalty
from separable.linalg.blas import one_blas_thread
from separable.model.parameters import POSITIVE, Requirement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from separable.certified.estimators.training_data import TrainingData
    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

    BlockSolver = Callable[[Lane, Floats | None], tuple[CertifiedSolution, int, str]]

__all__ = ["BLOCK_PARAMETERS", "BlockPathSolver", "fit_blocks", "penalty_units", "tol_of"]

#: The requested relative gap by default.
TOL = 1e-6
#: What the parameters of these learners must be: nothing is random here, and there is one thread.
BLOCK_PARAMETERS: dict[str, Requirement] = {
    "alpha": Requirement(
        "a finite float > 0 (without a penalty use LeastSquares or LogisticRegression(C=inf))",
        POSITIVE.holds,
    ),
    **{
        name: each
        for name, each in SOLVER_PARAMETERS.items()
        if name not in ("random_state", "n_jobs")
    },
}


def tol_of(learner: Any) -> float:
    """Return the requested relative gap."""
    return TOL if learner.tol is None else float(learner.tol)


def penalty_units(learner: Any, problem: Problem) -> Floats:
    """Return the size of the penalised weight of each column where the problem's is 1."""
    scale = problem.columns.scale
    if learner.standardize or scale is None:
        return np.ones(problem.rows.n_features)
    return scale


def fit_blocks(learner: Any, training: TrainingData, alphas: Floats) -> list[Fitted]:
    """Return the models of each alpha, learned from the largest on, each from the last.

    ``learner._block_solver(problem)`` returns a function that solves a lane: solution, passes and
    solver name. The objective is penalty(w) + C times the sum of weighted losses.
    """
    problem = replace(learner._problem(training), value=1.0)
    starts = _last_weights(learner, problem, training)
    found: dict[int, Fitted] = {}
    with one_blas_thread(), np.errstate(over="ignore", under="ignore"):
        solver: BlockSolver = learner._block_solver(problem)
        for place in np.argsort(-alphas, kind="stable").tolist():
            alpha = float(alphas[place])
            lanes = [problem.alpha_lane(alpha, each) for each in training.models]
            solved = [solver(*pair) for pair in zip(lanes, starts, strict=True)]
            starts = [one.weights[:, 0] for one, _, _ in solved]
            whole = CertifiedSolution.side_by_side([one.times(alpha) for one, _, _ in solved])
            is_done = learner.standardize or all(one.converged for one in whole.certificates)
            inside = CertifiedSolution.side_by_side([one for one, _, _ in solved])
            found[place] = Fitted(
                problem,
                whole,
                publish(problem, lanes, inside, alpha=alpha, is_blocks=True),
                np.array([passes for _, passes, _ in solved]),
                [name for _, _, name in solved],
                doubt="" if is_done else lost_penalty(problem, alpha),
            )
    return [found[place] for place in range(len(alphas))]


def _last_weights(learner: Any, problem: Problem, training: TrainingData) -> list[Floats | None]:
    """Return where a warm start goes on from: the weights of the last fit."""
    none: list[Floats | None] = [None] * len(training.models)
    if not learner.warm_start or not learner.__sklearn_is_fitted__():
        return none
    last, d = learner._weights_only().weights, training.rows.n_features
    if last.shape != (len(training.models), d):
        return none
    weights, _ = problem.columns.seen(last.T, np.zeros(len(last)))
    return [np.ascontiguousarray(one) for one in weights.T]


@dataclass(frozen=True)
class BlockPathSolver(LaneSolver):
    """Solver of many alphas from all rows; a `PathSolver`."""

    def largest(self) -> float:
        """Return alpha_max, the smallest alpha with all weights 0."""
        learner: Any = self.learner
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
        for index, fitted in enumerate(self.learner._learn_path(training, values)):  # type: ignore[attr-defined]
            yield FoldModels.of(self.learner, data, 0, index, fitted, codes, training.models)
