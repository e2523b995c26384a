"""Models of all folds and values of C or alpha, as lanes of one problem if folds can share it.

Folds that hold out disjoint rows and train on all others share a problem. A fold has its own
problem if it trains on other rows, or if columns are standardised or classes balanced, which
depends on its training rows. Held-out scores, weights and certificates are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.duality.published import Published, publish
from separable.certified.estimators.base import CertifiedEstimator, Fitted, RowMask, TrainingData
from separable.certified.preparation import prepare
from separable.certified.problem import TOGETHER
from separable.certified.solvers.policy import solver_of
from separable.fitting.splits import Split, runs_of
from separable.fitting.targets import weigh_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.estimators.base import FoldData
    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.options import SolverOptions
    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = ["FoldLanes", "Learned", "LearnsFolds", "all_rows", "has_lanes", "lanes_of"]


def has_lanes(learner: Any) -> bool:
    """Return whether a learner can fit many values of C or alpha together."""
    if not isinstance(learner, CertifiedEstimator) or getattr(learner, "probability", False):
        return False
    return learner._regularization_name in learner.get_params(deep=False)


def all_rows(n_rows: int) -> Split:
    """Return the fold that trains on all rows and holds out none."""
    return Split(n_rows, np.empty(0, np.intp), np.arange(n_rows))


@dataclass(frozen=True)
class Learned:
    """The models of one fold for one value of C or alpha.

    Parameters
    ----------
    fold, place : int
        Indices of the fold and of the value of C or alpha.
    fitted : Fitted
        Its solution has the held-out scores and no dual points.
    codes : list of int
        The numbers of the classes that the fold learned from; empty in regression.
    columns : list of int
        The class of each column of weights: the one that is +1, or one of those learned jointly.
    """

    fold: int
    place: int
    fitted: Fitted
    codes: list[int]
    columns: list[int]

    @property
    def scores(self) -> Floats:
        """Of the rows held out, one column a model."""
        return self.fitted.solution.scores

    def classes(self, fold_data: FoldData) -> NDArray[Any] | None:
        """Return the classes that the fold learned from."""
        return None if fold_data.classes is None else fold_data.classes[self.codes]

    def give(
        self, learner: CertifiedEstimator, fold_data: FoldData, X: Any, *, warn: bool = False
    ) -> CertifiedEstimator:
        """Return the learner, which was not fitted, as if it had been fitted to the fold.

        Parameters
        ----------
        learner : CertifiedEstimator
            With the parameters of this fit.
        fold_data : FoldData
        X : Any
            What the columns are named after.
        warn : bool, default False
            Of models that did not converge, as a fit does.
        """
        joint = self.fitted.solution.width > 1
        classes = self.classes(fold_data)
        training = TrainingData(fold_data.rows, fold_data.target, None, classes, RowMask(0), joint)
        learner._check_parameters()
        learner._remember_columns(X)
        learner._keep(self.fitted, training, warn=warn)
        return learner


class LearnsFolds(Protocol):
    """The interface of a learner of all folds and values of C or alpha."""

    def learn(self) -> Iterator[Learned]:
        """Yield the models of each fold and value, in a deterministic order."""


def lanes_of(
    learner: CertifiedEstimator,
    fold_data: FoldData,
    splits: Sequence[Split],
    regularizations: Floats,
    solver_options: SolverOptions,
) -> LearnsFolds:
    """Return the learner of all folds and values: from Gram matrices if possible."""
    found = learner._sum_lanes(fold_data, splits, regularizations, solver_options)
    return (
        FoldLanes(learner, fold_data, splits, regularizations, solver_options)
        if found is None
        else found
    )


@dataclass(frozen=True)
class FoldLanes:
    """Learner of all folds and values of C or alpha.

    Parameters
    ----------
    learner : CertifiedEstimator
        Says the loss, and what is done with columns and classes.
    fold_data : FoldData
    splits : sequence of Split
    regularizations : ndarray, shape (s,)
    solver_options : SolverOptions
    keep_weights : bool, default True
        Without them a model of many columns costs no memory; held-out scores are kept always.
    """

    learner: CertifiedEstimator
    fold_data: FoldData
    splits: Sequence[Split]
    regularizations: Floats
    solver_options: SolverOptions
    keep_weights: bool = True

    def learn(self) -> Iterator[Learned]:
        """Yield the models of each fold and value, in a deterministic order."""
        for run in self._runs():
            problem = self._problem(run)
            yield from self._learn(run, problem)

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

    def _learn(self, run: list[int], problem: Problem) -> Iterator[Learned]:
        codes = [self._codes(problem, place, k) for place, k in enumerate(run)]
        joint = [self.learner._is_joint() and len(some) > 2 for some in codes]
        for together in (True, False):  # folds with two classes have one model of these
            folds = [place for place in range(len(run)) if joint[place] == together]
            if folds:
                n_classes = self._n_classes if together else 2
                same = replace(problem, n_classes=n_classes)
                yield from self._learn_folds(run, same, folds, codes)

    @property
    def _n_classes(self) -> int:
        return 2 if self.fold_data.classes is None else len(self.fold_data.classes)

    def _learn_folds(
        self, run: list[int], problem: Problem, folds: list[int], codes: list[list[int]]
    ) -> Iterator[Learned]:
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
            for at, number in enumerate(solved.lane_indices):
                place, s, target = plan[number]
                test = self.splits[run[place]].test
                certified_solution = solved.solution.lane(at)
                published = _published(problem, lanes[number], certified_solution)
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
                    yield Learned(run[place], s, whole, codes[place], columns)

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


def _published(problem: Problem, lane: Lane, one: CertifiedSolution) -> Published:
    """Return the weights of a lane for the raw columns, with a certificate if it has one."""
    if one.certificates:
        return publish(problem, [lane], one, is_final=False)
    return Published(*problem.columns.raw(one.weights, one.intercept), [])


def _joined(parts: list[Fitted]) -> Fitted:
    return Fitted(
        parts[0].problem,
        CertifiedSolution.side_by_side([part.solution for part in parts]),
        Published.side_by_side([part.published for part in parts]),
        np.concatenate([part.passes for part in parts]),
        [solver for part in parts for solver in part.solvers],
        doubt=next((part.doubt for part in parts if part.doubt), ""),
    )
