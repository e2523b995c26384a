"""Rows in a model file with their scores, on which the loaded model tests itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from separable.features.table.category_column import CategoryColumn
from separable.features.table.number_column import BooleanColumn, NumberColumn
from separable.features.table.table_encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.model.linear_model import LinearModel

__all__ = ["SelfTest", "made_self_test"]

#: Numbers of the made rows, in standard deviations from the mean.
DEVIATIONS = (0.0, 1.0, -0.5, 2.0, 0.25, -1.5)
#: Tables with more columns have no test rows.
MOST_COLUMNS = 1000


@dataclass(frozen=True)
class SelfTest:
    """Raw rows and their scores.

    Parameters
    ----------
    rows : tuple of dict
        JSON values by column.
    scores : tuple of tuple of float
        The scores of each row.
    """

    rows: tuple[dict[str, Any], ...]
    scores: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.scores):
            raise ValueError(
                f"the model has {len(self.rows)} test rows and scores of {len(self.scores)}."
            )

    def differing_row(self, model: LinearModel) -> int | None:
        """Return the first row whose scores are not bit for bit the stored ones, if any."""
        if not self.rows:
            return None
        scores = _scores(model, self.rows)
        return next((i for i, row in enumerate(self.scores) if scores[i] != row), None)


def made_self_test(model: LinearModel, typical: Mapping[str, Any]) -> SelfTest | None:
    """Return made rows with their scores; no row of the training data is among them.

    Parameters
    ----------
    model : LinearModel
    typical : mapping
        Values of columns whose values cannot be made from the encoder, such as dates.
    """
    encoder = model.encoder
    if not isinstance(encoder, TableEncoder) or len(encoder.column_encoders) > MOST_COLUMNS:
        return None
    rows = tuple(
        {each.name: _value(each, k, typical.get(each.name)) for each in encoder.column_encoders}
        for k in range(len(DEVIATIONS))
    )
    rows += ({each.name: None for each in encoder.column_encoders},)
    return SelfTest(rows, _scores(model, rows))


def _value(column: Any, k: int, typical: Any) -> Any:
    """Return the k-th value of a column."""
    if isinstance(column, NumberColumn) and column.conversion is None:
        return float(f"{column.mean + DEVIATIONS[k] * column.scale:.6g}")
    if isinstance(column, CategoryColumn) and column.levels:
        return column.levels[k % len(column.levels)]
    if isinstance(column, BooleanColumn):
        return k % 2 == 1
    return typical


def _scores(model: LinearModel, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[float, ...], ...]:
    encoder = model.encoder
    assert isinstance(encoder, TableEncoder)
    detached = replace(model, encoder=encoder.without_state())  # its counts stay as they are
    scores = detached.decision_function(list(rows)).reshape(len(rows), -1)
    return tuple(map(tuple, scores.tolist()))
