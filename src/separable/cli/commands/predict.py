"""``separable predict``: predictions, scores and probabilities for a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from separable.cli.io.output import check_output, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import (
    json_option,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import say
from separable.model.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.cli.io.model_rows import ModelRows
    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model
    from separable.model.predict.prediction_table import OutputFormat
    from separable.workflow.options import ReadingOptions

__all__ = ["predict"]


@command(
    short_help="Predict the rows of a table with a trained model.",
    examples=(
        "separable predict penguins.safetensors penguins.csv",
        "separable predict penguins.safetensors penguins.csv -o predictions.parquet",
        "separable predict spam.safetensors mails.csv --id number --explain",
        "separable predict penguins.safetensors - --json < penguins.csv",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option("--column", metavar="COL", help="Text column, for a model of texts only.")
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="Output file.  [default: standard output]"),
    click.option("--output-format", type=click.Choice(["csv", "jsonl", "parquet"]),
                 help="Output format.  [default: by the extension of FILE, else csv]"),
    click.option("--keep", "--id", "keep", multiple=True, metavar="COL",
                 help="Copy this column of DATA to the output; repeatable."),
    click.option("--probabilities/--no-probabilities", default=None,
                 help="Write the probability of each class.  [default: if the model has "
                      "probabilities]"),
    click.option("--explain", type=click.IntRange(min=1), is_flag=False, flag_value=3,
                 metavar="[N]", help="Also write the N (3) largest contributions to each "
                                     "prediction."),
)  # fmt: skip
@json_option("Write one JSON object per row, as --output-format jsonl.")
@reading_options
@patterns_option
@talk_options
def predict(
    model: str,
    data: str,
    output: str | None,
    output_format: OutputFormat | None,
    keep: tuple[str, ...],
    probabilities: bool | None,
    explain: int | None,
    column: str | None,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Predict the rows of DATA, a table as in `train` (- is standard input), with MODEL.

    Writes one line per row: the columns to keep and the prediction. Classifiers add the score (with
    three or more classes, one per class) and, if the scores are log-odds or were calibrated, the
    probability of each class. With two classes, a score above 0 means the second class. Regressors
    have no other score.

    Columns that the model does not use, such as the target, may be present or absent. Missing and
    unseen values are counted on standard error. Files are read in chunks, so they may be larger
    than memory, and rows of CSV or JSON lines on standard input are answered as they arrive. After
    an error no output file is left; on standard output the rows before it may have been written,
    and the exit code is 1.
    """
    from separable.cli.io.model_rows import ModelRows, load_model, note_reports
    from separable.cli.io.row_source import RowSource
    from separable.model.predict.prediction_table import written

    to_file = output is not None and output != "-"
    form = _format(output_format, as_json, output if to_file else None)
    if to_file:
        assert output is not None
        check_output(output, data=data, model=model)
    loaded = load_model(model)
    _check(loaded, probabilities, keep)
    kept: dict[str, None] = dict.fromkeys(keep)
    rows = ModelRows(loaded, RowSource(data, reading), kept, column, "Predicting")
    reports: list[EncodingReport | None] = []
    counts: list[int] = []
    tables = _tables(rows, list(kept), probabilities is not False, explain or 0, reports, counts)
    write_data(written(tables, form), output)
    note_reports(loaded, reports)
    if to_file:
        say(f"Wrote {counted(sum(counts), 'prediction')} to {output}")


def _tables(
    rows: ModelRows,
    keep: list[str],
    probabilities: bool,
    explain: int,
    reports: list[EncodingReport | None],
    counts: list[int],
) -> Iterator[pa.Table]:
    """Yield predictions chunk by chunk, and collect the reports of the encoder."""
    from separable.model.predict.prediction_table import prediction_table

    for part in rows:
        reports.append(part.report)
        counts.append(part.rows.n_rows)
        table = prediction_table(
            rows.model, part.rows, probabilities=probabilities, explain=explain
        )
        for index, name in enumerate(keep):
            assert part.table is not None
            table = table.add_column(index, name, part.table[name])
        yield table


def _format(requested: OutputFormat | None, as_json: bool, output: str | None) -> OutputFormat:
    from separable.model.predict.prediction_table import output_format

    if as_json and requested not in (None, "jsonl"):
        raise click.UsageError(
            f"--json and --output-format {requested} contradict each other. Give one of them."
        )
    named = output_format(output)
    if as_json and requested is None and named == "parquet":
        raise click.UsageError(
            f"--json contradicts -o {output}, which is Parquet. Give one of them."
        )
    form = requested or ("jsonl" if as_json else named)
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise click.UsageError(
            "Parquet is binary and is not written to a terminal: name a file with -o."
        )
    return form


def _check(model: Model, probabilities: bool | None, keep: tuple[str, ...]) -> None:
    """Refuse output that the model does not have, and columns named like the output."""
    has_them = model.classes is not None and (
        model.link != "score" or getattr(model, "calibration", None) is not None
    )
    if probabilities and not has_them:
        raise ValueError(
            f"--probabilities: this {model.learner} model has no probabilities: its scores are not "
            "log-odds. Leave the option out, or train a logistic model."
        )
    taken = {"prediction", "score", "because"}
    if model.classes is not None:
        taken |= {f"{what}_{c}" for what in ("score", "probability") for c in model.classes}
    for name in keep:
        if name in taken:
            raise click.UsageError(
                f"--keep {name}: the output already has a column of that name. Rename it in DATA."
            )
