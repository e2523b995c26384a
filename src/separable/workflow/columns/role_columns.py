"""Columns with a role: target, weight, group and time.

Errors count rows among the requested ones; `separable.workflow.input_tables.naming_file` adds the
file and the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, Numbers
from separable.data.ingest.dates import Booleans, Dates, dates_from, typed_column
from separable.data.table import CellError, TableError
from separable.errors import Option, OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.columns import Columns
    from separable.workflow.target import Rows


__all__ = [
    "class_labels",
    "groups_of",
    "positive_class",
    "refuse_no_weight",
    "times_of",
    "weights_of",
]


def weights_of(columns: Columns, name: str, rows: Rows) -> NDArray[np.float64]:
    """Return the weights of rows: finite numbers >= 0."""
    column = columns[name]
    if not isinstance(column, Numbers):
        raise TableError(Option("weight", name), ": the column has to hold numbers.")
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
        raise TableError(Option("weight", name), ": all weights are 0, so no row is left.")


def groups_of(columns: Columns, name: str, rows: Rows) -> NDArray[np.int64]:
    """Return the groups of rows as integers; rows without a group form one group."""
    column: Any = typed_column(columns, name)
    texts = column if isinstance(column, Categories) else column.as_categories()
    codes = texts.codes[rows].astype(np.int64)
    result, groups = np.unique(codes, return_inverse=True)
    if len(result) < 2:
        raise TableError(
            Option("group", name),
            ": all rows are in one group, so none can be held out. Name a column "
            "with two or more groups.",
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
            Option("time", name),
            ": true and false are not times. Name a column of dates or numbers.",
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
            Option("time", name), ": all rows have the same time, so none is later than the others."
        )
    return times


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
    return class_named(classes, given, Option("positive", given))


def class_named(classes: NDArray[Any], given: str, option: Option) -> Any:
    """Return the class that an option names."""
    from separable.data.table import did_you_mean, list_names

    labels = classes.tolist()
    label = class_labels(classes, [given])[0]
    if label in labels:
        return labels[labels.index(label)]
    texts = [str(each) for each in labels]
    raise OptionError(
        option,
        f": there is no class {given!r}{did_you_mean(given, texts)}. There are "
        f"{list_names(texts, 10)}.",
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
