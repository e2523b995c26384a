"""TableRegressor: regression on raw tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from separable.select.estimators.ridge_cv import RidgeCV
from separable.table.table_learner import TableLearner, column_of_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.columns import Columns

__all__ = ["TableRegressor"]


class TableRegressor(RegressorMixin, TableLearner):
    """A regressor of raw tables: an encoder and a learner in one object.

    Parameters
    ----------
    learner : regressor, optional
        Any regressor of this library. By default `RidgeCV`, which chooses its penalty by
        leave-one-out cross-validation.
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

    def _default_learner(self) -> Any:
        return RidgeCV()

    def _target_column(self, columns: Columns, name: str) -> NDArray[Any]:
        return column_of_numbers(columns, name)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2, the coefficient of determination.

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
        return float(r2_score(y_true, self.predict(X), sample_weight=sample_weight))
