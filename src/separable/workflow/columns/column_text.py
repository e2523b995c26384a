"""The columns of a training table as text for a terminal, and as JSON values."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, Any

from separable.data.table import missing_counts
from separable.model.words import column_lines, counted, shown
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from separable.workflow.training_problem import Problem
    from separable.workflow.training_run import TrainingRun


__all__ = ["brief_columns", "columns_dict", "columns_text"]

#: Minimum run of neighbouring columns with equal descriptions that is shown as one line.
ALIKE = 8
#: Descriptions of columns that are not features.
ROLES = {
    "group": "not a feature: groups of rows",
    "time": "not a feature: time of the row",
    "weight": "not a feature: sample weight",
}
#: Up to so many columns are named with remarks, and up to so many by name; others are counted.
NOTED_COLUMNS, NAMED_COLUMNS, DROPPED_SHOWN, CONVERTED_SHOWN = 8, 15, 4, 4


def columns_dict(training: TrainingRun) -> list[dict[str, Any]]:
    """Return the type, features, missing values and conversion of each column as JSON values."""
    types = {row.column: row.type for row in training.encoder.columns_}
    dropped = training.encoder.dropped_
    problem = training.problem
    apart = {name: option for option, name in problem.options.apart.items()}
    missing = missing_counts(problem.whole)
    features = Counter(training.encoder.sources)
    converted = {
        row.column: row.why
        for row in training.encoder.columns_
        if row.column in training.encoder.conversions_
    }
    columns: list[dict[str, Any]] = []
    for name in problem.whole.column_names:
        column: dict[str, Any] = {"name": name, "type": types.get(name, "dropped")}
        if name == problem.options.target:
            column["type"] = "target"
        elif name in apart:
            column["type"] = apart[name]
        elif name in dropped:
            column["reason"] = problem.left_out.get(name, dropped[name])
        elif types[name] != "number":
            column["features"] = features[name]
        if name in converted:
            column["conversion"] = problem.converted.get(name, converted[name])
        column["missing"] = missing.get(name, 0)
        columns.append(column)
    return columns


def columns_text(run: TrainingRun) -> str:
    """Return a line for each column."""
    cells = [
        (shown(each["name"]), each["type"], _about(run.problem, each)) for each in columns_dict(run)
    ]
    return "\n".join([_title_of_data(run), *column_lines(_runs(cells))])


def _title_of_data(run: TrainingRun) -> str:
    return f"{file_name(run.problem.data)}: {counted(run.problem.whole.num_rows, 'row')}"


def brief_columns(run: TrainingRun) -> str:
    """Return a line for each type of columns: with their names if they are few."""
    problem, columns = run.problem, columns_dict(run)
    target = next(each for each in columns if each["type"] == "target")
    others = [each for each in columns if each is not target]
    lines = [f"  target    {shown(target['name'])}: {_about(problem, target)}"]
    for kind in sorted({each["type"] for each in others}, key=_type_order):
        alike = [each for each in others if each["type"] == kind]
        indent = f"  {kind:<8}  "
        if kind == "dropped":
            few = [f"{shown(each['name'])}: {_about(problem, each)}" for each in alike]
            more = len(few) - DROPPED_SHOWN
            few[DROPPED_SHOWN:] = [f"and {counted(more, 'column')} more"] * (more > 0)
            lines += [f"{indent}{line}" for line in few]
            continue
        text = _alike_text(problem, kind, alike, len(columns))
        lines.append(
            fill(text, 100, initial_indent=indent, subsequent_indent=" " * len(indent),
                 break_on_hyphens=False, break_long_words=False)
        )  # fmt: skip
    if len(columns) > NOTED_COLUMNS:
        lines += _conversion_lines(columns)
    return "\n".join([f"{_title_of_data(run)}, {counted(len(columns), 'column')}", *lines])


def _conversion_lines(columns: list[dict[str, Any]]) -> list[str]:
    """Return a line for each of the first converted columns."""
    made = [each for each in columns if "conversion" in each]
    lines = [f"{shown(each['name'], 40)}: {shown(each['conversion'], 90)}" for each in made]
    more = len(lines) - CONVERTED_SHOWN
    lines[CONVERTED_SHOWN:] = [f"and {counted(more, 'column')} more"] * (more > 0)
    return [f"  converted {line}" for line in lines]


def _type_order(kind: str) -> int:
    kinds = ("number", "category", "boolean", "date", "text", "group", "time", "weight", "dropped")
    return kinds.index(kind)


def _alike_text(problem: Problem, kind: str, columns: list[dict[str, Any]], total: int) -> str:
    """Return columns of one type: with remarks, by name, or counted, depending on how many."""
    if kind in ROLES or total <= NOTED_COLUMNS:
        about = [(shown(each["name"]), _about(problem, each)) for each in columns]
        return ", ".join(f"{name} ({notes})" if notes else name for name, notes in about)
    listed = counted(len(columns), "column")
    if total <= NAMED_COLUMNS:
        listed = ", ".join(shown(each["name"]) for each in columns)
    notes = []
    if kind in ("category", "text", "date"):
        notes.append(counted(sum(each["features"] for each in columns), "feature"))
    missing = sum(each["missing"] > 0 for each in columns)
    if missing:
        notes.append(f"{missing} with missing values")
    return f"{listed} ({', '.join(notes)})" if notes else listed


def _about(problem: Problem, column: dict[str, Any]) -> str:
    """Return the description of a column."""
    notes = []
    if column["type"] == "target":
        notes.append(problem.target.summary().text)
        notes += ["its logarithm is learned"] * problem.target_log
    if column["type"] == "category":
        levels = column["features"] - (column["missing"] > 0)
        notes.append(counted(levels, "level"))
    if column["type"] in ROLES:
        notes.append(ROLES[column["type"]])
    if column["type"] in ("date", "text"):
        notes.append(counted(column["features"], "feature"))
    if "conversion" in column:
        notes.append(shown(column["conversion"], 90))
    if "reason" in column:
        notes.append(shown(column["reason"], 150))
    if column["missing"]:
        rows = ", rows skipped" if column["type"] == "target" else ""
        notes.append(f"{column['missing']} missing{rows}")
    return "; ".join(notes)


def _runs(cells: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Merge long runs of neighbouring columns with equal descriptions into one line."""
    lines: list[tuple[str, str, str]] = []
    for (kind, notes), group in groupby(cells, key=lambda each: each[1:]):
        names = [name for name, _, _ in group]
        if len(names) < ALIKE:
            lines += [(name, kind, notes) for name in names]
        else:
            more = f"; {notes}" if notes else ""
            lines.append((f"{names[0]} ... {names[-1]}", kind, f"{len(names)} columns{more}"))
    return lines
