"""Base class of the moment learners: sums over rows, and a model solved from them lazily."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from separable.data.rows import column_names
from separable.estimator import check_is_fitted
from separable.fitting.base import LinearEstimator
from separable.fitting.model_attributes import changed_model_error
from separable.model.linear_model import LinearModel, TrainingState
from separable.model.merge import same_encoder
from separable.model.parameters import check_parameters
from separable.statistics.dominant_columns import (
    SQUARES,
    DominantValueWarning,
    dominant_values,
    message,
)
from separable.statistics.precision import SignificanceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from separable.data.checks.dominant_values import DominantValue
    from separable.data.rows import Rows
    from separable.fitting.fold_fits import FoldFit, LeftOut, Problem
    from separable.fitting.splits import Split
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["AnySums", "MomentEstimator", "RowSums", "Solution", "warn_of_dominant_values"]

#: The sums of a learner: ``Moments`` or ``ClassCounts``.
AnySums = TypeVar("AnySums", bound="RowSums")
AnyEstimator = TypeVar("AnyEstimator", bound="MomentEstimator[Any]")


class RowSums(Protocol):
    """Sufficient statistics of the rows: rows can be added, sums merged and subtracted."""

    @property
    def is_empty(self) -> bool:
        """Whether no row was added."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes seen, sorted; None without classes."""

    def add_data(self, data: Data, chosen: NDArray[np.intp] | None = None) -> Self:
        """Add checked rows, or only the chosen ones."""

    def __add__(self, other: Any) -> Any: ...

    def __sub__(self, other: Any) -> Any: ...

    def column_sizes(self) -> tuple[Floats, Floats]:
        """Return, for each column, a bound on |x - mean|, and the mean."""

    def to_state(self) -> TrainingState:
        """Return the sums in the form of a model file."""

    @classmethod
    def from_state(cls, state: TrainingState) -> Self:
        """Return the checked sums of a model file."""


@dataclass(frozen=True)
class Solution:
    """Weights solved from sums.

    Parameters
    ----------
    weights, intercept : ndarray, shapes (k, d) and (k,)
    evidence : dict
        Evidence of the model.
    learned : dict
        Other fitted values, by attribute.
    deferred : callable, optional
        Returns evidence that costs as much as the fit; computed when it is first read.
    """

    weights: Floats
    intercept: Floats
    evidence: dict[str, Any] = field(default_factory=dict)
    learned: dict[str, Any] = field(default_factory=dict)
    deferred: Callable[[], dict[str, Any]] | None = None

    def complete(self) -> Solution:
        """Return the solution with its deferred evidence."""
        if self.deferred is None:
            return self
        more = self.deferred()
        return replace(
            self, evidence=self.evidence | more, learned=self.learned | more, deferred=None
        )


class MomentEstimator(LinearEstimator, Generic[AnySums]):
    """Base of learners that need the rows only through sums."""

    _family = "moments"
    #: Alternative to suggest if the sums do not fit in memory.
    _instead: ClassVar[str]
    #: Values below this fraction of the largest are lost to rounding; None: no check.
    _lost_beside: ClassVar[float | None] = SQUARES

    _sums: AnySums | None
    _solution: Solution | None
    _announced: NDArray[Any] | None

    # ------------------------------------------------------------------ hooks

    def _new_sums(self) -> AnySums:
        """Return the sums of no rows."""
        raise NotImplementedError

    def _sums_of(self, data: Data) -> AnySums:
        """Return the sums of the rows of a fit."""
        return self._new_sums().add_data(data)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        """Check rows, target and weights."""
        raise NotImplementedError

    def _solve(self, sums: AnySums, data: Data | None) -> Solution:
        """Solve from sums; after ``fit`` also from the rows, if the sums lack precision."""
        raise NotImplementedError

    def _solve_rows(self, data: Data) -> Solution | None:
        """Solve from the rows if that is better than from sums, as for d > n; otherwise None."""
        del data
        return None

    def _solves_together(self, data: Data) -> bool:
        """Return whether candidates are solved from the rows of a fold side by side."""
        del data
        return False

    def _solve_together(self, data: Data, candidates: Sequence[Any]) -> list[Solution] | None:
        """Solve candidates of this class for the same rows; None if that fails."""
        raise NotImplementedError

    def _few_rows(self, sums: AnySums, rows: Rows) -> Any:
        """Return what the scores of a few rows need of the sums; None: the model is no dearer."""
        del sums, rows

    def _scores_of(self, few: Any) -> Floats | None:
        """Return the scores of such rows, as the model has them up to rounding; None: ask it."""
        raise NotImplementedError

    def _needs_rows(self) -> bool:
        """Return whether the parameters require the rows, for example for a second pass."""
        return False

    def _check_sums_suffice(self) -> None:
        """Refuse to update or merge sums if the parameters require the rows."""

    def _left_out_scores(self, sums: AnySums, data: Data) -> Floats | None:
        """Return the exact leave-one-out scores, (n, k), without n fits.

        If the row was the only one of its class, that class has the score -inf; with two classes
        the score is infinite on the side of the other. NaN: too little precision is left, refit
        without the row. None: there is no closed form.
        """
        del sums, data
        return None

    # ------------------------------------------------------------------ searches

    def fold_fits(
        self,
        problem: Problem,
        candidates: Sequence[Any],
        splits: Sequence[Split],
        *,
        certified: bool = True,
    ) -> Iterator[FoldFit] | None:
        """Return fits of all folds from sums; see `separable.fitting.fold_fits`."""
        from separable.moments.fold_sums import fold_fits

        del certified
        return None if self._needs_rows() else fold_fits(problem, candidates, splits)

    def growing_fits(self, problem: Problem, splits: Sequence[Split]) -> Iterator[FoldFit] | None:
        """Return fits to more and more rows from sums; see `separable.fitting.fold_fits`."""
        from separable.moments.fold_sums import growing_fits

        return None if self._needs_rows() else growing_fits(problem, splits)

    def left_out(self, problem: Problem, *, approximate: bool) -> LeftOut | None:
        """Return exact leave-one-out predictions; see `separable.fitting.fold_fits`."""
        from separable.moments.fold_sums import left_out

        return None if approximate or self._needs_rows() else left_out(problem)

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The target: the class or the number of each row.
        sample_weight : array-like of shape (n,), optional
            A row of weight k counts as k rows; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        self.check_parameters()
        data = self._read(X, y, sample_weight)
        if data.n_counted == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        before = getattr(self, "_column_names", None)
        self._column_names = column_names(X)  # for messages
        sums: AnySums | None = None
        try:
            solution = self._solve_rows(data)
            if solution is None:
                sums = self._sums_of(data)
                solution = self._solve(sums, data)
            self._warn_of_dominant_values(data, sums)
        except BaseException:
            self._column_names = before  # keep the previous fit
            raise
        self._remember_columns(X)
        self._note_target(y)
        self._sums, self._solution, self._announced = sums, solution, None
        self._model = self._build_model(solution, self._target_classes(data, sums))
        return self

    def fit_sums(self, sums: AnySums) -> Self:
        """Fit the model to rows of which only the sums are known.

        Parameters
        ----------
        sums : Moments or ClassCounts
            Of the kind that the learner adds up itself.

        Returns
        -------
        self
        """
        self.check_parameters()
        self._check_sums_suffice()
        self.n_features_in_ = sums.column_sizes()[0].shape[0]
        self._column_names = self._encoder = None
        self._sums, self._solution, self._model, self._announced = sums, None, None, None
        self._weights_only()
        return self

    def _add(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Add rows to the sums; the model is solved when it is next needed."""
        check_parameters(self, self._requirements)
        self._check_sums_suffice()
        if self.__sklearn_is_fitted__():
            self._check_rows(X)
            self._summed()
        data = self._read(X, y, sample_weight)
        sums = getattr(self, "_sums", None)
        sums = self._new_sums() if sums is None else sums
        sums.add_data(data)
        if sums.is_empty:
            return self
        if not self.__sklearn_is_fitted__():
            self._remember_columns(X)
            self._note_target(y)
        self._sums, self._solution, self._model = sums, None, None
        self._warn_of_dominant_values(data, None)
        return self

    def _warn_of_dominant_values(self, data: Data, sums: AnySums | None) -> None:
        """Warn of values so large that float64 loses the other values of their column."""
        if self._lost_beside is None:
            return
        rows, counted = data.present().rows, data.counted
        length, mean = (None, None) if sums is None else sums.column_sizes()
        weight = None if counted.weight is not None else float(rows.n_rows)
        dominant = dominant_values(rows, self._lost_beside, length, mean, weight)
        warn_of_dominant_values(data, dominant, self._name, stacklevel=5)

    def merge(self, *others: Self) -> Self:
        """Return an estimator fitted to the rows of this one and of others.

        It equals one fit on all rows, up to rounding.

        Parameters
        ----------
        *others
            Fitted estimators of the same class, parameters and columns.

        Returns
        -------
        estimator
        """
        self._check_sums_suffice()
        total = self._summed() + self._new_sums()  # a copy, also without others
        for number, other in enumerate(others, start=2):
            self._check_alike(other, number)
            total = total + other._summed()
        return self._with_sums(total)

    def subtract(self, *others: Self) -> Self:
        """Return an estimator without the rows of others: the inverse of ``merge``.

        It equals one fit on the remaining rows, to 1e-8 of its weights. If cancellation leaves too
        few correct digits, an error names the columns and the digits left.

        Parameters
        ----------
        *others
            Fitted estimators of the same class, parameters and columns. Their rows must be among
            the training rows of this one.

        Returns
        -------
        estimator
        """
        self._check_sums_suffice()
        left = self._summed() + self._new_sums()
        for number, other in enumerate(others, start=2):
            self._check_alike(other, number)
            try:
                left = self._subtract_sums(left, other._summed())
            except SignificanceError as error:
                raise ValueError(f"Estimator {number}: {error.text(self._sum_name)}") from None
            except ValueError as error:
                raise ValueError(f"Estimator {number}: {error}") from None
            if left.is_empty:
                raise ValueError(
                    f"After estimator {number} was subtracted no row is left to learn from."
                )
        made = self._with_sums(left)
        made._solved()  # raises if too few digits or a single class are left
        return made

    def _sum_name(self, column: int) -> str:
        """Return the name of a column of the sums: a column of X, or the target."""
        return self._name(column) if column < self.n_features_in_ else "the target"

    def _subtract_sums(self, whole: AnySums, part: AnySums) -> AnySums:
        """Return the sums of the rows that are not in ``part``."""
        difference: AnySums = whole - part
        return difference

    def _check_alike(self, other: Self, number: int) -> None:
        """Refuse an estimator whose sums are not compatible, and name the difference."""
        if type(other) is not type(self):
            raise TypeError(
                f"Estimator {number} is a {type(other).__name__}, the first a "
                f"{type(self).__name__}. Only the same learners have the same sums."
            )
        own, theirs = self._plain_parameters(), other._plain_parameters()
        same = {name: np.array_equal(own[name], theirs[name]) for name in own}
        odd = next((name for name in own if not same[name]), None)
        if odd is not None:
            raise ValueError(
                f"Estimator {number} differs in {odd}: {theirs[odd]!r}, the first has {own[odd]!r}."
            )
        if self._column_names != other._column_names:
            raise ValueError(f"Estimator {number} has other column names.")
        encoders = self._encoder, other._encoder
        if None not in encoders and not same_encoder(*encoders):
            raise ValueError(
                f"Estimator {number} has another encoder, so its columns are other numbers. Fit "
                "one encoder and train both estimators with it."
            )

    def _summed(self) -> AnySums:
        check_is_fitted(self)
        if self._sums is None:
            raise ValueError(
                f"This {type(self).__name__} has no sums to add to, merge or subtract: it was "
                "fitted from the rows themselves, as fewer rows than features and many sparse "
                "columns are, or its weights were set. Start with partial_fit, which keeps sums."
            )
        return self._sums

    def _with_sums(self, sums: AnySums) -> Self:
        """Return an estimator with the same parameters and other sums."""
        return self._passed_on(type(self)(**self.get_params(deep=False)), sums)

    def _with_solution(self, solution: Solution) -> Self:
        """Return an estimator with the same parameters, fitted in regression without sums."""
        made = type(self)(**self.get_params(deep=False))
        self._passed_on(made, None)
        made._solution, made._model = solution, made._build_model(solution, None)
        return made

    def _passed_on(self, made: AnyEstimator, sums: AnySums | None) -> AnyEstimator:
        """Copy the columns of this estimator and set the sums of a new one; return the new one."""
        made.n_features_in_ = self.n_features_in_
        if "feature_names_in_" in self.__dict__:
            made.feature_names_in_ = self.feature_names_in_
        made._column_names, made._encoder = self._column_names, self._encoder
        made._sums, made._solution, made._model, made._announced = sums, None, None, None
        return made

    # ------------------------------------------------------------------ the model

    def _solved(self) -> Solution:
        check_is_fitted(self)
        if self._solution is None:
            check_parameters(self, self._requirements)
            self._solution = self._solve(self._summed(), None)
        return self._solution

    def _learned(self, name: str) -> Any:
        """Return a fitted value by name."""
        learned = self._solved().learned
        if name not in learned:
            raise changed_model_error(f"{name}_")
        return learned[name]

    def _take_model(self, model: LinearModel) -> None:
        self._sums, self._announced, self._model = None, None, model
        self._solution = Solution(model.weights, model.intercept)

    def _weights_only(self) -> LinearModel:
        solution = self._solved()
        if self._model is None:
            self._model = self._build_model(solution, self._summed().classes)
        return self._model

    def _complete(self) -> Solution:
        """Return the solution with evidence that was deferred."""
        solution, model = self._solved(), self._weights_only()
        if solution.deferred is not None:
            solution = self._solution = solution.complete()
            self._model = replace(model, evidence=solution.evidence)
        return solution

    @property
    def evidence_(self) -> dict[str, Any]:
        """Evidence of the fit; see the class."""
        self._complete()
        return super().evidence_

    @property
    def model_(self) -> LinearModel:
        """The model, with the sums it was solved from, if any."""
        self._complete()
        model = self._weights_only()
        if model.state is None and self._sums is not None:
            model = self._model = replace(model, state=self._sums.to_state())
        return model

    @classmethod
    def from_model(cls, model: LinearModel) -> Self:
        """Return an estimator that continues training from a saved model.

        Parameters
        ----------
        model : LinearModel
            A model of this learner with its sums (``model.save(path, include_state=True)``).

        Returns
        -------
        estimator
        """
        if model.learner != cls.__name__:
            raise ValueError(f"The model was learned by {model.learner}, not by {cls.__name__}.")
        if model.state is None:
            raise ValueError(
                "The model has no sums to continue from. Save it with include_state=True."
            )
        estimator = cls._with_parameters_of(model)
        sums = estimator._new_sums().from_state(model.state)
        estimator.n_features_in_ = model.n_features
        estimator._column_names, estimator._encoder = model.feature_names, model.encoder
        if model.feature_names is not None and model.encoder is None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        estimator._sums, estimator._solution = sums, None
        estimator._model, estimator._announced = None, None
        estimator._resume(model)
        return estimator

    def _resume(self, model: LinearModel) -> None:
        """Restore or check what the learner needs from a saved model besides its sums."""

    def _target_classes(self, data: Data, sums: AnySums | None) -> NDArray[Any] | None:
        """Return the classes of a fit, None in regression."""
        del data
        return None if sums is None else sums.classes

    def _build_model(self, solution: Solution, classes: NDArray[Any] | None) -> LinearModel:
        return LinearModel(
            weights=solution.weights,
            intercept=solution.intercept,
            classes=classes,
            link=self._link(),
            feature_names=self._column_names,
            encoder=self._encoder,
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family=self._family,
            evidence=solution.evidence,
            threshold=self._threshold(),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_sums", None) is not None or getattr(self, "_model", None) is not None


def warn_of_dominant_values(
    data: Data, dominant: list[DominantValue], name: Callable[[int], str], *, stacklevel: int
) -> None:
    """Warn of dominant values among the rows of non-zero weight; ``name`` names a column."""
    if dominant:
        if data.counted.rows is not None:
            original = data.counted.rows
            dominant = [replace(value, row=int(original[value.row])) for value in dominant]
        warnings.warn(message(dominant, name), DominantValueWarning, stacklevel=stacklevel)
