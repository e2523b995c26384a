"""Paths of the lasso and the elastic net on all folds: from Gram matrices, or from the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.published import Published
from separable.certified.estimators.base_elastic_net import PenalisedSquares
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import RowMask, TrainingData
from separable.certified.fold_lanes import FoldModels, LaneSolver
from separable.certified.gram.gram_models import (
    alpha_max,
    columns_of,
    models_of,
    refuse_not_finite,
    with_end,
)
from separable.certified.gram.gram_problem import SquareModels
from separable.certified.gram.gram_sums import FoldSums, SummedFolds, held_out_errors
from separable.certified.problem import SMALL, Columns, Problem
from separable.certified.solvers.options import GramOptions, SolverOptions
from separable.certified.solvers.parallel import parallel_map
from separable.fitting.fold_fits import FoldPath
from separable.fitting.splits import Split
from separable.linalg.design_matrix import DesignMatrix, design_matrix, take_columns
from separable.model.predict.scores import linear_scores
from separable.statistics.moments import Moments
from separable.typing import Floats, Indices

#: Below this fraction of what there was to predict, squared errors are computed from the rows.
LEAST_FRACTION = 1e-6
#: Models whose optimality is checked together.
LANES = 16


@dataclass(frozen=True)
class AlphaPath(FoldPath):
    """The models of one fold, with all alphas.

    Parameters
    ----------
    problem : Problem
        All rows, those held out too; its columns are what models are told of.
    sums : FoldSums or None
        What they were learned from; None: the rows.
    """

    solver: AlphaSolver
    models: SquareModels
    problem: Problem
    sums: FoldSums | None

    @staticmethod
    def of(
        solver: AlphaSolver, fold: int, models: SquareModels, problem: Problem, sums: Any
    ) -> AlphaPath:
        """Return the models of a fold, learned from sums or, without these, from the rows."""
        return AlphaPath(
            fold,
            [*range(len(models.steps))],
            [0],
            None,
            models.weights[:, None, :],
            models.intercept[:, None],
            [[one] for one in models.certificates],
            models.steps,
            solver,
            models,
            problem,
            sums,
        )

    @property
    def _test(self) -> NDArray[np.intp]:
        return self.solver.splits[self.fold].test

    @cached_property
    def _scores(self) -> Floats:
        return self._scores_of(slice(None))

    def _scores_of(self, positions: Any) -> Floats:
        rows = self.problem.rows.take(self._test)
        return linear_scores(rows, self.models.weights[positions], self.models.intercept[positions])

    def scores(self, position: int) -> Floats:
        """Return the scores of the held-out rows with one alpha, (m, 1)."""
        return self._scores[:, position : position + 1]

    def squared_errors(self) -> Floats:
        """Return the mean squared error of the held-out rows with each alpha."""
        positions = np.arange(len(self.models.steps))
        errors = np.empty(len(positions))
        if self.sums is not None:
            errors, fraction = held_out_errors(
                self.sums,
                self.models.weights,
                fit_intercept=bool(self.solver.learner.fit_intercept),
            )
            positions = np.flatnonzero(fraction < LEAST_FRACTION)
        if len(positions):
            data, test = self.solver.data, self._test
            weight = None if data.weight is None else data.weight[test]
            target = np.asarray(data.target[test], dtype=np.float64)
            squares = (self._scores_of(positions) - target[:, None]) ** 2
            errors[positions] = np.average(squares, axis=0, weights=weight)
        return errors

    def _model(self, position: int) -> FoldModels:
        """Return one of the models, with its held-out scores."""
        one, models = slice(position, position + 1), self.models
        scores = self._scores[:, one] if len(self._test) else np.empty((0, 1))
        fitted = _fitted(models, one, self.problem, scores, np.empty((0, 1)))
        return FoldModels.of(
            self.solver.learner, self.solver.data, self.fold, position, fitted, [], [1]
        )

    def estimator(self, position: int, learner: Any, X: Any, *, warn: bool = False) -> Any:
        """Return a learner as if it had been fitted to the fold with one alpha."""
        return self._model(position).estimator(0, learner, X, warn=warn)

    def warn(self, position: int, X: Any) -> None:
        """Warn, as a fit does, if the model of one alpha did not converge."""
        if not self.models.certificates[position].converged:
            self._model(position).warn(0, X)


def _fitted(
    models: SquareModels, one: slice, problem: Problem, scores: Floats, dual: Floats
) -> Fitted:
    weights, intercept = models.weights[one].T, models.intercept[one]
    u, b = problem.columns.seen(weights, intercept)
    proofs = models.certificates[one]
    solution = CertifiedSolution(u, b, scores, proofs, dual)
    published = Published(weights, intercept, proofs, dual=dual)
    return Fitted(problem, solution, published, models.steps[one], models.solvers[one])


class AlphaSolver(LaneSolver):
    """Solver of all folds and alphas; a `PathSolver`.

    Parameters
    ----------
    learner : PenalisedSquares
        Says the penalty, and what is done with columns.
    """

    learner: PenalisedSquares

    def beside(self, learner: Any) -> AlphaSolver:
        """Return the solver of a learner with another l1_ratio; it shares the sums."""
        made = AlphaSolver(learner, self.data, self.splits)
        if self._sums() is not None:
            made.__dict__["_summed"] = self._summed
        return made

    @cached_property
    def _summed(self) -> SummedFolds:
        return SummedFolds(self.data.rows, self._target, self.data.weight, self.splits)

    def _sums(self, *, many: bool = True) -> SummedFolds | None:
        """Return the sums of the folds; None if products of columns cost too much."""
        fewest = min(split.n_train for split in self.splits)
        if self._options.suits(fewest, self.data.rows.n_features, is_path=many):
            return self._summed
        refuse_not_finite(self.data.rows)
        return None

    @property
    def _options(self) -> GramOptions:
        return self.learner._default_options.gram

    @property
    def _target(self) -> Floats:
        return np.asarray(self.data.target, dtype=np.float64)

    def largest(self) -> float:
        """Return the smallest alpha for which all weights are 0; 0 if they always are."""
        learner = self.learner
        sums = self._sums()
        if sums is not None:
            return learner._gram(sums.total).alpha_max(learner._penalty())
        return alpha_max(learner._problem(learner._training_data(self.data)))

    def solve(  # type: ignore[override]  # all alphas of a fold come together
        self,
        values: Floats,
        *,
        certified: bool = True,
        tol: float | None = None,
        keep_weights: bool = True,
    ) -> Iterator[AlphaPath]:
        """Yield the models of all alphas, fold by fold."""
        del keep_weights  # all alphas of a fold are little
        sums = self._sums(many=len(values) > 1)
        if sums is None:
            paths = self._solve_working_set(values) if len(values) > 1 else None
            return paths or self._solve_rows(values, certified=certified, tol=tol)
        options, end = with_end(self.learner._solver_options())
        solve = partial(self._solve_fold, sums, values, options)
        return parallel_map(range(len(self.splits)), solve, options.n_jobs, end)

    def _solve_fold(
        self, folds: SummedFolds, alphas: Floats, options: SolverOptions, fold: int
    ) -> AlphaPath:
        split, sums = self.splits[fold], folds.of_fold(fold)
        models, columns = self._models(
            sums.learned, alphas, options, partial(self._problem, split), split.n_train
        )
        problem = Problem(self.data.rows, self.learner._loss(), self._target, columns=columns)
        return AlphaPath.of(self, fold, models, problem, sums)

    def _models(
        self,
        sums: Moments,
        alphas: Floats,
        options: SolverOptions,
        rows: Callable[[], Problem],
        n_rows: int,
    ) -> tuple[SquareModels, Columns]:
        """Return the models of some rows from their sums, and what they say of columns."""
        learner, gram = self.learner, self.learner._gram(sums)
        is_small = n_rows * self.data.rows.n_features <= SMALL
        models = models_of(gram, alphas, learner._penalty(), options, rows, is_small=is_small)
        is_sparse = self.data.rows.is_sparse
        return models, columns_of(gram, standardize=bool(learner.standardize), is_sparse=is_sparse)

    def _solve_working_set(self, alphas: Floats) -> Iterator[AlphaPath] | None:
        """Return the models of all alphas from Gram matrices of a working set of columns.

        Columns that violate the optimality conditions of any model join the set until there are
        none. Dual points are then feasible for all columns, and certificates hold for all. None if
        the set grows too large, or if rows are too few for it to pay.
        """
        rows, learner, options = self.data.rows, self.learner, self._options
        if learner.standardize or min(split.n_train for split in self.splits) < options.min_rows:
            return None
        x = design_matrix(rows)
        share = self._share(np.ones(rows.n_rows))
        y = self._target - share @ self._target if learner.fit_intercept else self._target
        order = np.argsort(-np.abs(x.rmatvec(share * y)), kind="stable")
        working_set = np.sort(order[: options.first_columns])
        while len(working_set) < options.max_columns:
            part = replace(self.data, rows=take_columns(rows, working_set))
            paths = list(AlphaSolver(learner, part, self.splits).solve(alphas))
            excess = np.zeros(rows.n_features)
            for path in paths:
                np.maximum(excess, self._excess(x, path, working_set, alphas), out=excess)
            if not excess.any():
                return (self._with_all_columns(path, working_set) for path in paths)
            violating = np.flatnonzero(excess)
            most = violating[np.argsort(-excess[violating], kind="stable")[: len(working_set)]]
            working_set = np.union1d(working_set, most)
        return None

    def _share(self, counts: Floats) -> Floats:
        """Return the weights of rows, times ``counts``, as fractions of their sum."""
        weight = counts if self.data.weight is None else counts * self.data.weight
        share: Floats = weight / weight.sum()
        return share

    def _excess(
        self, x: DesignMatrix, path: AlphaPath, working_set: Indices, alphas: Floats
    ) -> Floats:
        """Return how much columns outside the working set violate the optimality conditions, (d,).

        The limit is l1, or the largest correlation within the set, if that is smaller: then no
        column outside limits the scaling of a dual point.
        """
        counts = np.zeros(len(self._target))
        counts[self.splits[path.fold].train] = 1.0
        share, penalty = self._share(counts), self.learner._penalty()
        excess = np.zeros(x.shape[1])
        for start in range(0, len(alphas), LANES):
            lanes = slice(start, start + LANES)
            weights = np.zeros((x.shape[1], len(alphas[lanes])))
            weights[working_set] = path.models.weights[lanes].T
            residuals = self._target[:, None] - x.matvec(weights)
            residuals -= path.models.intercept[lanes]
            residuals *= share[:, None]
            correlation = x.rmatvec(residuals)
            size = correlation if penalty.positive else np.abs(correlation)
            limit = np.minimum(alphas[lanes] * penalty.l1_ratio, size[working_set].max(axis=0))
            ratio = size / np.maximum(limit, np.finfo(np.float64).tiny)
            ratio[working_set] = 0.0
            np.maximum(excess, ratio.max(axis=1), out=excess)
        violations: Floats = np.where(excess > 1.0, excess, 0.0)
        return violations

    def _with_all_columns(self, path: AlphaPath, working_set: Indices) -> AlphaPath:
        """Return a path of the working set with the weights of all columns."""
        rows = self.data.rows
        weights = np.zeros((len(path.models.weights), rows.n_features))
        weights[:, working_set] = path.models.weights
        problem = Problem(rows, self.learner._loss(), self._target)
        return AlphaPath.of(self, path.fold, replace(path.models, weights=weights), problem, None)

    def _problem(self, split: Split) -> Problem:
        """Return the problem of the rows that a fold trains on."""
        train, weight = split.train, self.data.weight
        if weight is not None:
            train = train[weight[train] > 0]
        training = TrainingData(
            self.data.rows.take(train),
            self.data.target[train],
            None,
            None if weight is None else weight[train],
            RowMask(len(train)),
        )
        return self.learner._problem(training)

    def for_scores(self) -> AlphaSolver:
        """Return the same solver: it computes held-out scores from the models."""
        return self

    def _solve_rows(
        self, alphas: Floats, *, certified: bool, tol: float | None
    ) -> Iterator[AlphaPath]:
        """Yield the models of all alphas, fold by fold, as lanes."""
        waiting: dict[int, dict[int, Fitted]] = {}
        for one in super().solve(alphas, certified=certified, tol=tol):
            result = waiting.setdefault(one.fold, {})
            result[one.indices[0]] = one.fitted
            if len(result) == len(alphas):
                del waiting[one.fold]
                models = SquareModels.side_by_side([result[k] for k in range(len(alphas))])
                problem = replace(one.fitted.problem, fold=None, weight=None)
                yield AlphaPath.of(self, one.fold, models, problem, None)

    def refit(self, values: Floats, X: Any, evidence: Mapping[str, Any]) -> Any:
        """Return the learner, fitted to all rows with the last alpha, each from the one before."""
        sums = self._sums()
        if sums is None:
            return super().refit(values, X, evidence)
        learner = self._at(values)
        training = learner._training_data(self.data)
        n, options = training.rows.n_rows, learner._solver_options()
        models, columns = self._models(
            sums.total, values, options, lambda: learner._problem(training), n
        )
        problem = Problem(training.rows, learner._loss(), training.target, columns=columns)
        fitted = _fitted(models, slice(-1, None), problem, np.empty((0, 1)), np.zeros((n, 1)))
        learner._remember_columns(X)
        learner._keep(fitted, training, evidence)
        return learner
