"""TableClassifier: classification of raw tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from separable.select.estimators.logistic_regression_cv import LogisticRegressionCV
from separable.table.table_learner import TableLearner, column_of_classes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.data.columns import Columns

__all__ = ["TableClassifier"]


class TableClassifier(ClassifierMixin, TableLearner):
    """A classifier of raw tables: an encoder and a learner in one object.

    Parameters
    ----------
    learner : classifier, optional
        Any classifier of this library. By default `LogisticRegressionCV`, which chooses its penalty
        by cross-validation.
    encoder : TableEncoder, optional
        By default ``TableEncoder()``, which infers the type of each column.

    Attributes
    ----------
    model_ : LinearModel
        Includes the encoder: it predicts, explains and is saved for raw records.
    encoder_ : TableEncoder
    learner_ : classifier
    columns_ : ColumnTable
        Inferred type of each column; it prints as a table.
    classes_ : ndarray

    Examples
    --------
    >>> from separable import LogisticRegression, TableClassifier
    >>> table = {
    ...     "surface": ["smooth", "rough", "smooth", "rough", "smooth", "rough"],
    ...     "weight": [150, 170, 140, 130, 155, 175],
    ...     "fruit": ["apple", "orange", "apple", "orange", "apple", "orange"],
    ... }
    >>> model = TableClassifier(LogisticRegression()).fit(table, "fruit")
    >>> model.predict([{"surface": "rough", "weight": 160}]).tolist()
    ['orange']
    >>> model.explain([{"surface": "rough", "weight": 160}])
    LogisticRegression predicts orange: score +0.97... (> 0 is orange)
      feature               value    weight  contribution
      surface=rough             1  0.85...     +0.85...
      weight 160         0.42...  0.25...     +0.10...
      (1 other feature)                                 0
      intercept                               +0.00...
      score                                     +0.97...
    """

    def _default_learner(self) -> Any:
        return LogisticRegressionCV()

    def _target_column(self, columns: Columns, name: str) -> NDArray[Any]:
        return column_of_classes(columns, name)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores.

        Parameters
        ----------
        X : data frame, pyarrow Table, dict of columns or list of dicts

        Returns
        -------
        ndarray of float64, shape (n,) for two classes, else (n, number of classes)
        """
        return self.model_.decision_function(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, if the learner defines them.

        Parameters
        ----------
        X : data frame, pyarrow Table, dict of columns or list of dicts

        Returns
        -------
        ndarray of float64, shape (n, number of classes)
        """
        return self.model_.predict_proba(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : data frame, pyarrow Table, dict of columns or list of dicts
        y : str or array-like, optional
            As in `fit`; by default the target column of `fit`.
        sample_weight : array-like, optional

        Returns
        -------
        float
        """
        y_true = self._y_true(X, y)
        return float(accuracy_score(y_true, self.predict(X), sample_weight=sample_weight))
