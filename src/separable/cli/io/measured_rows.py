"""Rows of a file with their truth, to measure a model on: what evaluate and report share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.saving import remembered

if TYPE_CHECKING:
    from separable.cli.io.model_rows import ModelRows
    from separable.cli.options.options import ReadingOptions
    from separable.data.table import ColumnType
    from separable.model.kinds import Model

__all__ = [
    "constant_of",
    "positive_of",
    "refuse_several_targets",
    "rows_with_targets",
    "target_named",
]


def rows_with_targets(
    model: Model,
    data: str,
    target: str | None,
    weight: str | None,
    column: str | None,
    reading: ReadingOptions,
) -> tuple[ModelRows, str | None]:
    """Return the rows of a file with their truth, and the column of that."""
    from separable.cli.io.model_rows import ModelRows
    from separable.cli.io.row_source import RowSource

    source = RowSource(data, reading)
    besides: dict[str, ColumnType | None] = {}
    if source.is_table:
        target = target or remembered(model).get("target")
        if target is None:
            raise click.UsageError(
                "The model does not name its target column. Name it with --target."
            )
        besides[target] = "number" if model.classes is None else "category"
    elif target is not None:
        raise click.UsageError(
            f"--target {target}: each line of {source.kind} text begins with its target. Leave the "
            "option out."
        )
    if weight is not None:
        besides[weight] = "number"
    return ModelRows(model, source, besides, column, "Evaluating"), target


def positive_of(model: Model, positive: str | None) -> Any:
    """Return the class that the user names, or that of the training."""
    if model.classes is None:
        if positive is not None:
            raise click.UsageError(f"--positive {positive}: the model predicts numbers.")
        return None
    if positive is None:
        value = remembered(model).get("positive")
        return value if value in model.classes.tolist() else None
    from separable.cli.io.true_targets import positive_class

    return positive_class(model.classes, positive)


def constant_of(model: Model) -> Any:
    """Return the best constant answer for the training rows, None where it is not known."""
    value = remembered(model).get("constant")
    if model.classes is None:
        return value if isinstance(value, (int, float)) else None
    return value if value in model.classes.tolist() else None


def refuse_several_targets(model: Model, path: str) -> None:
    """Refuse a model of several numbers a row."""
    if model.classes is None and model.n_scores > 1:
        raise ValueError(
            f"{path} predicts {model.n_scores} numbers a row, and a file has one target. "
            "Evaluate it in Python: model.evaluate(X, y)."
        )


def target_named(target: str | None) -> str:
    """Return what to call the truth in a message."""
    from separable.model.words import shown

    return "label" if target is None else f"target {shown(target)}"
