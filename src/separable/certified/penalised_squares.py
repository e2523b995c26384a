"""What learners of least squares with an l1 or elastic net penalty share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.certified.estimator import Fitted
from separable.certified.losses import SquaredError
from separable.certified.problem import Lane, Penalty
from separable.certified.regressor import CertifiedRegressor
from separable.certified.square_models import (
    in_alpha,
    judge_alpha,
    learn_from_rows,
    limits_of,
    suits_sums,
    total_weight,
    with_end,
)
from separable.certified.square_sums import gram_problem, sums_of
from separable.model.parameters import BOOL, POSITIVE, Requirement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.certificate import Certificate
    from separable.certified.estimator import Lesson, Material
    from separable.certified.fold_lanes import LearnsFolds
    from separable.certified.gram_problem import GramProblem
    from separable.certified.judge import Judgement
    from separable.certified.losses import Loss
    from separable.certified.problem import Problem
    from separable.certified.solve import Request
    from separable.fitting.splits import Split
    from separable.moments.moments import Moments

    Floats = NDArray[np.float64]

__all__ = ["NET_REQUIREMENTS", "PenalisedSquares"]

#: Of parameters that all of these learners have.
NET_REQUIREMENTS: dict[str, Requirement] = {
    "positive": BOOL,
    **{
        name: each
        for name, each in CertifiedRegressor._requirements.items()
        if name != "random_state"
    },
}


class PenalisedSquares(CertifiedRegressor):
    """Minimises 1/2 mean (y - w.x - b)^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)."""

    alpha: float
    positive: bool
    random_state = 0  # of no use: passes go over the columns in their order

    _strength = "alpha"
    _requirements: ClassVar[dict[str, Requirement]] = {"alpha": POSITIVE, **NET_REQUIREMENTS}

    # ------------------------------------------------------------------ the problem

    def _ratio(self) -> float:
        """Return l1_ratio."""
        return 1.0

    def _penalty(self) -> Penalty:
        return Penalty(self._ratio(), bool(self.positive))

    def _loss(self) -> Loss:
        return SquaredError()

    def _problem(self, lesson: Lesson) -> Problem:
        return replace(super()._problem(lesson), penalty=self._penalty())

    def _lane(self, problem: Problem, strength: float, target: int, fold: int) -> Lane:
        return Lane(1.0 / (strength * total_weight(problem, fold)), target, fold)

    def _as_asked(self, judgement: Judgement, strength: float) -> Judgement:
        return in_alpha(judgement, strength)

    def _sum_lanes(
        self, material: Material, splits: Sequence[Split], strengths: Floats, request: Request
    ) -> LearnsFolds | None:
        from separable.certified.square_lanes import SquareLanes

        fewest = min(split.n_train for split in splits)
        if not suits_sums(fewest, material.rows.n_features, many=len(strengths) > 1):
            return None
        return SquareLanes(self, material, splits, strengths, request)

    def _gram(self, sums: Moments) -> GramProblem:
        return gram_problem(
            sums, fit_intercept=bool(self.fit_intercept), standardize=bool(self.standardize)
        )

    # ------------------------------------------------------------------ learning

    def _learn(self, lesson: Lesson) -> Fitted:
        """Learn from sums where these are cheap, and judge by the rows; else from the rows."""
        problem = self._problem(lesson)
        start = self._last_weights(lesson)
        request, end = with_end(self._request())
        if suits_sums(*lesson.rows.shape, many=False):
            fitted = self._learn_from_sums(lesson, problem, request, start)
            if fitted.judgement.certificates[0].converged or end.asked.is_set():
                return fitted
            start = fitted.problem.columns.raw(
                fitted.judgement.weights, fitted.judgement.intercept
            )[0][:, 0]
        solved = learn_from_rows(problem, float(self.alpha), request, start)
        return Fitted(problem, solved.judgement, solved.passes, solved.engines)

    def _learn_from_sums(
        self, lesson: Lesson, problem: Problem, request: Request, start: Floats | None
    ) -> Fitted:
        target = np.asarray(lesson.target, dtype=np.float64)
        gram = self._gram(sums_of(lesson.rows, target, lesson.weight))
        limits = limits_of(request, is_small=problem.is_small)
        alphas = np.array([float(self.alpha)])
        path = gram.path(alphas, self._penalty(), limits, start)
        judgement = judge_alpha(problem, float(self.alpha), path.weights[0], limits.tol)
        return Fitted(problem, judgement, path.steps, ["sums"])

    def _last_weights(self, lesson: Lesson) -> Floats | None:
        """Return the weights that a warm start goes on from."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        last: Floats = self._weights_only().weights[0]
        return last if len(last) == lesson.rows.n_features else None

    def _told(self, fitted: Fitted) -> dict[str, Any]:
        nonzeros = int(np.count_nonzero(fitted.judgement.weights))
        return {**super()._told(fitted), "nonzeros": nonzeros}

    def _advice(self, worst: Certificate) -> str:
        del worst
        return (
            "More passes (max_iter), scaled columns (standardize=True) or a larger alpha bring it "
            "closer."
        )

    # ------------------------------------------------------------------ what was found

    @property
    def n_iter_(self) -> Any:
        """Passes over the columns."""
        check_is_fitted(self)
        return int(self._passes.max())

    @property
    def dual_gap_(self) -> float:
        """The gap of the certificate: the objective is at most so much above the optimum."""
        return self.certificate_.gap
