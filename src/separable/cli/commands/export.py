"""``separable export``: a model as scoring code in another language."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import check_output, json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import (
    export_reading_options,
    json_option,
    load_trusted,
    patterns_option,
    talk_options,
)
from separable.cli.render.messages import say
from separable.model.words import counted

if TYPE_CHECKING:
    from separable.export.exporting import Exported
    from separable.workflow.options import ReadingOptions

__all__ = ["export"]

#: The names in the registry of languages, which is too slow to import for help.
NAMES = ("onnx", "sql", "c", "js", "python", "openapi")


@command(
    short_help="Export a model as Python, JavaScript, C, SQL or ONNX.",
    examples=(
        "separable export penguins.safetensors --to python -o penguins_model.py",
        "separable export penguins.safetensors --to js --rows penguins.csv -o penguins_model.js",
        "separable export penguins.safetensors --to sql --table penguins --keep id > model.sql",
        "separable export penguins.safetensors --to onnx -o penguins_model.onnx",
    ),
)
@click.argument("model", metavar="MODEL")
@click.option("--to", type=click.Choice(NAMES), required=True, help="The language.")
@click.option(
    "--rows",
    metavar="FILE",
    help="Use the first 20 rows of this file as test rows.  [default: synthetic rows]",
)
@click.option("--column", metavar="COL", help="Text column of --rows, for a model of texts only.")
@click.option("--table", metavar="NAME", help="SQL: name of the input table.  [default: rows]")
@click.option("--keep", "--id", "keep", multiple=True, metavar="COL",
              help="SQL: copy this column to the output; repeatable.")  # fmt: skip
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="Output file.  [default: standard output]"),
)
@json_option("Print a JSON summary of the file of -o.")
@export_reading_options
@patterns_option
@talk_options
def export(
    model: str,
    to: str,
    rows: str | None,
    column: str | None,
    table: str | None,
    keep: tuple[str, ...],
    output: str | None,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Export MODEL as scoring code that does not need separable, preprocessing included.

    The file contains a few test rows with their scores and predictions, and tests itself. Models of
    tables can be exported to every language; models of texts to Python and JavaScript, since SQL, C
    and ONNX cannot tokenize texts in the same way. Missing values and unseen levels are handled as
    in `predict`; docs/guides/export.md lists the differences between languages.
    """
    from separable.export.exporting import exported

    to_file = output is not None and output != "-"
    _check_usage(to, to_file=to_file, as_json=as_json, table=table, keep=keep)
    if column is not None and rows is None:
        raise click.UsageError("--column needs --rows: it names the text column of that file.")
    if to_file:
        assert output is not None
        check_output(output, model=model, **({} if rows is None else {"rows": rows}))
    loaded, test_rows = _model_and_rows(model, rows, column, reading)
    made = exported(loaded, to, rows=test_rows, table=table, keep=keep)
    write_data(made.data, output)
    if not to_file:
        return
    assert output is not None
    if as_json:
        write_data(json_bytes(_facts(made, to, output)))
    then = _then(to, output)
    rows = f" with {counted(len(made.vectors), 'test row')}" if made.plan is not None else ""
    say(f"Wrote {output}{rows}. {then}")


def _check_usage(
    to: str, *, to_file: bool, as_json: bool, table: str | None, keep: tuple[str, ...]
) -> None:
    if to != "sql" and (table is not None or keep):
        option = "--table" if table is not None else "--keep"
        raise click.UsageError(f"{option} is for --to sql.")
    if as_json and not to_file:
        raise click.UsageError("--json describes the written file: name one with -o.")
    if to == "onnx" and not to_file and sys.stdout.isatty():
        raise click.UsageError(
            "ONNX is binary and is not written to a terminal: name a file with -o."
        )


def _model_and_rows(
    path: str, rows: str | None, column: str | None, reading: ReadingOptions
) -> tuple[Any, Any]:
    """Return the model, and the rows of a file as input of its ``predict``."""
    if rows is None:
        return load_trusted(path), None
    from separable.cli.io.model_rows import ModelRows, load_model
    from separable.cli.io.row_source import RowSource

    model = load_model(path)
    for part in ModelRows(model, RowSource(rows, reading), column=column):
        kind = getattr(model.encoder, "kind", None)
        if kind is None:
            return model, part.rows
        assert part.table is not None
        if kind == "table":
            return model, part.table
        return model, [text or "" for text in part.table.column(0).to_pylist()]
    raise ValueError(f"{rows} has no rows to test with.")


def _then(to: str, output: str) -> str:
    import shlex

    from separable.export.languages.language_registry import DESCRIPTIONS, LANGUAGES

    return (LANGUAGES | DESCRIPTIONS)[to].then.replace("{file}", shlex.quote(output))


def _facts(made: Exported, to: str, output: str) -> dict[str, Any]:
    facts = {"file": output, "to": to, "bytes": len(made.data), "then": _then(to, output)}
    if made.plan is None:
        return facts
    return facts | {
        "learner": made.plan.learner,
        "columns": made.plan.columns,
        "classes": made.plan.classes,
        "scores": made.plan.n_scores,
        "test_rows": len(made.vectors),
    }
