"""Labelled rows of a file for a model: true targets, weights, the positive class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from separable.workflow.columns.role_columns import class_labels, positive_class, weights_of
from separable.workflow.input_tables import naming_file
from separable.workflow.options import file_name
from separable.workflow.target_texts import as_numbers, recorded_conversion
from separable.workflow.training_record import trained_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.cli.io.model_rows import ModelRows, Part
    from separable.data.table import ColumnType
    from separable.model.kinds import Model
    from separable.workflow.options import ReadingOptions


__all__ = [
    "all_targets",
    "constant_of",
    "positive_of",
    "refuse_several_targets",
    "rows_with_targets",
    "target_named",
    "true_targets_of",
    "weights_of_part",
]


def true_targets_of(
    model: Model, part: Part, target: str | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the true targets of rows, and a mask of the rows that have one.

    Parameters
    ----------
    model : LinearModel or VotedModel
    part : Part
        The target column is a category if the model has classes, otherwise numbers.
    target : str or None
        The column; None for the labels of sparse text.

    Returns
    -------
    truth : ndarray
        One for each row with a target.
    is_present : ndarray of bool
        Mask of the rows with a target.
    """
    from separable.data.columns import Categories, Numbers, as_columns

    if target is None:
        labels = np.full(part.rows.n_rows, np.nan) if part.labels is None else part.labels
        mask = labels != "" if labels.dtype.kind == "U" else ~np.isnan(labels)
        return labels[mask], mask
    assert part.table is not None
    column = as_columns(part.table.select([target]))[target]
    if isinstance(column, Categories) and model.classes is None:
        rows = range(part.first_row, part.first_row + part.table.num_rows)
        with naming_file(None, rows):
            column = Numbers(as_numbers(target, column, recorded_conversion(trained_on(model))))
    if isinstance(column, Categories):
        mask = column.codes >= 0
        assert model.classes is not None
        levels = class_labels(model.classes, list(column.levels))
        if len(levels) == 0:
            return np.empty(0, dtype=object), mask
        return levels[column.codes[mask]], mask
    mask = ~np.isnan(column.values)
    return column.values[mask], mask


def weights_of_part(
    part: Part, is_present: NDArray[np.bool_], weight: str | None, data: str
) -> NDArray[np.float64]:
    """Return the weights of the rows with a true target.

    Parameters
    ----------
    part : Part
    is_present : ndarray of bool
        Mask of these rows.
    weight : str or None
        The weight column; None: the weights of sparse text, otherwise 1.
    data : str
        The file, for messages.
    """
    rows = np.flatnonzero(is_present)
    if weight is None:
        return np.ones(len(rows)) if part.weights is None else part.weights[rows]
    from separable.data.columns import as_columns

    assert part.table is not None
    with naming_file(data, rows + part.first_row):
        return weights_of(as_columns(part.table.select([weight])), weight, rows)


def rows_with_targets(
    model: Model,
    data: str,
    target: str | None,
    weight: str | None,
    column: str | None,
    reading: ReadingOptions,
) -> tuple[ModelRows, str | None]:
    """Return the rows of a file, and their target column."""
    from separable.cli.io.model_rows import ModelRows
    from separable.cli.io.row_source import RowSource

    source = RowSource(data, reading)
    besides: dict[str, ColumnType | None] = {}
    if source.is_table:
        target = target or trained_on(model).get("target")
        if target is None:
            raise click.UsageError(
                "The model does not name its target column. Name it with --target."
            )
        plain = model.classes is None and recorded_conversion(trained_on(model)) is None
        besides[target] = "number" if plain else "category"
    elif target is not None:
        raise click.UsageError(
            f"--target {target}: each line of {source.kind} text begins with its target. Leave the "
            "option out."
        )
    if weight is not None:
        besides[weight] = "number"
    return ModelRows(model, source, besides, column, "Evaluating"), target


def positive_of(model: Model, positive: str | None) -> Any:
    """Return the positive class: the given one, or that of the training."""
    if model.classes is None:
        if positive is not None:
            raise click.UsageError(f"--positive {positive}: the model predicts numbers.")
        return None
    if positive is None:
        value = trained_on(model).get("positive")
        return value if value in model.classes.tolist() else None

    return positive_class(model.classes, positive)


def constant_of(model: Model) -> Any:
    """Return the best constant prediction of the training rows, None if unknown."""
    value = trained_on(model).get("constant")
    if model.classes is None:
        return value if isinstance(value, (int, float)) else None
    return value if value in model.classes.tolist() else None


def refuse_several_targets(model: Model, path: str) -> None:
    """Refuse a model with several regression targets."""
    if model.classes is None and model.n_scores > 1:
        raise ValueError(
            f"{path} predicts {model.n_scores} numbers a row, and a file has one target. "
            "Evaluate it in Python: model.evaluate(X, y)."
        )


def all_targets(parts: list[NDArray[Any]], data: str, target: str | None) -> NDArray[Any]:
    """Return the targets of all chunks of a file; refuse a file without any."""
    result = np.concatenate(parts)
    if not len(result):
        raise ValueError(
            f"{file_name(data)}: no row has a {target_named(target)}, so there is nothing to "
            "evaluate."
        )
    return result


def target_named(target: str | None) -> str:
    """Return the name of the target for messages."""
    from separable.model.words import shown

    return "label" if target is None else f"target {shown(target)}"
