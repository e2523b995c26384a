"""Models of all folds and alphas for a search: from the sums of folds, or from the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.l2_certifier import Judgement
from separable.certified.duality.published import Published
from separable.certified.estimators.base import Fitted
from separable.certified.fold_lanes import FoldLanes
from separable.certified.gram.fold_sums import SummedFolds, held_out_errors
from separable.certified.gram.gram_lanes import FoldModels, SquareLanes
from separable.certified.gram.gram_models import (
    SquareModels,
    alpha_max,
    columns_of,
    models_of,
    refuse_not_finite,
    suits_sums,
)
from separable.certified.problem import SMALL, Problem
from separable.select.estimators.search_table import falling_alphas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.certified.estimators.base import Lesson, Material
    from separable.certified.estimators.base_elastic_net import PenalisedSquares
    from separable.certified.problem import Penalty
    from separable.certified.solvers.l2 import Request
    from separable.fitting.splits import Split
    from separable.typing import Floats


__all__ = ["AlphaFolds"]

#: Below this share of what there was to predict, squared errors are computed from the rows.
LEAST_SHARE = 1e-6


@dataclass(frozen=True)
class AlphaFolds:
    """Learns from folds, and at last from all rows.

    Parameters
    ----------
    owner : PenalisedSquares
        Says what is done with columns.
    material : Material
    splits : list of Split
    """

    owner: PenalisedSquares
    material: Material
    splits: list[Split]

    def __post_init__(self) -> None:
        weight = self.material.weight
        for fold, split in enumerate(self.splits):
            if weight is not None and len(split.test) and not weight[split.test].any():
                raise ValueError(
                    f"All rows that fold {fold} holds out have weight 0. Use fewer folds, or drop "
                    "rows of weight 0."
                )

    @cached_property
    def _sums(self) -> SummedFolds | None:
        """The sums of the folds; None: products of columns cost too much."""
        given = self.material
        fewest = min(split.n_train for split in self.splits)
        if not suits_sums(fewest, given.rows.n_features, many=True):
            refuse_not_finite(given.rows)
            return None
        return SummedFolds(given.rows, self._target, given.weight, self.splits)

    @property
    def _target(self) -> Floats:
        return np.asarray(self.material.target, dtype=np.float64)

    def alpha_max(self, penalty: Penalty) -> float:
        """Return the smallest alpha for which all weights are 0; 0 if they always are."""
        if self._sums is not None:
            return self.owner._gram(self._sums.total).alpha_max(penalty)
        problem = self.owner._problem(self.owner._lesson(self.material))
        return alpha_max(replace(problem, penalty=penalty))

    def alphas(self, count: int, eps: float, penalty: Penalty) -> Floats:
        """Return so many alphas, from the smallest one of weights 0 down to eps times it."""
        return falling_alphas(self.alpha_max(penalty), eps, count)

    def learn(self, learner: PenalisedSquares, alphas: Floats) -> Iterator[FoldModels]:
        """Yield the models of all alphas, fold by fold."""
        request = self.owner._request()
        if self._sums is not None:
            lanes = SquareLanes(learner, self.material, self.splits, alphas, request)
            return lanes.each_fold(self._sums)
        return self._learn_from_rows(learner, alphas, request)

    def _learn_from_rows(
        self, learner: PenalisedSquares, alphas: Floats, request: Request
    ) -> Iterator[FoldModels]:
        waiting: dict[int, dict[int, Fitted]] = {}
        for one in FoldLanes(learner, self.material, self.splits, alphas, request).learn():
            found = waiting.setdefault(one.fold, {})
            found[one.place] = one.fitted
            if len(found) == len(alphas):
                del waiting[one.fold]
                models = SquareModels.side_by_side([found[k] for k in range(len(alphas))])
                problem = replace(one.fitted.problem, fold=None, weight=None)
                yield FoldModels(one.fold, self.splits[one.fold], models, problem, None)

    def mean_squares(self, found: FoldModels) -> Floats:
        """Return the mean squared errors of the rows that a fold held out, by alpha."""
        places = np.arange(len(found.models.steps))
        errors = np.empty(len(places))
        if found.sums is not None:
            errors, share = held_out_errors(
                found.sums, found.models.weights, fit_intercept=bool(self.owner.fit_intercept)
            )
            places = np.flatnonzero(share < LEAST_SHARE)
        if len(places):
            test = found.split.test
            weight = None if self.material.weight is None else self.material.weight[test]
            squares = (found.scores_of(places) - self._target[test, None]) ** 2
            errors[places] = np.average(squares, axis=0, weights=weight)
        return errors

    def last_fit(self, lesson: Lesson, plain: PenalisedSquares, alphas: Floats) -> Fitted:
        """Return the model of all rows with the last of some alphas, learned one from the other."""
        if self._sums is None:
            return plain._learn(lesson)
        gram = plain._gram(self._sums.total)
        n, d = lesson.rows.shape
        models = models_of(
            gram,
            alphas,
            plain._penalty(),
            plain._request(),
            lambda: plain._problem(lesson),
            is_small=n * d <= SMALL,
        )
        columns = columns_of(
            gram, standardize=bool(plain.standardize), is_sparse=lesson.rows.is_sparse
        )
        problem = Problem(lesson.rows, plain._loss(), lesson.target, columns=columns)
        u, b = columns.seen(models.weights[-1:].T, models.intercept[-1:])
        nothing, proofs = np.empty((0, 1)), models.certificates[-1:]
        judgement = Judgement(u, b, nothing, proofs, np.zeros((n, 1)))
        published = Published(models.weights[-1:].T, models.intercept[-1:], proofs)
        return Fitted(problem, judgement, published, models.steps[-1:], models.engines[-1:])
