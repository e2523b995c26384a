"""Rows of a file with their true targets, as ``evaluate`` and ``report`` need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from separable.cli.io.output import naming_file
from separable.cli.io.saving import remembered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.cli.io.model_rows import ModelRows, Part
    from separable.cli.options.options import ReadingOptions
    from separable.data.table import ColumnType
    from separable.model.kinds import Model


__all__ = [
    "class_labels",
    "constant_of",
    "positive_class",
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
    """Return what is right in some rows, and where that is known.

    Parameters
    ----------
    model : LinearModel or VotedModel
    part : Part
        The target column is a category where the model has classes, else numbers.
    target : str or None
        The column; None for the labels of sparse text.

    Returns
    -------
    truth : ndarray
        One for each row that has one.
    is_present : ndarray of bool
        Which rows have one.
    """
    from separable.data.columns import Categories, as_columns

    if target is None:
        labels = np.full(part.rows.n_rows, np.nan) if part.labels is None else part.labels
        mask = labels != "" if labels.dtype.kind == "U" else ~np.isnan(labels)
        return labels[mask], mask
    assert part.table is not None
    column = as_columns(part.table.select([target]))[target]
    if isinstance(column, Categories):
        mask = column.codes >= 0
        assert model.classes is not None
        levels = class_labels(model.classes, list(column.levels))
        if len(levels) == 0:
            return np.empty(0, dtype=object), mask
        return levels[column.codes[mask]], mask
    mask = ~np.isnan(column.values)
    return column.values[mask], mask


def class_labels(classes: NDArray[Any], texts: list[str]) -> NDArray[Any]:
    """Return texts as labels like some classes; one that cannot be such a label stays a text."""
    if classes.dtype.kind == "U":
        spelled = _spellings(classes.tolist())
        return np.array([spelled.get(text, text) for text in texts], dtype=np.str_)
    by_text = {str(label): label for label in classes.tolist()}
    if classes.dtype.kind == "b":
        by_text |= {"true": True, "false": False, "1": True, "0": False}
    result = np.empty(len(texts), dtype=object)
    result[:] = [by_text.get(text, _number(text)) for text in texts]
    return result


def positive_class(classes: NDArray[Any], given: str) -> Any:
    """Return the class that --positive names, or refuse it."""
    from separable.data.table import did_you_mean, list_names

    labels = classes.tolist()
    label = class_labels(classes, [given])[0]
    if label in labels:
        return labels[labels.index(label)]
    texts = [str(each) for each in labels]
    raise click.UsageError(
        f"--positive {given}: there is no such class{did_you_mean(given, texts)}. There are "
        f"{list_names(texts, 10)}."
    )


def _spellings(classes: list[str]) -> dict[str, str]:
    """Return the classes true and false by other spellings: CSV has true, Parquet gives True."""
    by_lower = {label.lower(): label for label in classes}
    if len(classes) != 2 or set(by_lower) != {"true", "false"}:
        return {}
    cases = (str.lower, str.capitalize, str.upper)
    return {case(lower): label for lower, label in by_lower.items() for case in cases}


def _number(text: str) -> Any:
    """Return a text as the number it is: 1.0 is the label 1."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if value != value else value  # NaN is a text like any other


def weights_of_part(
    part: Part, is_present: NDArray[np.bool_], weight: str | None, data: str
) -> NDArray[np.float64]:
    """Return the weights of the rows whose truth is known.

    Parameters
    ----------
    part : Part
    is_present : ndarray of bool
        Which rows these are.
    weight : str or None
        The column, of numbers; None: what sparse text says, else 1.
    data : str
        The file, for messages.
    """
    rows = np.flatnonzero(is_present)
    if weight is None:
        return np.ones(len(rows)) if part.weights is None else part.weights[rows]
    from separable.cli.io.row_columns import weights_of
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
