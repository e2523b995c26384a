"""Data sets of the lab: the built-in ones, and columns of a file or table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import require_columns
from separable.datasets.examples import NORMAL_DEVIATION, NORMAL_MEANS, Example, load
from separable.workflow.input_tables import table_of
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.typing import Floats

__all__ = ["MAX_COLUMNS", "MAX_ROWS", "built_in", "from_table", "page_values"]

TITLES = {
    "and": "AND",
    "or": "OR",
    "xor": "XOR",
    "clouds": "two clouds",
    "normals": "two normals, one column",
    "ring": "a ring",
    "penguins": "penguins: Adelie, Gentoo",
    "words": "very good / not bad",
    "spam": "twelve mails, four words",
}
#: The distributions that simulated rows are drawn from: normal, with equal priors.
TRUTHS = {"normals": {"means": list(NORMAL_MEANS), "deviation": NORMAL_DEVIATION}}
#: Limits of a file that the page shows.
MAX_ROWS, MAX_COLUMNS = 2000, 8


def built_in() -> dict[str, Any]:
    """Return the built-in data sets as JSON values, by name."""
    values = {name: page_values(load(name), title) for name, title in TITLES.items()}
    for name, truth in TRUTHS.items():
        values[name]["truth"] = truth
    return values


def from_table(data: Any, target: str, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return numeric columns and two classes of a file or table as JSON values.

    Parameters
    ----------
    data : str, path, data frame, pyarrow.Table, dict of columns or list of dicts
    target : str
    columns : sequence of str
        Default: the first two numeric columns.
    """
    data = os.fspath(data) if isinstance(data, os.PathLike) else data
    name = file_name(data)
    table = table_of(data, {})
    require_columns([target, *columns], table.column_names, name)
    X, used = _numbers(table, name, target, columns)
    y = np.array([str(v) for v in table[target].to_pylist()])
    known = np.array([v is not None for v in table[target].to_pylist()])
    kept = np.isfinite(X).all(axis=1) & known
    X, y = X[kept], y[kept]
    _check(y, target)
    title = f"your file: {name}" if isinstance(data, str) else "your table"
    if len(X) > MAX_ROWS:
        title += f" ({MAX_ROWS} of {len(X)} rows, a random sample)"
        chosen = np.sort(np.random.default_rng(0).choice(len(X), MAX_ROWS, replace=False))
        X, y = X[chosen], y[chosen]
    return page_values(Example(X, y, used), title)


def _numbers(
    table: pa.Table, name: str, target: str, columns: Sequence[str]
) -> tuple[Floats, tuple[str, ...]]:
    if target in columns:
        raise ValueError(f"The target {target!r} cannot be a feature column too.")
    if len(columns) > MAX_COLUMNS:
        raise ValueError(f"The lab shows at most {MAX_COLUMNS} columns. Got {len(columns)}.")
    values = {each: _floats(table[each]) for each in columns or table.column_names}
    for each in columns:
        if values[each] is None:
            raise ValueError(f"{name}: column {each!r} has no numbers. Choose another column.")
    usable = [each for each in values if values[each] is not None and each != target]
    chosen = tuple(usable if columns else usable[:2])
    if not chosen:
        raise ValueError(
            f"The lab needs a column of numbers beside {target!r}, and {name} has none. "
            "separable train takes columns of every type."
        )
    return np.stack([values[each] for each in chosen], axis=1), chosen


def _check(y: NDArray[Any], target: str) -> None:
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"The rows with numbers have {len(np.unique(y))} classes in {target!r}. The lab needs "
            "two: add rows of another class."
        )


def _floats(column: Any) -> Any:
    """Return a column as float64 with NaN for missing values, None if it has no numbers."""
    values = column.to_pylist()
    if any(isinstance(v, bool) or not isinstance(v, int | float | None) for v in values):
        return None
    numbers = np.array([np.nan if v is None else float(v) for v in values])
    return numbers if np.isfinite(numbers).any() else None


def page_values(example: Example, title: str) -> dict[str, Any]:
    """Return a data set as the page has it: targets -1 and +1, and the names of both."""
    classes = np.unique(example.y)
    other = str(classes[1]) if len(classes) == 2 else "any other"
    return {
        "title": title,
        "columns": list(example.columns),
        "classes": [str(classes[0]), other],
        "X": example.X.tolist(),
        "y": np.where(example.y == classes[0], -1, 1).tolist(),
    }
