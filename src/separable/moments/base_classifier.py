"""Base class of the moment classifiers: labels, and classes that appear later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.fitting.base import LinearClassifier
from separable.fitting.targets import check_labels, find_classes, weigh_rows
from separable.model.predict.probability import model_log_probabilities
from separable.moments.base import AnySums, MomentEstimator
from separable.statistics.weighted_rows import Data, checked_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.linear_model import Link

__all__ = ["BayesClassifier", "MomentClassifier"]


class MomentClassifier(LinearClassifier, MomentEstimator[AnySums]):
    """Base of classifiers that need the rows only through sums."""

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


class BayesClassifier(MomentClassifier[AnySums]):
    """Base of classifiers whose scores are log-probabilities up to a shared term."""

    def _link(self) -> Link:
        return "softmax"

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class by Bayes' rule, (n, K)."""
        return self._weights_only().predict_proba(self._check_rows(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log-probabilities, (n, K), accurate also where a probability underflows."""
        return model_log_probabilities(self._weights_only(), self.decision_function(X))
