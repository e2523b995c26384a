"""Protocol between learners and searches: the members that `separable.select` uses of a learner.

A search scores candidates, which are learners with different parameters, on the held-out rows of
folds. Any estimator with ``fit`` and ``predict`` can be searched: `refits` fits a clone of each
candidate to each fold. A learner that can share work between candidates or folds offers some of
these public members; families of learners implement them and never import `separable.select`.

``regularization`` : str or None
    Parameter in which candidates may differ and still share work: "C" or "alpha".
``fold_fits(problem, candidates, splits, *, certified)`` : iterator of `FoldFit`, or None
    Fits of all candidates on all folds. Candidates differ in ``regularization`` alone. With
    ``certified=False`` only predictions are needed, so fits may stop when these hardly change.
``growing_fits(problem, splits)`` : iterator of `FoldFit`, or None
    Fits to nested training sets of increasing size, each continued from the one before.
``left_out(problem, *, approximate)`` : `LeftOut`, or None
    Leave-one-out predictions from one fit to all rows: exact, or estimates if ``approximate``.
``fold_data(X, y, sample_weight)`` : `FoldData`
    The rows as the learner reads them, checked.
``check_data(data)``
    Raises for rows that cannot be fitted.
``path_solver(data, splits)`` : `PathSolver`, or None
    Models of many values of ``regularization`` as arrays, for paths and the ``*CV`` estimators.

None means that this learner, with these parameters, has no such short cut.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

from separable.estimator import clone, is_pipeline
from separable.fitting.predictions import ask
from separable.fitting.splits import read_folds, take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.fitting.splits import Split
    from separable.model.metrics.metric_registry import Predictions
    from separable.typing import Floats, Indices

__all__ = [
    "FittedFold",
    "FoldData",
    "FoldFit",
    "FoldPath",
    "LeftOut",
    "Notices",
    "PathSolver",
    "Problem",
    "fold_fits",
    "fold_of",
    "held_back",
    "refit",
    "refit_fold",
    "refits",
]


@dataclass(frozen=True)
class Problem:
    """Validation problem: the estimator and the data.

    Parameters
    ----------
    estimator : estimator
        Not fitted here, but cloned.
    X, y
        All rows.
    n_rows : int
        Their number.
    weight : ndarray of float64, shape (n,), or None
        For learning.
    """

    estimator: Any
    X: Any
    y: Any
    n_rows: int
    weight: Floats | None

    def folds(self, cv: Any, groups: Any, **how: Any) -> list[Split]:
        """Return the folds of ``cv``; ``how`` are options of `read_folds`."""
        n = self.n_rows
        return read_folds(cv, self.estimator, self.X, self.y, groups, n, stacklevel=3, **how)


@dataclass(frozen=True)
class FittedFold:
    """A fold after fitting and predicting.

    Parameters
    ----------
    estimator : estimator
        Fitted; not fitted if only predictions were needed.
    how : str
        "refit", or how work was shared: "lanes", "sums", "warm", "stream".
    predictions : Predictions
        Predictions for the held-out rows.
    """

    estimator: Any
    how: str
    predictions: Predictions


@dataclass(frozen=True)
class FoldFit:
    """A candidate on a fold.

    Parameters
    ----------
    fold, candidate : int
        Their indices.
    fit : callable
        Fits and predicts, or finishes what was solved with other candidates; called once, before
        the next `FoldFit` is requested.
    """

    fold: int
    candidate: int
    fit: Callable[[], FittedFold]


@dataclass(frozen=True)
class LeftOut:
    """Leave-one-out predictions from one fit.

    Parameters
    ----------
    predictions : Predictions
        Predictions for all rows.
    missing : ndarray of int
        Rows that need a refit.
    doubt : ndarray, shape (n,)
        Size of the possible error of each estimate; 0: none.
    exact : ndarray of bool, shape (n,)
        Rows whose predictions are exact but for rounding.
    """

    predictions: Predictions
    missing: Indices
    doubt: Floats
    exact: NDArray[np.bool_]


@dataclass(frozen=True)
class FoldData:
    """All rows as a learner reads them, including those of weight 0, which may be held out.

    Parameters
    ----------
    rows : Rows
        Finite, without duplicates.
    target : ndarray, shape (n,)
        int32: the number of the class; float64: the number to predict.
    classes : ndarray or None
        Sorted; None in regression.
    weight : ndarray, shape (n,), or None
        As given, without class weights.
    """

    rows: Rows
    target: NDArray[np.int32] | Floats
    classes: NDArray[Any] | None
    weight: Floats | None

    @property
    def labels(self) -> NDArray[Any]:
        """The targets as given: labels of the classes, or numbers."""
        return self.target if self.classes is None else self.classes[self.target]


@dataclass(frozen=True)
class FoldPath:
    """Models of s values of the regularization parameter, learned from one fold.

    Parameters
    ----------
    fold : int
        Index of the fold.
    indices : list of int
        Indices of the s values among all.
    columns : list of int
        Indices of the k columns of weights among those of a fit to all classes.
    classes : ndarray or None
        Classes that the fold learned from; None in regression.
    weights : ndarray, shape (s, k, d)
        Weights of the raw columns; (s, k, 0) if they were not kept.
    intercept : ndarray, shape (s, k)
    certificates : list of list
        Certificates of each value's models; empty if they are not certified.
    n_iter : ndarray, shape (s,)
        Passes, the most of any model of a value.
    """

    fold: int
    indices: list[int]
    columns: list[int]
    classes: NDArray[Any] | None
    weights: Floats
    intercept: Floats
    certificates: list[list[Any]]
    n_iter: NDArray[np.int64]

    def scores(self, position: int) -> Floats:
        """Return the scores of the held-out rows with one of the s values, (m, k)."""
        raise NotImplementedError

    def squared_errors(self) -> Floats:
        """Return the mean squared error of the held-out rows with each value, (s,)."""
        raise NotImplementedError

    def estimator(self, position: int, learner: Any, X: Any, *, warn: bool = False) -> Any:
        """Return a learner, not fitted, as if fitted with one of the s values.

        X names the columns; ``warn`` of a model that did not converge, as a fit does.
        """
        raise NotImplementedError

    def warn(self, position: int, X: Any) -> None:
        """Warn, as a fit does, if the models of one of the s values did not converge."""
        raise NotImplementedError


class PathSolver(Protocol):
    """A learner at many values of its regularization parameter, on folds of the same rows."""

    @property
    def splits(self) -> Sequence[Split]:
        """The folds."""

    def beside(self, learner: Any) -> PathSolver:
        """Return the solver of a learner with other parameters, on the same rows and folds."""

    def largest(self) -> float:
        """Return the smallest alpha for which all weights are 0; 0 if they always are."""

    def solve(
        self,
        values: Floats,
        *,
        certified: bool = True,
        tol: float | None = None,
        keep_weights: bool = True,
    ) -> Iterator[FoldPath]:
        """Yield the models of each fold and value, some at a time, in a deterministic order.

        Without ``tol`` of the learner, ``tol`` takes its place, and models that are not to be
        certified may stop when their predictions hardly change.
        """

    def refit(self, values: Floats, X: Any, evidence: Mapping[str, Any]) -> Any:
        """Return the learner, fitted to all rows with the last of some values.

        X names the columns; the model keeps the evidence of the search.
        """

    def remedy(self, names: Sequence[str] | None) -> str:
        """Return what to do first about models that did not converge; "" if nothing is known."""


def fold_fits(
    problem: Problem, candidates: Sequence[Any], splits: Sequence[Split], *, certified: bool = True
) -> Iterable[FoldFit]:
    """Return the fits of all candidates on all folds, shared where the learner can."""
    offer = getattr(candidates[0], "fold_fits", None)
    shared = None if offer is None else offer(problem, candidates, splits, certified=certified)
    return refits(problem, candidates, splits) if shared is None else shared


def refits(
    problem: Problem, candidates: Sequence[Any], splits: Sequence[Split]
) -> Iterator[FoldFit]:
    """Yield the fits of a clone of each candidate to the training rows of each fold."""
    for index, estimator in enumerate(candidates):
        for fold, split in enumerate(splits):
            yield FoldFit(fold, index, partial(refit_fold, problem, estimator, split))


def refit_fold(problem: Problem, estimator: Any, split: Split) -> FittedFold:
    """Fit a clone of an estimator to a fold, and predict."""
    return fold_of(refit(problem, split.train, estimator), problem, split, "refit")


def fold_of(fitted: Any, problem: Problem, split: Split, how: str) -> FittedFold:
    """Return a fold with the predictions of a fitted estimator."""
    return FittedFold(fitted, how, ask(fitted, take(problem.X, split.test)))


def refit(problem: Problem, train: NDArray[np.intp], estimator: Any = None) -> Any:
    """Return a clone of an estimator, by default that of the problem, fitted to some rows."""
    estimator = problem.estimator if estimator is None else estimator
    weight: dict[str, Floats] = {}
    if problem.weight is not None:
        weight = {weight_parameter(estimator): problem.weight[train]}
    return clone(estimator).fit(take(problem.X, train), take(problem.y, train), **weight)


def weight_parameter(estimator: Any) -> str:
    """Return the name under which ``fit`` takes weights."""
    if is_pipeline(estimator):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    if "sample_weight" not in signature(estimator.fit).parameters:
        raise ValueError(
            f"{type(estimator).__name__} learns without sample_weight. Leave it out, or repeat "
            "rows."
        )
    return "sample_weight"


@contextmanager
def held_back() -> Iterator[list[warnings.WarningMessage]]:
    """Delay warnings to the end; those removed from the list are not issued."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@dataclass
class Notices:
    """Warnings collected fold by fold; those from the same source line are issued once.

    Parameters
    ----------
    what : str, default "fold"
        Word for the counted fits.
    """

    what: str = "fold"
    seen: dict[tuple[type[Warning], str, int], tuple[Warning, set[int]]] = field(
        default_factory=dict
    )

    @contextmanager
    def of_fold(self, fold: int) -> Iterator[None]:
        """Collect the warnings of a fold."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for each in caught:
            key = (each.category, each.filename, each.lineno)
            message = each.message if isinstance(each.message, Warning) else each.category()
            self.seen.setdefault(key, (message, set()))[1].add(fold)

    def include(self, others: Notices) -> None:
        """Add the warnings of another collection."""
        for key, (message, folds) in others.seen.items():
            self.seen.setdefault(key, (message, set()))[1].update(folds)

    def issue(self, n_folds: int) -> None:
        """Issue the collected warnings, each once."""
        for (category, filename, line), (message, folds) in self.seen.items():
            many = (
                f" [in {len(folds)} of {n_folds} {self.what}s, first in {self.what} {min(folds)}]"
            )
            if message.args == (str(message),):
                message.args = (str(message) + many,)
            warnings.warn_explicit(message, category, filename, line)
