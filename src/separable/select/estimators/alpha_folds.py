"""Models of all folds and alphas for a search: from the sums of folds, or from the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.l2_certifier import CertifiedSolution
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

    from separable.certified.estimators.base import FoldData, TrainingData
    from separable.certified.estimators.base_elastic_net import PenalisedSquares
    from separable.certified.problem import Penalty
    from separable.certified.solvers.options import SolverOptions
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
    fold_data : FoldData
    splits : list of Split
    """

    owner: PenalisedSquares
    fold_data: FoldData
    splits: list[Split]

    def __post_init__(self) -> None:
        weight = self.fold_data.weight
        for fold, split in enumerate(self.splits):
            if weight is not None and len(split.test) and not weight[split.test].any():
                raise ValueError(
                    f"All rows that fold {fold} holds out have weight 0. Use fewer folds, or drop "
                    "rows of weight 0."
                )

    @cached_property
    def _sums(self) -> SummedFolds | None:
        """The sums of the folds; None: products of columns cost too much."""
        given = self.fold_data
        fewest = min(split.n_train for split in self.splits)
        if not suits_sums(fewest, given.rows.n_features, many=True):
            refuse_not_finite(given.rows)
            return None
        return SummedFolds(given.rows, self._target, given.weight, self.splits)

    @property
    def _target(self) -> Floats:
        return np.asarray(self.fold_data.target, dtype=np.float64)

    def alpha_max(self, penalty: Penalty) -> float:
        """Return the smallest alpha for which all weights are 0; 0 if they always are."""
        if self._sums is not None:
            return self.owner._gram(self._sums.total).alpha_max(penalty)
        problem = self.owner._problem(self.owner._training_data(self.fold_data))
        return alpha_max(replace(problem, penalty=penalty))

    def alphas(self, count: int, eps: float, penalty: Penalty) -> Floats:
        """Return so many alphas, from the smallest one of weights 0 down to eps times it."""
        return falling_alphas(self.alpha_max(penalty), eps, count)

    def learn(self, learner: PenalisedSquares, alphas: Floats) -> Iterator[FoldModels]:
        """Yield the models of all alphas, fold by fold."""
        solver_options = self.owner._solver_options()
        if self._sums is not None:
            lanes = SquareLanes(learner, self.fold_data, self.splits, alphas, solver_options)
            return lanes.each_fold(self._sums)
        return self._learn_from_rows(learner, alphas, solver_options)

    def _learn_from_rows(
        self, learner: PenalisedSquares, alphas: Floats, solver_options: SolverOptions
    ) -> Iterator[FoldModels]:
        waiting: dict[int, dict[int, Fitted]] = {}
        for one in FoldLanes(learner, self.fold_data, self.splits, alphas, solver_options).learn():
            result = waiting.setdefault(one.fold, {})
            result[one.place] = one.fitted
            if len(result) == len(alphas):
                del waiting[one.fold]
                models = SquareModels.side_by_side([result[k] for k in range(len(alphas))])
                problem = replace(one.fitted.problem, fold=None, weight=None)
                yield FoldModels(one.fold, self.splits[one.fold], models, problem, None)

    def mean_squares(self, found: FoldModels) -> Floats:
        """Return the mean squared errors of the rows that a fold held out, by alpha."""
        indices = np.arange(len(found.models.steps))
        errors = np.empty(len(indices))
        if found.sums is not None:
            errors, fraction = held_out_errors(
                found.sums, found.models.weights, fit_intercept=bool(self.owner.fit_intercept)
            )
            indices = np.flatnonzero(fraction < LEAST_SHARE)
        if len(indices):
            test = found.split.test
            weight = None if self.fold_data.weight is None else self.fold_data.weight[test]
            squares = (found.scores_of(indices) - self._target[test, None]) ** 2
            errors[indices] = np.average(squares, axis=0, weights=weight)
        return errors

    def last_fit(self, training: TrainingData, plain: PenalisedSquares, alphas: Floats) -> Fitted:
        """Return the model of all rows with the last of some alphas, learned one from the other."""
        if self._sums is None:
            return plain._learn(training)
        gram = plain._gram(self._sums.total)
        n, d = training.rows.shape
        models = models_of(
            gram,
            alphas,
            plain._penalty(),
            plain._solver_options(),
            lambda: plain._problem(training),
            is_small=n * d <= SMALL,
        )
        columns = columns_of(
            gram, standardize=bool(plain.standardize), is_sparse=training.rows.is_sparse
        )
        problem = Problem(training.rows, plain._loss(), training.target, columns=columns)
        u, b = columns.seen(models.weights[-1:].T, models.intercept[-1:])
        nothing, proofs = np.empty((0, 1)), models.certificates[-1:]
        solution = CertifiedSolution(u, b, nothing, proofs, np.zeros((n, 1)))
        published = Published(models.weights[-1:].T, models.intercept[-1:], proofs)
        return Fitted(problem, solution, published, models.steps[-1:], models.solvers[-1:])
