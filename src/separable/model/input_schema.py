"""Input schema of a model: the raw columns of a row, with types, levels, ranges and an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from separable.features.table.table_encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.model.column_statistics import ColumnStatistics
    from separable.model.kinds import Model

__all__ = ["LARGEST_NUMBER", "InputColumn", "example_row", "input_schema"]

#: A service refuses larger numbers: scores might not be finite.
LARGEST_NUMBER = 1e100

Kind = Literal["number", "category", "boolean", "date", "text"]


@dataclass(frozen=True)
class InputColumn:
    """One raw column that a model reads.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "boolean", "date", "text"}
    levels : tuple of str
        Levels of a category in the training data, without rare ones.
    low, high : float or None
        Range in the training data.
    converted : bool
        Whether texts such as ``$1,200`` are converted.
    missing : bool
        Whether the training data had missing values.
    needs_value : bool
        Whether missing values are refused.
    example : object
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    converted: bool = False
    missing: bool = False
    needs_value: bool = False
    example: Any = None

    @property
    def policy(self) -> str:
        """What becomes of a missing value, in words."""
        if self.needs_value:
            return "an error"
        if self.missing:
            return "an indicator of its own, as in the training data"
        mean = "the mean of the training data"
        known = {"number": mean, "date": mean, "boolean": "false", "text": "the empty text"}
        return known.get(self.kind, "no level")


def input_schema(model: Model) -> tuple[InputColumn, ...] | None:
    """Return the raw columns of a model in their order; None if records have any keys.

    Parameters
    ----------
    model : LinearModel or VotedModel
    """
    encoder: Any = model.encoder
    if isinstance(encoder, TableEncoder):
        return _of_table(model, encoder)
    kind = getattr(encoder, "kind", None)
    if kind == "text":
        return (InputColumn("text", "text", example="A text of some words."),)
    if kind == "dict":
        return None
    if encoder is not None:
        names = getattr(encoder, "feature_names_in_", None)
        count = encoder.n_features_in_ if names is None else len(names)
        of = "number" if kind in ("polynomial", "spline") else "category"
        return tuple(
            InputColumn(str(name), cast("Kind", of), needs_value=True)
            for name in ([f"x{j}" for j in range(count)] if names is None else names)
        )
    feature_names = model.feature_names or [f"x{j}" for j in range(model.n_features)]
    return tuple(
        InputColumn(name, "number", needs_value=True, example=0.0) for name in feature_names
    )


def example_row(columns: tuple[InputColumn, ...]) -> dict[str, Any]:
    """Return a row of examples."""
    return {column.name: column.example for column in columns}


def _of_table(model: Model, encoder: TableEncoder) -> tuple[InputColumn, ...]:
    known: Mapping[str, ColumnStatistics] = {
        each.name: each for each in getattr(model, "column_statistics", ())
    }
    typical = _typical(model)
    columns = []
    for each in encoder.column_encoders:
        statistics, levels = known.get(each.name), tuple(getattr(each, "levels", ()))
        columns.append(
            InputColumn(
                each.name,
                cast("Kind", each.kind),
                levels,
                None if statistics is None else statistics.low,
                None if statistics is None else statistics.high,
                each.name in encoder.conversions_,
                bool(getattr(each, "missing", False)),
                example=typical.get(each.name, _fallback(each, levels)),
            )
        )
    return tuple(columns)


def _typical(model: Model) -> Mapping[str, Any]:
    """Return the typical row that training has recorded, or {}."""
    record: Any = model.evidence.get("train")
    for name in ("report", "typical"):
        record = record.get(name) if isinstance(record, dict) else None
    return record if isinstance(record, dict) else {}


def _fallback(column: Any, levels: tuple[str, ...]) -> Any:
    """Return an example of a column that training recorded no typical value of."""
    if column.kind == "number":
        knots = getattr(column, "knots", ())
        return float(f"{knots[len(knots) // 2] if len(knots) else column.mean:.6g}")
    examples = {"boolean": True, "date": "2024-01-31", "text": "A text of some words."}
    return levels[0] if levels else examples.get(column.kind)
