"""``separable predict``: a model and a table to predictions, scores and probabilities."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from separable.cli.io.output import check_output, counted, write_data
from separable.cli.options.help import OUTPUT, command, heading
from separable.cli.options.options import (
    json_option,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.cli.io.model_rows import ModelRows
    from separable.cli.options.options import ReadingOptions
    from separable.cli.render.predictions_table import OutputFormat
    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model

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
@click.option("--column", metavar="COL", help="The texts, for a model of nothing but texts.")
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="Write to a file, not to standard output."),
    click.option("--output-format", type=click.Choice(["csv", "jsonl", "parquet"]),
                 help="What to write.  [default: as the name of FILE ends, else csv]"),
    click.option("--keep", "--id", "keep", multiple=True, metavar="COL",
                 help="Copy this column of DATA along; may be given several times."),
    click.option("--probabilities/--no-probabilities", default=None,
                 help="Write the probability of each class.  [default: where there are such]"),
    click.option("--explain", type=click.IntRange(min=1), is_flag=False, flag_value=3,
                 metavar="[N]", help="Also the N (3) strongest contributions to each prediction."),
)  # fmt: skip
@json_option("One JSON object a row instead of CSV, as --output-format jsonl.")
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
    """Predict the rows of DATA, a table as `train` takes it (- is standard input), with MODEL.

    Writes one line for each row: the columns to keep; the prediction; of a class its score too,
    with three or more classes the score of each; and where the scores are log-odds, as a logistic
    model's, or were calibrated, the probability of each class. With two classes a score above 0 is
    the second of them. A number that is predicted has no other score.

    Columns that the model does not use, the target too, may be there or not. What was missing or
    not met in training is counted on standard error. Files are read in parts, so they may be larger
    than memory, and rows of CSV or JSON lines on standard input are answered as they come. An error
    leaves no file behind; on standard output the rows before it may have been written, and the exit
    code is 1.
    """
    from separable.cli.io.model_rows import ModelRows, load_model, tell_reports
    from separable.cli.io.row_source import RowSource
    from separable.cli.render.predictions_table import written

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
    tell_reports(loaded, reports)
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
    """Give predictions, some rows at a time, and collect what was met in them."""
    from separable.cli.render.predictions_table import prediction_table

    for part in rows:
        reports.append(part.report)
        counts.append(part.rows.n_rows)
        table = prediction_table(
            rows.model, part.rows, probabilities=probabilities, explain=explain
        )
        for place, name in enumerate(keep):
            assert part.table is not None
            table = table.add_column(place, name, part.table[name])
        yield table


def _format(asked: OutputFormat | None, as_json: bool, output: str | None) -> OutputFormat:
    from separable.cli.render.predictions_table import output_format

    if as_json and asked not in (None, "jsonl"):
        raise click.UsageError(f"--json and --output-format {asked}: give one of them.")
    named = output_format(output)
    if as_json and asked is None and named == "parquet":
        raise click.UsageError(f"--json, and -o {output} asks for parquet: give one of them.")
    form = asked or ("jsonl" if as_json else named)
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for a terminal: name a file with -o.")
    return form


def _check(model: Model, probabilities: bool | None, keep: tuple[str, ...]) -> None:
    """Refuse what the model cannot give, and a column of the same name as one of the answers."""
    has_them = model.classes is not None and (
        model.link != "score" or getattr(model, "calibration", None) is not None
    )
    if probabilities and not has_them:
        raise ValueError(
            f"--probabilities: this {model.learner} model gives none, for its scores are not "
            "log-odds. Leave the option out, or train a logistic model."
        )
    taken = {"prediction", "score", "because"}
    if model.classes is not None:
        taken |= {f"{what}_{c}" for what in ("score", "probability") for c in model.classes}
    for name in keep:
        if name in taken:
            raise click.UsageError(
                f"--keep {name}: predictions have a column of that name. Rename it in DATA."
            )
