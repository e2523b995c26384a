"""Models of all folds and alphas from the Gram matrices of the folds; see `FoldLanes`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.duality.published import Published
from separable.certified.estimators.base import Fitted, RowMask, TrainingData
from separable.certified.fold_lanes import Learned
from separable.certified.gram.fold_sums import SummedFolds
from separable.certified.gram.gram_models import columns_of, models_of, with_end
from separable.certified.problem import SMALL, Problem
from separable.certified.solvers.parallel import parallel_map
from separable.model.predict.scores import linear_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.certified.estimators.base import FoldData
    from separable.certified.estimators.base_elastic_net import PenalisedSquares
    from separable.certified.gram.fold_sums import FoldSums
    from separable.certified.gram.gram_models import SquareModels
    from separable.certified.solvers.options import SolverOptions
    from separable.fitting.splits import Split
    from separable.typing import Floats


__all__ = ["FoldModels", "SquareLanes"]


@dataclass(frozen=True)
class FoldModels:
    """The models of one fold, with all alphas.

    Parameters
    ----------
    fold : int
    split : Split
    models : SquareModels
    problem : Problem
        All rows, those held out too; its columns are what models are told of.
    sums : FoldSums or None
        What they were learned from; None: the rows.
    """

    fold: int
    split: Split
    models: SquareModels
    problem: Problem
    sums: FoldSums | None

    @cached_property
    def scores(self) -> Floats:
        """Of the rows held out, (m, K)."""
        return self.scores_of(slice(None))

    def scores_of(self, places: Any) -> Floats:
        """Return the scores of the rows held out, of some models."""
        rows = self.problem.rows.take(self.split.test)
        return linear_scores(rows, self.models.weights[places], self.models.intercept[places])

    def learned(self, place: int) -> Learned:
        """Return one of the models, as `FoldLanes` has them."""
        one, models = slice(place, place + 1), self.models
        u, b = self.problem.columns.seen(models.weights[one].T, models.intercept[one])
        solution = CertifiedSolution(
            u, b, self.scores[:, one], models.certificates[one], np.empty((0, 1))
        )
        published = Published(
            models.weights[one].T, models.intercept[one], models.certificates[one]
        )
        fitted = Fitted(self.problem, solution, published, models.steps[one], models.solvers[one])
        return Learned(self.fold, place, fitted, [], [1])


@dataclass(frozen=True)
class SquareLanes:
    """Learns the models of all folds and alphas from sums.

    Parameters
    ----------
    learner : PenalisedSquares
        Says the penalty, and what is done with columns.
    fold_data : FoldData
    splits : sequence of Split
    alphas : ndarray, shape (s,)
        Alphas.
    solver_options : SolverOptions
    """

    learner: PenalisedSquares
    fold_data: FoldData
    splits: Sequence[Split]
    alphas: Floats
    solver_options: SolverOptions

    def learn(self) -> Iterator[Learned]:
        """Yield the models of each fold and alpha."""
        given = self.fold_data
        sums = SummedFolds(given.rows, self._target, given.weight, self.splits)
        for found in self.each_fold(sums):
            for place in range(len(self.alphas)):
                yield found.learned(place)

    def each_fold(self, folds: SummedFolds) -> Iterator[FoldModels]:
        """Yield the models of all alphas, fold by fold."""
        solver_options, end = with_end(self.solver_options)
        learn = partial(self._learn, folds, solver_options)
        yield from parallel_map(range(len(self.splits)), learn, self.solver_options.n_jobs, end)

    def _learn(self, folds: SummedFolds, solver_options: SolverOptions, fold: int) -> FoldModels:
        rows, learner, split = self.fold_data.rows, self.learner, self.splits[fold]
        sums = folds.of_fold(fold)
        gram = learner._gram(sums.learned)
        models = models_of(
            gram,
            self.alphas,
            learner._penalty(),
            solver_options,
            partial(self._problem, split),
            is_small=split.n_train * rows.n_features <= SMALL,
        )
        columns = columns_of(gram, standardize=bool(learner.standardize), is_sparse=rows.is_sparse)
        problem = Problem(rows, learner._loss(), self._target, columns=columns)
        return FoldModels(fold, split, models, problem, sums)

    @property
    def _target(self) -> Floats:
        return np.asarray(self.fold_data.target, dtype=np.float64)

    def _problem(self, split: Split) -> Problem:
        """Return the problem of the rows that a fold trains on."""
        train, weight = split.train, self.fold_data.weight
        if weight is not None:
            train = train[weight[train] > 0]
        training = TrainingData(
            self.fold_data.rows.take(train),
            self.fold_data.target[train],
            None if weight is None else weight[train],
            None,
            RowMask(len(train)),
        )
        return self.learner._problem(training)
