"""Rows scored by a model, with true targets and raw values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.kinds import Model
    from separable.model.metrics.metric_registry import Predictions

__all__ = ["ScoredRows", "raw_values"]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with true targets and the predictions of a model.

    Parameters
    ----------
    model : LinearModel or VotedModel
        The model, with its encoder.
    rows : Rows
        Encoded.
    y_true : ndarray, shape (n,)
    predictions : Predictions
    row_indices : ndarray of int, shape (n,)
        Indices of the rows in their file or table.
    weight : ndarray, shape (n,), or None
    raw : callable, optional
        Returns the raw values of a row by column, given its index among these rows.
    """

    model: Model
    rows: Rows
    y_true: NDArray[Any]
    predictions: Predictions
    row_indices: NDArray[np.integer[Any]]
    weight: NDArray[np.float64] | None = None
    raw: Callable[[int], Mapping[str, Any]] | None = None

    def labels(self) -> NDArray[Any]:
        """Return the true labels with one type: that of the model, if it knows them all."""
        from separable.model.metrics.metric_case import ClassCase, case_of

        if self.predictions.classes is None:
            return self.y_true
        case = case_of(self.y_true, self.predictions)
        assert isinstance(case, ClassCase)
        known: NDArray[Any] = self.predictions.classes
        if case.y_true.max(initial=0) >= case.n_known:
            known = np.array([str(label) for label in case.labels])
        return known[case.y_true]


def raw_values(
    table: pa.Table, columns: Iterable[str], renamed: Mapping[str, str] | None = None
) -> Callable[[int], Mapping[str, Any]]:
    """Return a function from the index of a row to its raw values, with columns renamed."""
    names = {(renamed or {}).get(name, name): name for name in columns}
    return lambda row: {name: table[column][row].as_py() for name, column in names.items()}
