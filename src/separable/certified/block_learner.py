"""What the learners share whose penalty is a sum over blocks: alpha, lanes and their answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.certified.estimator import CertifiedEstimator, Fitted
from separable.certified.judge import Judgement
from separable.certified.problem import Lane
from separable.fitting.threads import one_blas_thread
from separable.model.parameters import POSITIVE, Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.certificate import Certificate
    from separable.certified.estimator import Lesson
    from separable.certified.problem import Problem

    Floats = NDArray[np.float64]

__all__ = ["ALPHA", "BLOCK_REQUIREMENTS", "TOL", "BlockLearner"]

#: alpha of learners whose objective needs its penalty.
ALPHA = Requirement(
    "a finite float > 0 (without a penalty use LeastSquares or LogisticRegression(C=inf))",
    POSITIVE.holds,
)
#: The relative gap asked for by default.
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

    _requirements: ClassVar[dict[str, Requirement]] = {"alpha": ALPHA, **BLOCK_REQUIREMENTS}

    # ------------------------------------------------------------------ what a learner says

    def _solve_lanes(
        self, problem: Problem, lanes: list[Lane], starts: list[Floats | None]
    ) -> list[tuple[Judgement, int, str]]:
        """Return the model of each lane, the passes that it took and its engine.

        The objective is penalty(w) + strength times the sum of weighted losses.
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ learning

    @property
    def _tol(self) -> float:
        return TOL if self.tol is None else float(self.tol)

    def _learn(self, lesson: Lesson) -> Fitted:
        problem = replace(self._problem(lesson), value=1.0)
        total = lesson.rows.n_rows if lesson.weight is None else float(lesson.weight.sum())
        lanes = [Lane(1.0 / (float(self.alpha) * total), target) for target in lesson.models]
        with one_blas_thread(), np.errstate(over="ignore", under="ignore"):
            solved = self._solve_lanes(problem, lanes, self._last_weights(problem, lesson))
        models = [_times(one, float(self.alpha)) for one, _, _ in solved]
        return Fitted(
            problem,
            Judgement.side_by_side(models),
            np.array([passes for _, passes, _ in solved]),
            [engine for _, _, engine in solved],
        )

    def _last_weights(self, problem: Problem, lesson: Lesson) -> list[Floats | None]:
        """Return where a warm start goes on from: the weights of the last fit."""
        none: list[Floats | None] = [None] * len(lesson.models)
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return none
        last, d = self._weights_only().weights, lesson.rows.n_features
        if last.shape != (len(lesson.models), d):
            return none
        scale = problem.columns.scale
        if scale is None:
            return [w.copy() for w in last]
        return [np.divide(w, scale, out=np.zeros(d), where=scale > 0) for w in last]

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
        """The dual point that proves the certificate, (k, n): slopes of the loss, made feasible."""
        check_is_fitted(self)
        return self._dual.T


def _times(one: Judgement, alpha: float) -> Judgement:
    """Return a model with what is said of the objective that is alpha times as large."""
    proofs = [proof.times(alpha) for proof in one.certificates]
    return replace(one, certificates=proofs, dual=alpha * one.dual)
