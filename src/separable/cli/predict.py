"""``separable predict``: a model and a table to predictions, scores and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from separable.cli.help import OUTPUT, command, heading
from separable.cli.options import json_option, reading_options, talk_options
from separable.cli.output import check_output, counted, naming_file, report_lines, write_data
from separable.cli.talk import note, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.cli.options import ReadingOptions
    from separable.data.rows import Rows
    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model

__all__ = ["encode_table", "load_model", "predict", "read_table"]

#: How many rows are encoded and scored at a time.
PART_ROWS = 1 << 14


@command(
    short_help="Predict the rows of a table with a trained model.",
    examples=(
        "separable predict penguins.safetensors penguins.csv",
        "separable predict penguins.safetensors penguins.csv -o predictions.csv",
        "separable predict penguins.safetensors - --json < penguins.csv",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="Write to a file, not to standard output."),
)
@json_option("One JSON object a row instead of CSV.")
@reading_options
@talk_options
def predict(
    model: str, data: str, output: str | None, as_json: bool, reading: ReadingOptions
) -> None:
    """Predict the rows of DATA, a table as `train` takes it (- is standard input), with MODEL.

    Writes one line for each row: the prediction; of a class its score too, with three or more
    classes the score of each; and where the scores are log-odds, as a logistic model's, or were
    calibrated, the probability of each class. With two classes a score above 0 is the second of
    them. A number that is predicted has no other score.

    Columns that the model does not use, the target too, may be there or not. What was missing or
    not met in training is counted on standard error. An error leaves no file behind; on standard
    output the rows before it may have been written, and the exit code is 1.
    """
    if output is not None and output != "-":
        check_output(output, data=data, model=model)
    linear = load_model(model)
    reports: list[EncodingReport] = []
    write_data(_parts(linear, read_table(linear, data, reading), data, as_json, reports), output)
    report = _joined(linear, reports)
    for line in report_lines(report):
        note(line)
    if output not in (None, "-"):
        say(f"Wrote {counted(report.n_rows, 'prediction')} to {output}")


def load_model(path: str) -> Model:
    """Load a model and make sure that it takes tables."""
    from separable.features.table_encoder import TableEncoder
    from separable.model.file import load

    model = load(path)
    if not isinstance(model.encoder, TableEncoder):
        raise ValueError(
            f"{path}: this {model.learner} model has no table encoder, so it cannot read a "
            "table. Load it in Python with separable.load, or train one with separable train."
        )
    return model


def read_table(model: Model, data: str, reading: ReadingOptions) -> pa.Table:
    """Read a table with the column types of the model's training data."""
    from separable.cli.tables import table_of
    from separable.features.table_encoder import TableEncoder

    assert isinstance(model.encoder, TableEncoder)
    return table_of(data, model.encoder.column_types, reading)


def encode_table(
    model: Model, table: pa.Table, data: str, first_row: int
) -> tuple[Rows, EncodingReport]:
    """Encode a table, the rows of ``data`` from ``first_row`` on, as the rows of a model."""
    from separable.features.table_encoder import TableEncoder

    assert isinstance(model.encoder, TableEncoder)
    with naming_file(data, range(first_row, first_row + table.num_rows)):
        return model.encoder.encode_with_report(table)


def _parts(
    model: Model, table: pa.Table, data: str, as_json: bool, reports: list[EncodingReport]
) -> Iterator[bytes]:
    """Give what is to be written, some rows at a time, and collect what was met in them."""
    from separable.cli.predictions import as_csv, as_json_lines, prediction_columns

    write = as_json_lines if as_json else as_csv
    for first_row in range(0, table.num_rows, PART_ROWS):
        rows, report = encode_table(model, table.slice(first_row, PART_ROWS), data, first_row)
        reports.append(report)
        yield write(prediction_columns(model, rows), header=first_row == 0)


def _joined(model: Model, reports: list[EncodingReport]) -> EncodingReport:
    from separable.features.encoding_report import EncodingReport

    assert model.encoder is not None
    return EncodingReport.joined(reports, model.encoder.sources)
