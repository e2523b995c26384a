"""Models of all folds and values of C or alpha, as lanes of one problem if folds can share it.

Folds that hold out disjoint rows and train on all others share a problem. A fold has its own
problem if it trains on other rows, or if columns are standardised or classes balanced, which
depends on its training rows. Held-out scores, weights and certificates are kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.published import Published, publish
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.fitted import Fitted, warn_of_gap
from separable.certified.estimators.lost_columns import dominated, first_remedy
from separable.certified.estimators.training_data import RowMask, TrainingData
from separable.certified.preparation import prepare
from separable.certified.problem import TOGETHER, Lane, Problem
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import Rows, column_names
from separable.estimator import clone, convergence_warning
from separable.fitting.fold_fits import FittedFold, FoldData, FoldFit, FoldPath, fold_of
from separable.fitting.fold_fits import Problem as ValidationProblem
from separable.fitting.predictions import predictions_from_scores
from separable.fitting.separation_error import naming_columns
from separable.fitting.splits import Split, runs_of, take
from separable.fitting.targets import weigh_rows
from separable.typing import Floats

#: The relative gap of models that need no certificate, with more rows and columns than the second
#: number.
SEARCH_TOL, FEW = 1e-4, 512


def fold_fits(
    problem: ValidationProblem,
    candidates: Sequence[CertifiedEstimator],
    splits: Sequence[Split],
    *,
    certified: bool,
) -> Iterator[FoldFit]:
    """Yield the fits of candidates that differ in C or alpha alone, on all folds."""
    for each in candidates[1:]:
        each.check_parameters()
    first, name = candidates[0], str(candidates[0].regularization)
    data = first.fold_data(problem.X, problem.y, problem.weight)
    values = np.array([getattr(each, name) for each in candidates], dtype=np.float64)
    solver = first.path_solver(data, splits)
    assert solver is not None
    needs_models = certified or any(getattr(each, "probability", False) for each in candidates)
    if isinstance(solver, LaneSolver) and not needs_models:
        solver = solver.for_scores()
    with naming_columns(column_names(problem.X)):
        for path in solver.solve(values, certified=certified):
            for position, index in enumerate(path.indices):
                fit = partial(
                    _fitted_fold, problem, candidates[index], path, position, certified=certified
                )
                yield FoldFit(path.fold, index, fit)


def _fitted_fold(
    problem: ValidationProblem,
    candidate: CertifiedEstimator,
    path: FoldPath,
    position: int,
    *,
    certified: bool,
) -> FittedFold:
    """Return a fold with its estimator, or only with predictions if models are not certified."""
    made = candidate
    if certified or getattr(candidate, "probability", False):  # probabilities of the whole model
        made = path.estimator(position, clone(candidate), problem.X, warn=True)
    elif path.n_iter[position] >= candidate.max_iter:
        name = type(candidate).__name__
        text = f"{name} stopped after max_iter={candidate.max_iter} passes, not converged."
        warnings.warn(text, convergence_warning(), stacklevel=2)
    else:
        path.warn(position, problem.X)
    predictions = predictions_from_scores(made, path.scores(position), path.classes)
    return FittedFold(made, "lanes", predictions)


def growing_fits(problem: ValidationProblem, splits: Sequence[Split]) -> Iterator[FoldFit]:
    """Yield fits to more and more rows: each starts from the dual point of the one before.

    The dual points of new rows are 0, which keeps the weights that the others stand for.
    """
    learner = clone(problem.estimator).set_params(warm_start=True)

    def fit(fold: int) -> FittedFold:
        rows = splits[fold].train
        if fold:
            last: Floats = learner._dual
            more = np.zeros((len(rows) - len(last), last.shape[1]))
            learner._dual = np.concatenate([last, more])
        weight = None if problem.weight is None else problem.weight[rows]
        learner.fit(take(problem.X, rows), take(problem.y, rows), weight)
        return fold_of(learner, problem, splits[fold], "warm" if fold else "refit")

    for fold in range(len(splits)):
        yield FoldFit(fold, 0, partial(fit, fold))


@dataclass(frozen=True)
class FoldModels(FoldPath):
    """The models of one fold for one value of C or alpha.

    Parameters
    ----------
    fitted : Fitted
        Its solution has the held-out scores and no dual points.
    """

    learner: CertifiedEstimator
    data: FoldData
    fitted: Fitted

    @staticmethod
    def of(
        learner: CertifiedEstimator,
        data: FoldData,
        fold: int,
        index: int,
        fitted: Fitted,
        codes: list[int],
        columns: list[int],
    ) -> FoldModels:
        """Return the models of a fold that learned from classes ``codes``, of which ``columns``."""
        published = fitted.published
        return FoldModels(
            fold,
            [index],
            columns,
            None if data.classes is None else data.classes[codes],
            published.weights.T[None],
            published.intercept[None],
            [published.certificates],
            np.array([fitted.passes.max()]),
            learner,
            data,
            fitted,
        )

    def scores(self, position: int) -> Floats:
        """Return the scores of the held-out rows, one column a model."""
        del position
        return self.fitted.solution.scores

    def squared_errors(self) -> Floats:
        """Not there: the mean squared error is the score of lasso and elastic net."""
        raise NotImplementedError

    def estimator(self, position: int, learner: Any, X: Any, *, warn: bool = False) -> Any:
        """Return a learner as if it had been fitted to the fold."""
        del position
        joint = self.fitted.solution.width > 1
        given = TrainingData(
            self.data.rows, self.data.target, self.classes, None, RowMask(0), joint
        )
        learner.check_parameters()
        learner._remember_columns(X)
        learner._keep(self.fitted, given, warn=warn)
        return learner

    def warn(self, position: int, X: Any) -> None:
        """Warn, as a fit does, if the models did not converge."""
        del position
        warn_of_gap(
            type(self.learner).__name__,
            self.learner.regularization,
            self.fitted.certificates,
            int(self.fitted.passes.max()),
            self.fitted.reason(column_names(X)),
        )


@dataclass(frozen=True)
class LaneSolver:
    """Solver of all folds and values of C; a `PathSolver`.

    Parameters
    ----------
    learner : CertifiedEstimator
        Says the loss, and what is done with columns and classes.
    """

    learner: CertifiedEstimator
    data: FoldData
    splits: Sequence[Split]
    scores_only: bool = False

    def for_scores(self) -> LaneSolver:
        """Return the solver of a comparison by held-out scores, which publishes no models."""
        return replace(self, scores_only=True)

    def beside(self, learner: Any) -> LaneSolver:
        """Return the solver of a learner with other parameters."""
        return replace(self, learner=learner)

    def largest(self) -> float:
        """Not there: no C makes all weights 0."""
        raise NotImplementedError

    def solve(
        self,
        values: Floats,
        *,
        certified: bool = True,
        tol: float | None = None,
        keep_weights: bool = True,
    ) -> Iterator[FoldModels]:
        """Yield the models of each fold and value, in a deterministic order."""
        for extreme in (values.max(), values.min()):
            self._at([extreme]).check_parameters()
        options = self.learner._solver_options()
        if self.learner.tol is None:
            if not certified and tol is None:
                tol = SEARCH_TOL if min(self.data.rows.shape) > FEW else None
            options = replace(options, tol=tol, certified=certified)
        options = replace(options, scores_only=self.scores_only)
        lanes = FoldLanes(
            self.learner, self.data, self.splits, values, options, keep_weights, self.scores_only
        )
        return lanes.solve()

    def refit(self, values: Floats, X: Any, evidence: Mapping[str, Any]) -> Any:
        """Return the learner, fitted to all rows with the last of some values."""
        return self._at(values)._fit_data(self.data, X, evidence)

    def _at(self, values: Sequence[float] | Floats) -> Any:
        """Return a copy of the learner with the last of some values."""
        name = str(self.learner.regularization)
        return clone(self.learner).set_params(**{name: float(values[-1])})

    def remedy(self, names: Sequence[str] | None) -> str:
        """Return what to do first about models that did not converge."""
        found = dominated(self.learner._training_data(self.data))
        return first_remedy(found, lambda j: f"column {j}" if names is None else repr(names[j]))


@dataclass(frozen=True)
class FoldLanes:
    """The folds and values of C or alpha of one learner, as lanes.

    Parameters
    ----------
    regularizations : ndarray, shape (s,)
    keep_weights : bool, default True
        Without them a model of many columns costs no memory; held-out scores are kept always.
    scores_only : bool, default False
        Models are not published: no weights for the raw columns, and gaps as the solver has them.
    """

    learner: CertifiedEstimator
    fold_data: FoldData
    splits: Sequence[Split]
    regularizations: Floats
    solver_options: SolverOptions
    keep_weights: bool = True
    scores_only: bool = False

    def solve(self) -> Iterator[FoldModels]:
        """Yield the models of each fold and value, in a deterministic order."""
        for run in self._runs():
            problem = self._problem(run)
            yield from self._solve(run, problem)

    # ------------------------------------------------------------------ problems

    def _runs(self) -> list[list[int]]:
        """Return which folds share a problem."""
        balanced = isinstance(getattr(self.learner, "class_weight", None), str)
        if balanced or self.learner.standardize:
            return [[k] for k in range(len(self.splits))]
        return runs_of(self.splits)

    def _problem(self, run: list[int]) -> Problem:
        """Return the problem of some folds: held-out rows have the number of theirs in the run."""
        n = self.fold_data.rows.n_rows
        fold = np.full(n, -1, np.int32)
        if len(run) > 1:
            for place, k in enumerate(run):
                fold[self.splits[k].test] = place
            return replace(self._shared, fold=fold)
        train = self.splits[run[0]].train
        times = np.bincount(train, minlength=n)
        fold[times == 0] = 0
        given = None if self.fold_data.weight is None else self.fold_data.weight[train]
        counted = self._weights(train, given)
        plain = counted is None and times.max() == 1
        weight: Floats | None = None
        if not plain:
            weight = np.bincount(train, weights=counted, minlength=n).astype(np.float64)
            weight[times == 0] = 1.0  # these have cost 0 by their fold
        if not self.learner.standardize:
            return replace(self._shared, fold=fold, weight=weight)
        there = np.flatnonzero(times)
        mine = None if weight is None else weight[there]
        seen = self._prepared(self.fold_data.rows.take(there), self.fold_data.target[there], mine)
        return replace(
            seen, rows=self.fold_data.rows, target=self.fold_data.target, weight=weight, fold=fold
        )

    @cached_property
    def _shared(self) -> Problem:
        """The problem of all rows. Where a fold has other weights, its centre may be any."""
        rows, target = self.fold_data.rows, self.fold_data.target
        return self._prepared(rows, target, self._weights(slice(None), self.fold_data.weight))

    def _weights(self, rows: Any, sample_weight: Floats | None) -> Floats | None:
        class_weight = getattr(self.learner, "class_weight", None)
        labels = self.fold_data.labels[rows]
        return weigh_rows(sample_weight, class_weight, labels, balance_weights=True).weight

    def _prepared(self, rows: Rows, target: NDArray[Any], weight: Floats | None) -> Problem:
        prepared = prepare(
            rows,
            self.learner._loss(),
            target,
            weight,
            fit_intercept=bool(self.learner.fit_intercept),
            standardize=bool(self.learner.standardize),
        )
        return replace(prepared, penalty=self.learner._penalty())

    # ------------------------------------------------------------------ lanes

    def _solve(self, run: list[int], problem: Problem) -> Iterator[FoldModels]:
        codes = [self._codes(problem, place, k) for place, k in enumerate(run)]
        joint = [self.learner._is_joint() and len(some) > 2 for some in codes]
        for together in (True, False):  # folds with two classes have one model of these
            folds = [place for place in range(len(run)) if joint[place] == together]
            if folds:
                n_classes = self._n_classes if together else 2
                same = replace(problem, n_classes=n_classes)
                yield from self._solve_folds(run, same, folds, codes)

    @property
    def _n_classes(self) -> int:
        return 2 if self.fold_data.classes is None else len(self.fold_data.classes)

    def _solve_folds(
        self, run: list[int], problem: Problem, folds: list[int], codes: list[list[int]]
    ) -> Iterator[FoldModels]:
        """Yield the models of some folds of a problem, with one model for all classes or not."""
        models = {place: self._models(problem, codes[place]) for place in folds}
        plan = [  # those of one fold side by side, so that few wait for each other
            (place, s, target)
            for place in folds
            for s in range(len(self.regularizations))
            for target in models[place]
        ]
        lanes = [
            self.learner._lane(problem, float(self.regularizations[s]), target, place)
            for place, s, target in plan
        ]
        waiting: dict[tuple[int, int], dict[int, Fitted]] = {}
        for solved in solver_of(problem, self.solver_options).solve(lanes):
            batch = self._published(
                problem, [lanes[number] for number in solved.lane_indices], solved.solution
            )
            for at, number in enumerate(solved.lane_indices):
                place, s, target = plan[number]
                test = self.splits[run[place]].test
                certified_solution = solved.solution.lane(at)
                published = batch[at]
                where = f", learned without the rows of fold {run[place]}," if len(test) else ""
                doubt = self.learner._check_lane(
                    problem, lanes[number], certified_solution, self.fold_data.classes, where
                )
                one = Fitted(
                    problem,
                    self._kept(certified_solution, test, codes[place]),
                    self.learner._rescaled(
                        self._of_fold(published, codes[place]), float(self.regularizations[s])
                    ),
                    solved.passes[at : at + 1],
                    solved.solvers[at : at + 1],
                    doubt=doubt,
                )
                parts = waiting.setdefault((place, s), {})
                parts[target] = one
                if len(parts) == len(models[place]):
                    del waiting[place, s]
                    whole = _joined([parts[target] for target in models[place]])
                    columns = codes[place] if target == TOGETHER else models[place]
                    yield FoldModels.of(
                        self.learner, self.fold_data, run[place], s, whole, codes[place], columns
                    )

    @staticmethod
    def _models(problem: Problem, codes: list[int]) -> list[int]:
        """Return the class that is +1, of each model of a fold, or `TOGETHER`."""
        if problem.n_classes > 2:
            return [TOGETHER]
        return [1] if not codes else codes[1:] if len(codes) == 2 else codes

    def _kept(
        self, one: CertifiedSolution, test: NDArray[np.intp], codes: list[int]
    ) -> CertifiedSolution:
        """Return what is kept of a lane: the scores of the rows held out, and its intercepts.

        Of classes that are learned jointly, those that the fold has.
        """
        columns = [0] if one.width == 1 else codes
        k = len(columns)
        return CertifiedSolution(
            np.empty((0, k)),
            one.intercept[columns],
            one.scores[test][:, columns],
            one.certificates,
            np.empty((0, k)),
            k,
        )

    def _published(
        self, problem: Problem, lanes: list[Lane], solution: CertifiedSolution
    ) -> list[Published]:
        """Return the weights of lanes for the raw columns, with certificates if they have any."""
        if self.scores_only:
            whole = Published(solution.weights[:0], solution.intercept, solution.certificates)
        elif not solution.certificates:
            whole = Published(*problem.columns.raw(solution.weights, solution.intercept), [])
        elif solution.width > 1:
            return [
                publish(problem, [lane], solution.lane(k), is_final=False)
                for k, lane in enumerate(lanes)
            ]
        else:
            whole = publish(problem, lanes, solution, is_final=False)
        return [whole.lane(k, solution.width) for k in range(len(lanes))]

    def _of_fold(self, one: Published, columns: list[int]) -> Published:
        """Return a lane as published, of the classes that a fold has; without weights if unkept."""
        some = one.take([0] if len(one.intercept) == 1 else columns)
        return some if self.keep_weights else replace(some, weights=some.weights[:0])

    def _codes(self, problem: Problem, place: int, k: int) -> list[int]:
        """Return the classes of the rows that a fold trains on; refuse one alone."""
        used = np.ones(len(self.fold_data.target), np.bool_)
        if problem.fold is not None:
            used = problem.fold != place
        if problem.weight is not None:
            used &= problem.weight > 0
        if not used.any():
            raise ValueError(f"All rows that fold {k} trains on have weight 0.")
        if self.fold_data.classes is None:
            return []
        counts = np.bincount(self.fold_data.target[used], minlength=len(self.fold_data.classes))
        codes = [int(code) for code in np.flatnonzero(counts)]
        if len(codes) < 2:
            raise ValueError(
                f"{type(self.learner).__name__} needs at least two classes to learn a boundary, "
                f"but the rows that fold {k} trains on hold only one class: "
                f"{self.fold_data.classes.tolist()[codes[0]]!r}. Use stratified or fewer folds, or "
                "shuffle the rows."
            )
        return codes


def _joined(parts: list[Fitted]) -> Fitted:
    return Fitted(
        parts[0].problem,
        CertifiedSolution.side_by_side([part.solution for part in parts]),
        Published.side_by_side([part.published for part in parts]),
        np.concatenate([part.passes for part in parts]),
        [solver for part in parts for solver in part.solvers],
        doubt=next((part.doubt for part in parts if part.doubt), ""),
    )
