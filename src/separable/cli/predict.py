"""``separable predict``: a model and a table to predictions and scores."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import click

from separable.cli.output import (
    check_output,
    counted,
    json_bytes,
    naming_file,
    report_lines,
    say,
    write_data,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from separable.data.rows import Rows
    from separable.features.encoding_report import EncodingReport
    from separable.model.linear_model import LinearModel

__all__ = ["encode_table", "load_model", "predict", "read_table"]

#: How many rows are encoded and scored at a time.
PART_ROWS = 1 << 14


@click.command(
    short_help="Predict the rows of a table with a trained model.",
    epilog="Example: separable predict penguins.safetensors penguins.csv -o predictions.csv",
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row instead of CSV.")
def predict(model: str, data: str, output: str | None, as_json: bool) -> None:
    """Predict the rows of DATA, a CSV file with a header line (- is standard input), with MODEL.

    Writes one line for each row: the prediction and its score; with three or more classes the score
    of each. With two classes a score above 0 is the second of them. Columns that the model does
    not use, the target too, may be there or not. What was missing or not met in training is
    counted on standard error.
    """
    if output is not None and output != "-":
        check_output(output, data=data, model=model)
    linear = load_model(model)
    text, report = _predictions(linear, read_table(linear, data), data, as_json)
    for line in report_lines(report):
        say(f"Note: {line}")
    write_data(text, output)
    if output not in (None, "-"):
        say(f"Wrote {counted(report.n_rows, 'prediction')} to {output}")


def load_model(path: str) -> LinearModel:
    """Load a model and make sure that it takes tables."""
    from separable.features.table_encoder import TableEncoder
    from separable.model.file import load

    model = load(path)
    if not isinstance(model.encoder, TableEncoder):
        raise ValueError(
            f"{path}: this {model.learner} model has no table encoder, so it cannot read a CSV "
            "file. Load it in Python with separable.load, or train one with separable train."
        )
    return model


def read_table(model: LinearModel, data: str) -> pa.Table:
    """Read a table with the column types of the model's training data."""
    from separable.data.table import read_csv
    from separable.features.table_encoder import TableEncoder

    assert isinstance(model.encoder, TableEncoder)
    return read_csv(data, model.encoder.column_types)


def encode_table(
    model: LinearModel, table: pa.Table, data: str, first_row: int
) -> tuple[Rows, EncodingReport]:
    """Encode a table, the rows of ``data`` from ``first_row`` on, as the rows of a model."""
    from separable.features.table_encoder import TableEncoder

    assert isinstance(model.encoder, TableEncoder)
    with naming_file(data, range(first_row, first_row + table.num_rows)):
        return model.encoder.encode_with_report(table)


def score_names(model: LinearModel) -> list[str]:
    """Return a name for each score: one, or one for each class or target."""
    if len(model.weights) == 1:
        return ["score"]
    labels = range(len(model.weights)) if model.classes is None else model.classes.tolist()
    return [f"score_{label}" for label in labels]


def _predictions(
    model: LinearModel, table: pa.Table, data: str, as_json: bool
) -> tuple[bytes, EncodingReport]:
    """Return what is to be written, and what was met; a part of the rows is encoded at a time."""
    from separable.features.encoding_report import EncodingReport

    assert model.encoder is not None
    out, reports, keys = io.BytesIO(), [], ["prediction", *score_names(model)]
    if not as_json:
        out.write(_csv([keys]))
    for first_row in range(0, table.num_rows, PART_ROWS):
        rows, report = encode_table(model, table.slice(first_row, PART_ROWS), data, first_row)
        out.write(_json_lines(keys, _lines(model, rows)) if as_json else _csv(_lines(model, rows)))
        reports.append(report)
    return out.getvalue(), EncodingReport.joined(reports, model.encoder.sources)


def _lines(model: LinearModel, rows: Rows) -> Iterator[list[Any]]:
    """Give the prediction and the scores of each row; the scores are computed once."""
    explanation = model.explain(rows)
    scores = explanation.all_scores.tolist()
    for label, row in zip(explanation.predicted.tolist(), scores, strict=True):
        yield [label, *row]


def _csv(lines: Iterable[list[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue().encode()


def _json_lines(keys: list[str], lines: Iterable[list[Any]]) -> bytes:
    return b"".join(json_bytes(dict(zip(keys, line, strict=True))) for line in lines)
