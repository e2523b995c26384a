"""Columns with a role: target, weight, group and time.

Errors count rows among the requested ones; `separable.cli.io.output.naming_file` adds the file and
the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from separable.cli.io.output import file_name, naming_file, remembered
from separable.data.columns import Categories, Numbers
from separable.data.ingest.dates import Booleans, Dates, dates_from, typed_column
from separable.data.table import CellError, TableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.cli.io.model_rows import ModelRows, Part
    from separable.cli.options.options import ReadingOptions
    from separable.data.columns import Columns
    from separable.data.table import ColumnType
    from separable.model.kinds import Model
    from separable.workflow.target import Rows


__all__ = [
    "all_targets",
    "class_labels",
    "constant_of",
    "groups_of",
    "positive_class",
    "positive_of",
    "refuse_no_weight",
    "refuse_several_targets",
    "rows_with_targets",
    "target_named",
    "times_of",
    "true_targets_of",
    "weights_of",
    "weights_of_part",
]


def weights_of(columns: Columns, name: str, rows: Rows) -> NDArray[np.float64]:
    """Return the weights of rows: finite numbers >= 0."""
    column = columns[name]
    if not isinstance(column, Numbers):
        raise TableError(f"--weight {name}: the column has to hold numbers.")
    weight = column.values[rows]
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        index = int(bad[0])
        missing = np.isnan(weight[index])
        problem = "a weight is missing" if missing else f"{weight[index]:g} is not a weight"
        raise CellError(
            name, index, f"{problem}. Weights are finite numbers >= 0; 0 leaves a row out."
        )
    return weight


def refuse_no_weight(name: str, weight: NDArray[np.float64]) -> None:
    """Refuse weights that are all 0."""
    if not weight.any():
        raise TableError(f"--weight {name}: all weights are 0, so no row is left.")


def groups_of(columns: Columns, name: str, rows: Rows) -> NDArray[np.int64]:
    """Return the groups of rows as integers; rows without a group form one group."""
    column: Any = typed_column(columns, name)
    texts = column if isinstance(column, Categories) else column.as_categories()
    codes = texts.codes[rows].astype(np.int64)
    result, groups = np.unique(codes, return_inverse=True)
    if len(result) < 2:
        raise TableError(
            f"--group {name}: all rows are in one group, so none can be held out. Name a column "
            "with two or more groups."
        )
    return groups.astype(np.int64)


def times_of(columns: Columns, name: str, rows: Rows) -> NDArray[Any]:
    """Return the times of rows: dates, or numbers that increase with time."""
    column = typed_column(columns, name)
    times: NDArray[Any]
    if isinstance(column, Numbers | Dates):
        times = column.values[rows]
    elif isinstance(column, Booleans):
        raise TableError(
            f"--time {name}: true and false are not times. Name a column of dates or numbers."
        )
    else:
        times = dates_from(name, column)[rows]
    missing = np.flatnonzero(np.isnan(times) if times.dtype.kind == "f" else np.isnat(times))
    if len(missing):
        raise CellError(
            name, int(missing[0]), "the time is missing. Fill it in, or leave the row out."
        )
    if times.min() == times.max():
        raise TableError(
            f"--time {name}: all rows have the same time, so none is later than the others."
        )
    return times


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
    """Convert texts to the type of the classes; texts that cannot be converted stay texts."""
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
    """Return the class named by --positive."""
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
    """Return other spellings of the classes true and false: CSV has true, Parquet True."""
    by_lower = {label.lower(): label for label in classes}
    if len(classes) != 2 or set(by_lower) != {"true", "false"}:
        return {}
    cases = (str.lower, str.capitalize, str.upper)
    return {case(lower): label for lower, label in by_lower.items() for case in cases}


def _number(text: str) -> Any:
    """Parse a text as a number: 1.0 is the label 1."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if value != value else value  # NaN is an ordinary text


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
    """Return the positive class: the given one, or that of the training."""
    if model.classes is None:
        if positive is not None:
            raise click.UsageError(f"--positive {positive}: the model predicts numbers.")
        return None
    if positive is None:
        value = remembered(model).get("positive")
        return value if value in model.classes.tolist() else None

    return positive_class(model.classes, positive)


def constant_of(model: Model) -> Any:
    """Return the best constant prediction of the training rows, None if unknown."""
    value = remembered(model).get("constant")
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
