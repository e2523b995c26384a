"""TableClassifier and TableRegressor: an encoder and a learner for raw tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.estimators.elastic_net import ElasticNet
from separable.data.columns import Columns, as_columns
from separable.data.ingest.dates import TypedColumns
from separable.data.table import TableError, require_columns
from separable.estimator import Estimator, check_is_fitted, clone
from separable.features.table.table_encoder import TableEncoder
from separable.select.estimators.logistic_regression_cv import LogisticRegressionCV
from separable.select.estimators.ridge_cv import RidgeCV
from separable.workflow.target import column_of_classes, column_of_numbers
from separable.workflow.training_problem import fit_encoded

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray

    from separable.features.table.column_states import ColumnTable
    from separable.model.explain.explanation import Explanation
    from separable.model.linear_model import LinearModel


__all__ = [
    "TableClassifier",
    "TableLearner",
    "TableRegressor",
]


@dataclass(eq=False, repr=False)
class TableLearner(Estimator):
    """An encoder and a learner behind one ``fit(table, target)``."""

    learner: Any = None
    encoder: Any = None

    # --- what the two kinds differ in ---

    def _default_learner(self, encoder: TableEncoder, n_rows: int) -> Any:
        raise NotImplementedError

    def _target_column(self, columns: Columns, name: str) -> NDArray[Any]:
        raise NotImplementedError

    # --- learning ---

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Encode a table and fit the learner.

        Parameters
        ----------
        X : data frame, pyarrow Table, dict of columns or list of dicts
        y : str or array-like
            Name of the target column, which is then not a feature; or the values themselves.
        sample_weight : array-like, optional
            Sample weights for the learner.

        Returns
        -------
        object
            The fitted estimator.
        """
        columns = as_columns(X)
        if not columns.n_rows:
            raise TableError("The table has no rows.")
        target, columns = self._split(columns, y)
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        columns = TypedColumns(columns)
        rows = encoder.fit(columns).encode(columns)
        if self.learner is None:
            learner = self._default_learner(encoder, columns.n_rows)
        else:
            learner = clone(self.learner)
        model: Any = fit_encoded(learner, encoder, rows, target, sample_weight)
        self.encoder_ = encoder
        self.learner_ = learner
        self._model = replace(model, encoder=encoder.without_state(), feature_names=None)
        self.target_name_ = y if isinstance(y, str) else None
        self.n_features_in_ = len(columns.names)
        self.feature_names_in_ = np.array(columns.names, dtype=object)
        if hasattr(learner, "classes_"):
            self.classes_ = learner.classes_
        return self

    def _split(self, columns: Columns, y: Any) -> tuple[Any, Columns]:
        """Return the target, and the columns without it."""
        if not isinstance(y, str):
            return y, columns
        require_columns([y], columns.names, "The table")
        rest = {name: columns.raw(name) for name in columns.names if name != y}
        if not rest:
            raise TableError(f"There is no feature column: the target {y!r} is the only column.")
        return self._target_column(columns, y), Columns(rest, columns.n_rows)

    def _y_true(self, X: Any, y: Any) -> Any:
        """Return the true values to compare predictions with."""
        name = self.target_name_ if y is None else y
        if name is None:
            raise ValueError(
                "score needs the true values: pass them, or the name of their column, as y."
            )
        return self._target_column(as_columns(X), name) if isinstance(name, str) else name

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2 in regression.

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
        return float(super().score(X, self._y_true(X, y), sample_weight))

    # --- what it learned ---

    @property
    def model_(self) -> LinearModel:
        """The linear model, including the encoder: it reads raw records."""
        check_is_fitted(self)
        model: LinearModel = self._model
        return model

    @property
    def columns_(self) -> ColumnTable:
        """Inferred type of each column, the reason, and the number of output features."""
        check_is_fitted(self)
        table: ColumnTable = self.encoder_.columns_
        return table

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # --- using it ---

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, or in regression its number.

        Parameters
        ----------
        X : data frame, pyarrow Table, dict of columns or list of dicts
            Columns that were not present in `fit`, and the target, are ignored.

        Returns
        -------
        ndarray
        """
        return self.model_.predict(X)

    def predict_one(self, record: Mapping[str, Any]) -> Any:
        """Return the class or number of one record, faster than `predict`.

        Parameters
        ----------
        record : dict

        Returns
        -------
        object
        """
        model: Any = self.model_
        if not hasattr(model, "predict_one"):  # votes have no fast path
            return model.predict([record])[0]
        return model.predict_one(record)

    def explain(self, X: Any) -> Explanation:
        """Return the exact contribution of each raw column, level or word to each score.

        Parameters
        ----------
        X : data frame, pyarrow Table, dict of columns or list of dicts

        Returns
        -------
        Explanation
            ``by_column()`` has one number per raw column.
        """
        return self.model_.explain(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with its encoder to a file that ``separable.load`` reads.

        Parameters
        ----------
        path : str or path
        """
        self.model_.save(path)


class TableClassifier(TableLearner):
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

    _estimator_type = "classifier"

    def _default_learner(self, encoder: TableEncoder, n_rows: int) -> Any:
        del encoder, n_rows
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


class TableRegressor(TableLearner):
    """A regressor of raw tables: an encoder and a learner in one object.

    Parameters
    ----------
    learner : regressor, optional
        Any regressor of this library. By default `RidgeCV`, which chooses its penalty by
        leave-one-out cross-validation; with increasing, decreasing or nonnegative columns
        ``ElasticNet(alpha=1 / n, l1_ratio=0)``, ridge regression with signs.
    encoder : TableEncoder, optional
        By default ``TableEncoder()``, which infers the type of each column.

    Attributes
    ----------
    model_ : LinearModel
        Includes the encoder: it predicts, explains and is saved for raw records.
    encoder_ : TableEncoder
    learner_ : regressor
    columns_ : ColumnTable
        Inferred type of each column; it prints as a table.

    Examples
    --------
    >>> from separable import Ridge, TableRegressor
    >>> table = {"rooms": [1, 2, 3, 4], "town": ["x", "y", "x", "y"], "rent": [5, 11, 9, 15]}
    >>> model = TableRegressor(Ridge(alpha=1e-6)).fit(table, "rent")
    >>> round(model.predict_one({"rooms": 5, "town": "x"}), 3)
    13.0
    """

    _estimator_type = "regressor"

    def _default_learner(self, encoder: TableEncoder, n_rows: int) -> Any:
        return ElasticNet(alpha=1.0 / n_rows, l1_ratio=0.0) if encoder.constraints else RidgeCV()

    def _target_column(self, columns: Columns, name: str) -> NDArray[Any]:
        return column_of_numbers(columns, name)
