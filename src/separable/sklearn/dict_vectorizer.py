"""scikit-learn's ``DictVectorizer`` over the compiled reader of ``DictEncoder``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.features.dict_encoder import dense, names_of_records, records_of, rows_of_records
from separable.sklearn.theirs import aligned, check_is_fitted, feature_extraction

if TYPE_CHECKING:
    from typing import Self

__all__ = ["DictVectorizer"]


class DictVectorizer(feature_extraction.DictVectorizer):
    """Columns of the features of dicts, with scikit-learn's parameters and attributes."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the names of the features."""
        self._fit_records(records_of(X), y)
        return self

    def _fit_records(self, records: list[Any], y: Any) -> None:
        del y
        self._validate_params()
        numbers, levels = names_of_records(records, keep_missing=True)
        # The name of each level, by feature and text.
        self._levels = {
            key: {text: f"{key}{self.separator}{text}" for text in texts}
            for key, texts in levels.items()
        }
        order = dict(numbers)
        for key, texts in levels.items():
            for text, when in texts.items():
                name = self._levels[key][text]
                order[name] = min(when, order.get(name, when))
        self.feature_names_ = sorted(order) if self.sort else sorted(order, key=order.__getitem__)
        self.vocabulary_ = {name: column for column, name in enumerate(self.feature_names_)}

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the names of the features, and return the matrix."""
        records = records_of(X)
        self._fit_records(records, y)
        return self._encode(records)

    def transform(self, X: Any) -> Any:
        """Return the matrix; features that are not known are left out."""
        check_is_fitted(self, ["feature_names_", "vocabulary_"])
        return self._encode(records_of(X))

    def _encode(self, records: list[Any]) -> Any:
        if not records:
            raise ValueError("Sample sequence X is empty.")
        columns = self.vocabulary_
        levels = {
            key: {text: columns[name] for text, name in texts.items() if name in columns}
            for key, texts in self._levels.items()
        }
        rows, _, _ = rows_of_records(records, columns, levels, len(columns), keep_missing=True)
        matrix = rows.to_matrix() if self.sparse else dense(rows).values
        return aligned(matrix.astype(self.dtype))
