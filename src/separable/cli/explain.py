"""``separable explain``: the weights of a model, or one prediction taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.help import command
from separable.cli.options import json_option, reading_options, talk_options
from separable.cli.output import (
    MEAN_WEIGHTS,
    counted,
    file_name,
    json_bytes,
    report_lines,
    write_data,
)
from separable.cli.predict import encode_table, load_model, read_table
from separable.cli.talk import note

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.cli.options import ReadingOptions
    from separable.model.explanation import Explanation, Terms
    from separable.model.kinds import Model

__all__ = ["explain"]


@command(
    short_help="Show the weights of a model, or take one prediction apart.",
    examples=(
        "separable explain penguins.safetensors  # its strongest weights",
        "separable explain penguins.safetensors penguins.csv --row 3  # one prediction",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@click.option(
    "--row",
    type=click.IntRange(min=1),
    metavar="N",
    help="The row of DATA to explain: 1 is the first below the header line.  [default: 1]",
)
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="How many to show."
)
@json_option()
@reading_options
@talk_options
def explain(
    model: str,
    data: str | None,
    row: int | None,
    top: int,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Show the strongest weights of MODEL; with DATA, one prediction's exact contributions.

    The contributions and the intercept sum to the score, or where a number is predicted to that
    number. With three or more classes the score is that of the predicted class.
    """
    if data is None:
        if row is not None:
            raise click.UsageError("--row needs DATA: the file that has the row.")
        _explain_model(load_model(model), top, as_json)
    else:
        table = read_table(loaded := load_model(model), data, reading)
        _explain_row(loaded, table, data, (row or 1) - 1, top, as_json)


def _explain_model(model: Model, top: int, as_json: bool) -> None:
    from separable.model.linear_model import LinearModel

    linear = model if isinstance(model, LinearModel) else model.mean_model()
    weights = linear.top_weights(top)
    if as_json:
        told = {"learner": model.learner, "classes": _classes(model)}
        told |= {"intercept": linear.intercept.tolist(), "top_weights": weights.to_dict()}
        write_data(json_bytes({**told, "evidence": dict(model.evidence)}))
        return
    assert model.encoder is not None
    n_columns = len(set(model.encoder.sources))
    click.echo(
        f"{model.learner}: {counted(model.n_features, 'feature')} from "
        f"{counted(n_columns, 'column')}. Numbers are standardised: a weight is for one standard "
        "deviation."
    )
    if linear is not model:
        click.echo(MEAN_WEIGHTS)
    click.echo(str(weights))


def _explain_row(
    model: Model, table: pa.Table, data: str, row: int, top: int, as_json: bool
) -> None:
    if row >= table.num_rows:
        raise ValueError(
            f"{file_name(data)} has {counted(table.num_rows, 'data row')}, so there is no row "
            f"{row + 1}. Rows are counted from 1, the header line not counted."
        )
    rows, report = encode_table(model, table.slice(row, 1), data, row)
    for line in report_lines(report, row):
        note(line)
    explanation = model.explain(rows)
    assert model.encoder is not None
    raw = {name: table[name][row].as_py() for name in dict.fromkeys(model.encoder.sources)}
    if as_json:
        told = explanation.to_dict(n=top)
        write_data(json_bytes({**told, "rows": [{**told["rows"][0], "row": row + 1, "raw": raw}]}))
    else:
        click.echo(_row_text(explanation, raw, f"{file_name(data)}, data row {row + 1}", top))


def _row_text(explanation: Explanation, raw: dict[str, Any], place: str, top: int) -> str:
    from separable.model.explanation_text import headline, scores_line
    from separable.model.words import shown, table

    terms = explanation.terms(n=top)
    lines = [f"{shown(place, 500)}: {headline(explanation, terms)}"]
    lines.append(table(_term_lines(explanation, terms, raw)))
    return "\n".join(filter(None, [*lines, scores_line(explanation)]))


def _term_lines(
    explanation: Explanation, terms: Terms, raw: dict[str, Any]
) -> list[tuple[str, ...]]:
    from separable.model.explanation_text import total
    from separable.model.words import number, shown, signed

    model = explanation.model
    assert model.encoder is not None
    sources = dict(zip(model.encoder.feature_names, model.encoder.sources, strict=True))
    lines: list[tuple[str, ...]] = [("feature", "in the table", "weight", "contribution")]
    for term in terms.shown:
        source = sources[term.feature]
        is_word = term.feature.startswith(f"{source}:")  # of a text, which it is enough to name
        cell = "" if is_word else _cell(raw[source])
        lines.append((shown(term.feature), cell, number(term.weight), signed(term.contribution)))
    if terms.other_contribution:
        lines.append(
            (f"({counted(terms.other_count, 'other')})", "", "", signed(terms.other_contribution))
        )
    lines.append(("intercept", "", "", signed(terms.intercept)))
    name, value = total(explanation, terms)
    lines.append((name, "", "", value))
    return lines


def _cell(value: str | float | None) -> str:
    """Return a value of the table as text, numbers with all their digits."""
    from separable.data.columns import number_text
    from separable.model.words import shown

    if value is None:
        return "(missing)"
    return shown(number_text(value) if isinstance(value, float) else value)


def _classes(model: Model) -> list[Any] | None:
    return None if model.classes is None else model.classes.tolist()
