"""Base class of the moment classifiers: labels, priors, and classes that appear later."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.data.row_operations import indicator_rows
from separable.fitting.targets import check_labels, find_classes, weigh_rows
from separable.model.parameters import Requirement
from separable.model.predict.scores import linear_scores
from separable.moments.base import AnySums, MomentEstimator
from separable.moments.regression.rank_warning import RankWarning
from separable.statistics.weighted_rows import Data, checked_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.linear_model import Link
    from separable.typing import Floats

__all__ = ["PRIORS", "MomentClassifier", "class_priors", "without_lone_classes"]


class MomentClassifier(MomentEstimator[AnySums]):
    """Base of classifiers that need the rows only through sums.

    Scores are log-probabilities up to a term shared by the classes, unless ``_link`` differs.
    """

    _estimator_type = "classifier"

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        rows = checked_rows(X)
        labels = check_labels(y, rows.n_rows, type(self).__name__)
        return Data(rows, labels, weigh_rows(sample_weight, None, labels), X)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class of each row; at least two classes.
        sample_weight : array-like of shape (n,), optional
            A row of weight k counts as k rows; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the training data.

        The result equals one ``fit`` on all rows. Only the sums are updated; the model is solved
        when it is next needed.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class of each row. New classes may appear at any time unless ``classes`` was given.
        classes : array-like, optional
            All possible classes; only at the first call. ``classes_`` has the classes seen.
        sample_weight : array-like of shape (n,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        announced: NDArray[Any] | None = getattr(self, "_announced", None)
        if classes is not None:
            labels_given = np.unique(check_labels(classes, len(classes), type(self).__name__))
            if announced is not None and not np.array_equal(labels_given, announced):
                raise ValueError(
                    f"classes={labels_given.tolist()} is not the same as on the first call to "
                    f"partial_fit: {announced.tolist()}. Give it only there."
                )
            announced = labels_given
        if announced is not None:
            labels = check_labels(y, len(y), type(self).__name__)
            new = np.flatnonzero(find_classes(labels, announced) < 0)
            if len(new):
                raise ValueError(
                    f"Row {new[0]} has class {labels.tolist()[new[0]]!r}, which is not among the "
                    f"classes that were announced: {announced.tolist()}."
                )
        self._add(X, y, sample_weight)
        self._announced = announced
        return self

    def _check_classes(self, classes: NDArray[Any] | None) -> None:
        """Refuse to solve for a single class."""
        if classes is not None:
            self._refuse_one_class(classes)

    def _target_classes(self, data: Data, sums: AnySums | None) -> NDArray[Any] | None:
        return np.unique(data.present().y) if sums is None else sums.classes

    def _refit_scores(
        self, data: Data, classes: NDArray[Any], scores: Floats, which: NDArray[np.intp]
    ) -> None:
        """Write the scores of some rows, (n, K), from refits without them."""
        threshold = self._threshold()
        for row in which.tolist():
            others, one = data.without(row), data.rows.slice(row, row + 1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RankWarning)
                sums = self._new_sums().add_data(others)
                solution = self._solve(sums, others)
            if threshold is not None:
                one = indicator_rows(one, threshold)
            own = linear_scores(one, solution.weights, solution.intercept)[0]
            assert sums.classes is not None
            scores[row] = -np.inf
            columns = np.searchsorted(classes, sums.classes)
            scores[row, columns] = own if len(own) == len(columns) else [0.0, own[0]]

    def _link(self) -> Link:
        return "softmax"


def without_lone_classes(
    scores: Floats, label: NDArray[np.intp], alone: NDArray[np.bool_]
) -> Floats:
    """Mark leave-one-out scores, (n, k): -inf for the class of a row that was its only one."""
    if scores.shape[1] == 1:
        scores[alone, 0] = np.where(label[alone] == 0, np.inf, -np.inf)
    else:
        scores[alone, label[alone]] = -np.inf
    return scores


#: Warn if the sum of the specified priors differs from 1 by more than this.
SUM_TOLERANCE = 1e-5


def _are_positive(value: Any) -> bool:
    if value is None:
        return True
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    one_a_class = numbers.ndim == 1 and len(numbers) > 0
    return one_a_class and bool((np.isfinite(numbers) & (numbers > 0)).all())


#: None, or one number above 0 a class.
PRIORS = Requirement("None or a list of finite floats > 0, one a class", _are_positive)


def class_priors(specified: Any, weight: Floats) -> Floats:
    """Return the class priors: as specified, or the class frequencies."""
    if specified is None:
        frequencies: Floats = weight / weight.sum()
        return frequencies
    priors = np.asarray(specified, dtype=np.float64)
    if len(priors) != len(weight):
        raise ValueError(
            f"priors has {len(priors)} numbers, but the rows have {len(weight)} classes. Give one "
            "prior a class, in the order of the sorted classes."
        )
    total = float(priors.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        warnings.warn(
            f"The priors sum to {total:g}, not to 1, and are divided by that.",
            UserWarning,
            stacklevel=5,
        )
    return priors / total
