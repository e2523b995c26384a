"""What every moment learner shares: sums to add to, and a model solved from them when asked for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.data.rows import column_names
from separable.fitting.base import LinearEstimator
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
    from numpy.typing import NDArray

    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["AnySums", "MomentEstimator", "RowSums", "Solution"]

#: What sums a learner keeps: ``Moments`` or ``ClassCounts``.
AnySums = TypeVar("AnySums", bound="RowSums")
AnyEstimator = TypeVar("AnyEstimator", bound="MomentEstimator[Any]")


class RowSums(Protocol):
    """What a moment learner knows of the rows: a value that can be added to, merged, un-merged."""

    @property
    def is_empty(self) -> bool:
        """Whether no row was added."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes met, sorted; None without classes."""

    def add_data(self, data: Data, chosen: NDArray[np.intp] | None = None) -> Self:
        """Add rows that were checked, or the chosen of them."""

    def __add__(self, other: Any) -> Any: ...

    def __sub__(self, other: Any) -> Any: ...

    def column_sizes(self) -> tuple[Floats, Floats]:
        """Return a bound on the distance of values from the mean, and the mean, by column."""

    def to_state(self) -> TrainingState:
        """Return the sums as a model file keeps them."""

    @classmethod
    def from_state(cls, state: TrainingState) -> Self:
        """Return the sums of a model file, after checking them."""


@dataclass(frozen=True)
class Solution:
    """What a learner makes of sums.

    Parameters
    ----------
    weights, intercept : ndarray, shapes (k, d) and (k,)
    evidence : dict
        For the model.
    learned : dict
        What the estimator shows besides, by attribute.
    """

    weights: Floats
    intercept: Floats
    evidence: dict[str, Any] = field(default_factory=dict)
    learned: dict[str, Any] = field(default_factory=dict)


class MomentEstimator(LinearEstimator, Generic[AnySums]):
    """A learner that needs the rows only through sums."""

    #: What to use where the sums do not fit in memory.
    _instead: ClassVar[str]
    #: Values below this fraction of the largest are lost beside it; None: no value is too large.
    _lost_beside: ClassVar[float | None] = SQUARES

    _sums: AnySums | None
    _solution: Solution | None
    _announced: NDArray[Any] | None

    # ------------------------------------------------------------------ hooks

    def _new_sums(self) -> AnySums:
        """Return the sums of no rows."""
        raise NotImplementedError

    def _sums_of(self, data: Data) -> AnySums:
        """Return the sums of all rows of a fit."""
        return self._new_sums().add_data(data)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        """Check rows, target and weights."""
        raise NotImplementedError

    def _solve(self, sums: AnySums, data: Data | None) -> Solution:
        """Solve from sums; after ``fit`` the rows are there too, for digits that sums lack."""
        raise NotImplementedError

    def _solve_rows(self, data: Data) -> Solution | None:
        """Solve from the rows where that is better than sums, as with d > n; None: it is not."""
        del data
        return None

    def _threshold(self) -> float | None:
        """Return the threshold above which values count as 1, None: they are as they are."""
        return None

    def _needs_rows(self) -> bool:
        """Say whether these parameters need the rows themselves, as for a second pass over them."""
        return False

    def _check_sums_suffice(self) -> None:
        """Refuse to add to sums, or to merge them, with parameters that need the rows again."""

    def _left_out_scores(self, sums: AnySums, data: Data) -> Floats | None:
        """Return the scores, (n, k), that each row gets from the fit to all other rows.

        Exact, without n fits. A class of which the row was the only one has no score: -inf, and of
        two classes the score is infinite on the side of the other. NaN: too few digits are left
        for the row, which is to be refitted. None: there is no short cut.
        """
        del sums, data
        return None

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class, or the number, of each row.
        sample_weight : array-like of shape (n,), optional
            A row of weight k counts as k rows; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
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
            self._column_names = before  # what was learned earlier stays
            raise
        self._remember_columns(X)
        self._sums, self._solution, self._announced = sums, solution, None
        self._model = self._build_model(solution, self._target_classes(data, sums))
        return self

    def _add(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Add rows to the sums; the model is solved when it is next asked for."""
        check_parameters(self, self._requirements)
        self._check_sums_suffice()
        if self.__sklearn_is_fitted__():
            self._check_rows(X)
            if self._sums is None:
                raise ValueError(
                    f"This {type(self).__name__} was fitted to fewer rows than features, from the "
                    "rows themselves, and has no sums to add to. Start with partial_fit instead."
                )
        data = self._read(X, y, sample_weight)
        sums = getattr(self, "_sums", None)
        sums = self._new_sums() if sums is None else sums
        sums.add_data(data)
        if sums.is_empty:
            return self
        if not self.__sklearn_is_fitted__():
            self._remember_columns(X)
        self._sums, self._solution, self._model = sums, None, None
        self._warn_of_dominant_values(data, None)
        return self

    def _warn_of_dominant_values(self, data: Data, sums: AnySums | None) -> None:
        """Name values beside which float64 does not see the others of their column."""
        if self._lost_beside is None:
            return
        rows, counted = data.present().rows, data.counted
        length, mean = (None, None) if sums is None else sums.column_sizes()
        weight = None if counted.weight is not None else float(rows.n_rows)
        dominant = dominant_values(rows, self._lost_beside, length, mean, weight)
        if dominant:
            original = [
                value if counted.rows is None else replace(value, row=int(counted.rows[value.row]))
                for value in dominant
            ]
            warnings.warn(message(original, self._name), DominantValueWarning, stacklevel=4)

    def merge(self, *others: Self) -> Self:
        """Return an estimator that has learned from the rows of this one and of others.

        It equals one fit on all the rows, to rounding.

        Parameters
        ----------
        *others
            Fitted estimators of the same class, parameters and columns.

        Returns
        -------
        estimator
        """
        self._check_sums_suffice()
        total = self._summed() + self._new_sums()  # not the same object, if there are no others
        for number, other in enumerate(others, start=2):
            self._check_alike(other, number)
            total = total + other._summed()
        return self._with_sums(total)

    def subtract(self, *others: Self) -> Self:
        """Return an estimator that has not learned from the rows of others: it undoes ``merge``.

        It equals one fit on the rows that stay, to 1e-8 of its weights. Sums of which too few
        digits are left are refused, with the columns and the digits that are left.

        Parameters
        ----------
        *others
            Fitted estimators of the same class, parameters and columns. Their rows must be among
            those that this one has learned from.

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
        made._solved()  # refuses what is left if it has too few digits, or a single class
        return made

    def _sum_name(self, column: int) -> str:
        """Return the name of a column of the sums: of X, or after them the target."""
        return self._name(column) if column < self.n_features_in_ else "the target"

    def _subtract_sums(self, whole: AnySums, part: AnySums) -> AnySums:
        """Return sums without those of a part of the rows."""
        difference: AnySums = whole - part
        return difference

    def _check_alike(self, other: Self, number: int) -> None:
        """Refuse an estimator whose sums are of another kind, naming the difference."""
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
                f"This {type(self).__name__} was fitted to fewer rows than features, from the rows "
                "themselves, and has no sums to merge or subtract. Use partial_fit, which keeps "
                "them."
            )
        return self._sums

    def _with_sums(self, sums: AnySums) -> Self:
        """Return an estimator like this one that has learned from other rows."""
        return self._passed_on(type(self)(**self.get_params(deep=False)), sums)

    def _passed_on(self, made: AnyEstimator, sums: AnySums) -> AnyEstimator:
        """Return a new estimator after giving it the columns of this one, and sums."""
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
        """Return what the solution says under a name."""
        return self._solved().learned[name]

    def _weights_only(self) -> LinearModel:
        solution = self._solved()
        if self._model is None:
            self._model = self._build_model(solution, self._summed().classes)
        return self._model

    @property
    def model_(self) -> LinearModel:
        """The model, with the sums it was solved from where there are some."""
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
            Of this learner, with its sums (``model.save(path, include_state=True)``).

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
        """Take from a saved model, or check, what a learner needs besides its sums."""

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
            family="moments",
            evidence=solution.evidence,
            threshold=self._threshold(),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_sums", None) is not None or getattr(self, "_model", None) is not None
