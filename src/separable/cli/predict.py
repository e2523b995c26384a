"""``separable predict``: a model and a table to predictions and scores."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import click

from separable.cli.output import (
    check_output,
    json_bytes,
    naming_file,
    report_lines,
    say,
    write_data,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.features.encoding_report import EncodingReport
    from separable.model.linear_model import LinearModel

__all__ = ["encode_table", "load_model", "predict", "read_table"]


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
    rows, report = encode_table(linear, read_table(linear, data), data)
    for line in report_lines(report):
        say(f"Note: {line}")
    predicted, scores = _predict(linear, rows)
    names = score_names(linear)
    text = _json_lines(names, predicted, scores) if as_json else _csv(names, predicted, scores)
    write_data(text, output)
    if output not in (None, "-"):
        say(f"Wrote {len(predicted)} predictions to {output}")


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
    model: LinearModel, table: Any, data: str, rows: NDArray[Any] | None = None
) -> tuple[Rows, EncodingReport]:
    """Encode a table, all of ``data`` or the given rows of it, as the rows of a model."""
    from separable.features.table_encoder import TableEncoder

    assert isinstance(model.encoder, TableEncoder)
    with naming_file(data, rows):
        return model.encoder.encode_with_report(table)


def score_names(model: LinearModel) -> list[str]:
    """Return a name for each score: one, or one for each class or target."""
    if len(model.weights) == 1:
        return ["score"]
    labels = range(len(model.weights)) if model.classes is None else model.classes.tolist()
    return [f"score_{label}" for label in labels]


def _predict(model: LinearModel, rows: Rows) -> tuple[list[Any], NDArray[Any]]:
    """Return predictions and scores; the scores are computed once."""
    explanation = model.explain(rows)
    return explanation.predicted.tolist(), explanation.all_scores


def _csv(names: list[str], predicted: list[Any], scores: NDArray[Any]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["prediction", *names])
    writer.writerows([label, *row] for label, row in zip(predicted, scores.tolist(), strict=True))
    return out.getvalue().encode()


def _json_lines(names: list[str], predicted: list[Any], scores: NDArray[Any]) -> bytes:
    keys = ["prediction", *names]
    return b"".join(
        json_bytes(dict(zip(keys, [label, *row], strict=True)))
        for label, row in zip(predicted, scores.tolist(), strict=True)
    )
