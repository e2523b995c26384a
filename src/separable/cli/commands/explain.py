"""``separable explain``: the weights of a model, or the explanation of one prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import (
    json_option,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import note
from separable.model.words import counted
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from separable.cli.render.explain_text import ExplainedRow
    from separable.model.kinds import Model
    from separable.workflow.options import ReadingOptions

__all__ = ["explain"]


@command(
    short_help="Show the weights of a model, or explain one prediction.",
    examples=(
        "separable explain penguins.safetensors  # the largest weights",
        "separable explain penguins.safetensors penguins.csv --row 3  # one prediction",
        'separable explain reviews.safetensors --text "A dull film, but well played."',
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@click.option(
    "--row",
    type=click.IntRange(min=1),
    metavar="N",
    help="Row of DATA to explain, counted from 1 below the header line.  [default: 1]",
)
@click.option("--text", metavar="TEXT", help="Text to explain, instead of a row of DATA.")
@click.option(
    "--column", metavar="COL", help="Text column, if the model has several or does not name them."
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of features to show.",
)
@json_option()
@reading_options
@patterns_option
@talk_options
def explain(
    model: str,
    data: str | None,
    row: int | None,
    text: str | None,
    column: str | None,
    top: int,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Show the largest weights of MODEL; with DATA or --text, the contributions to one prediction.

    The contributions and the intercept sum to the score, or for a regressor to the prediction. With
    three or more classes the score is that of the predicted class.

    Texts are shown in full, with the contributing words in colour: green for, red against, larger
    ones bold or underlined. A pair of words gives half of its contribution to each word. Without
    colours, as in a file or with NO_COLOR, words are marked: [great +0.42].
    """
    from separable.cli.io.model_rows import load_model

    if data is None and row is not None:
        raise click.UsageError("--row needs DATA: the file that has the row.")
    if data is not None and text is not None:
        raise click.UsageError("DATA and --text exclude each other. Give one of them.")
    loaded = load_model(model)
    if text is not None:
        _write(_of_text(loaded, text, column), top, as_json)
    elif data is not None:
        _write(_of_row(loaded, data, (row or 1) - 1, column, reading), top, as_json)
    elif column is not None:
        raise click.UsageError("--column needs --text or DATA.")
    else:
        _explain_model(loaded, top, as_json)


def _write(explained: ExplainedRow, top: int, as_json: bool) -> None:
    if as_json:
        write_data(json_bytes(explained.to_dict(top)))
    else:
        click.echo(explained.text(top))


def _explain_model(model: Model, top: int, as_json: bool) -> None:
    from separable.model.explain.top_weights import TopWeights
    from separable.model.linear_model import LinearModel

    linear = model if isinstance(model, LinearModel) else model.mean_model()
    weights = linear.top_weights(top)
    if as_json:
        record = {"learner": model.learner, "classes": _classes(model)}
        record |= {"intercept": linear.intercept.tolist(), "top_weights": weights.to_dict()}
        write_data(json_bytes({**record, "evidence": dict(model.evidence)}))
        return
    click.echo(_model_line(model))
    if linear is not model:
        from separable.workflow.training_text import MEAN_WEIGHTS

        click.echo(MEAN_WEIGHTS)
    for index, group in enumerate(weights):
        click.echo(_coloured(str(TopWeights((group,))), "red" if index % 2 else "green"))


def _coloured(group: str, colour: str) -> str:
    """Return a heading and the lines below it in a colour, for terminals."""
    heading, *lines = group.split("\n")
    return "\n".join([heading, *(click.style(line, fg=colour) for line in lines)])


def _model_line(model: Model) -> str:
    features = f"{model.learner}: {counted(model.n_features, 'feature')}"
    kind = getattr(model.encoder, "kind", None)
    if kind != "table":
        return f"{features} of texts." if kind == "text" else f"{features}."
    encoder: Any = model.encoder
    columns = counted(len(set(encoder.sources)), "column")
    scaled = "number" in encoder.column_types.values() and encoder.scale
    rule = " Numbers are standardized: a weight is per standard deviation." if scaled else ""
    return f"{features} from {columns}.{rule}"


def _of_row(
    model: Model, data: str, index: int, column: str | None, reading: ReadingOptions
) -> ExplainedRow:
    """Return the explanation of a row of a file."""
    from separable.cli.io.model_rows import ModelRows, note_reports
    from separable.cli.io.row_source import RowSource
    from separable.cli.render.explain_text import ExplainedRow

    rows = ModelRows(model, RowSource(data, reading), None, column)
    part = rows.row(index)
    note_reports(model, [part.report], index)
    raw: dict[str, Any] = {}
    if part.table is not None:
        raw = {name: part.table[name][0].as_py() for name in rows.raw_columns}
    if getattr(model.encoder, "kind", None) == "text":
        raw = {"text": raw[rows.raw_columns[0]]}
    called = f"{file_name(data)}, data row {index + 1}"
    return ExplainedRow(model.explain(part.rows), raw, called, index + 1)


def _of_text(model: Model, text: str, column: str | None) -> ExplainedRow:
    """Return the explanation of a text from the command line; other columns are missing."""
    from separable.cli.io.model_rows import text_column_of
    from separable.cli.render.explain_text import ExplainedRow
    from separable.data.table import list_names
    from separable.features.table.table_encoder import TableEncoder

    name = text_column_of(model, column)
    encoder = model.encoder
    assert encoder is not None
    if not isinstance(encoder, TableEncoder):
        return ExplainedRow(model.explain([text]), {"text": text}, "The text")
    others = [each for each in encoder.column_types if each != name]
    if others:
        note(f"The other columns of the model are taken as missing: {list_names(others, 10)}.")
    record = {**dict.fromkeys(encoder.column_types), name: text}
    return ExplainedRow(model.explain(encoder.encode([record])), record, "The text")


def _classes(model: Model) -> list[Any] | None:
    return None if model.classes is None else model.classes.tolist()
