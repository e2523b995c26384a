"""scikit-learn's ``OneHotEncoder`` over ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.features.one_hot.one_hot_encoder import OneHotEncoder as Encoder
from separable.sklearn.theirs import (
    aligned,
    check_array,
    check_is_fitted,
    output_config,
    preprocessing,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

__all__ = ["OneHotEncoder"]


class _Encoder(Encoder):
    """Our encoder with scikit-learn's name of the group of infrequent levels."""

    _group_name = "infrequent_sklearn"


class OneHotEncoder(preprocessing.OneHotEncoder):
    """Indicator columns of levels, with scikit-learn's parameters and attributes."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the levels of each column."""
        self._validate_params()
        _check_columns(X)
        options = self.get_params(deep=False) | {"feature_name_combiner": "concat"}
        self._encoder = encoder = _Encoder(**options).fit(X, y)
        validate_data(self, X, reset=True, skip_check_array=True)
        self.n_features_in_ = encoder.n_features_in_
        self.categories_, self.drop_idx_ = encoder.categories_, encoder.drop_idx_
        return self

    def transform(self, X: Any) -> Any:
        """Return the indicator columns."""
        check_is_fitted(self)
        output = output_config("transform", estimator=self)["dense"]
        if output != "default" and self.sparse_output:
            name = output.capitalize()
            raise ValueError(
                f"{name} output does not support sparse data. Set sparse_output=False to output "
                f"{output} dataframes or disable {name} output via"
                '` ohe.set_output(transform="default").'
            )
        _check_columns(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        self._encoder.set_params(
            handle_unknown=self.handle_unknown, sparse_output=self.sparse_output
        )
        return aligned(self._encoder.encode(X).to_matrix().astype(self.dtype))

    def inverse_transform(self, X: Any) -> Any:
        """Return the levels of encoded rows."""
        check_is_fitted(self)
        return self._encoder.inverse_transform(X)

    @property
    def infrequent_categories_(self) -> Any:
        """Levels of each column that share one output column."""
        return self._encoder.infrequent_categories_

    def _compute_transformed_categories(self, i: int, remove_dropped: bool = True) -> Any:
        """Return the levels of the output columns of a column, for their names."""
        del remove_dropped
        return self._encoder.column_levels[i].out()


def _check_columns(X: Any) -> None:
    """Refuse one column, with scikit-learn's message."""
    if getattr(X, "ndim", 2) == 1:
        check_array(X, dtype=None)
