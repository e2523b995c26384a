"""``separable drift``: which columns of new rows move the scores of a model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import (
    json_option,
    patterns_option,
    reading_options,
    talk_options,
)

if TYPE_CHECKING:
    from separable.cli.io.model_rows import Part
    from separable.model.linear_model import LinearModel
    from separable.workflow.options import ReadingOptions

__all__ = ["drift"]


@command(
    short_help="Show which columns of new rows move the scores of a model.",
    examples=(
        "separable drift churn.safetensors june.csv",
        "separable drift churn.safetensors june.csv --json",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@json_option()
@reading_options
@patterns_option
@talk_options
def drift(model: str, data: str, as_json: bool, reading: ReadingOptions) -> None:
    """Compare the rows of DATA with the training rows of MODEL, column by column.

    The change of the mean score is exactly the sum of the changes of the columns. z is a change in
    standard errors. Missing values, unseen levels and numbers outside the range of the training
    rows are counted.
    """
    from separable.cli.io.model_rows import ModelRows, load_model
    from separable.cli.io.row_source import RowSource
    from separable.model.drift import drift as compared
    from separable.model.feature_sums import FeatureSums
    from separable.model.linear_model import LinearModel

    loaded = load_model(model)
    sums, counts = FeatureSums(loaded), Counter[tuple[str, str]]()
    for part in ModelRows(loaded, RowSource(data, reading), doing="Reading"):
        sums.add_rows(part.rows)
        if isinstance(loaded, LinearModel):
            counts.update(_counts(loaded, part))
    result = compared(loaded, sums, counts)
    if as_json:
        write_data(json_bytes(result.to_dict()))
    else:
        click.echo(str(result))


def _counts(model: LinearModel, part: Part) -> Counter[tuple[str, str]]:
    """Return the missing, unseen and out-of-range values of a chunk by column and kind."""
    from separable.data.columns import as_columns
    from separable.model.column_statistics import rows_outside

    counts: Counter[tuple[str, str]] = Counter()
    for each in part.report.columns if part.report is not None else ():
        counts[each.column, "missing"] += each.missing
        counts[each.column, "unseen"] += each.unseen
    if part.table is not None:
        columns = as_columns(part.table)
        for statistics in model.column_statistics:
            counts[statistics.name, "out_of_range"] += len(rows_outside(statistics, columns))
    return counts
