"""Results of ``separable check`` as text and as JSON values."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separable.cli.render.messages import step
from separable.data.checks.checking import check
from separable.data.columns import as_columns
from separable.data.table import missing_counts, require_columns
from separable.features.table.column_states import guessed_kinds
from separable.model.words import column_lines, counted, shown
from separable.workflow.input_tables import naming_file, table_of
from separable.workflow.options import file_name
from separable.workflow.training_warnings import remedies_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from separable.data.checks.findings import Finding, Findings
    from separable.data.table import ColumnType
    from separable.workflow.options import ReadingOptions


__all__ = [
    "Checked",
    "check_dict",
    "check_text",
    "checked",
    "options_text",
]


#: Maximum width of the text, and maximum number of listed columns.
WIDEST, LISTED = 100, 60

#: Options that set the type of a column, and the type with which it is read.
TYPES: dict[str, ColumnType] = {
    "number": "number",
    "category": "category",
    "boolean": "boolean",
    "date": "date",
    "text": "category",
}

#: Options that give a column another role than feature.
APART = ("target", "weight", "group", "time")

HEADINGS = {
    "warning": "problems that bias the model or its measured error",
    "note": "worth knowing",
}


@dataclass(frozen=True)
class Checked:
    """The findings, and the type of each column."""

    options: dict[str, Any]
    reading: ReadingOptions
    columns: list[dict[str, Any]]
    findings: Findings


def checked(data: str, options: dict[str, Any], reading: ReadingOptions) -> Checked:
    """Read and check a file.

    Parameters
    ----------
    data : str
        The path of the file.
    options : dict
        Options of the command: ``target``, ``task``, the columns of each of `TYPES`, ``drop``,
        ``weight``, ``group`` and ``time``.
    reading : ReadingOptions
    """
    types = {name: TYPES[kind] for kind in TYPES for name in options[kind]}
    table = table_of(data, types, reading)
    apart = {option: options[option] for option in APART if options[option] is not None}
    require_columns(
        [*apart.values(), *types, *options["drop"]], table.column_names, file_name(data)
    )
    with naming_file(data), step(f"Checking {file_name(data)}"):
        findings = check(
            table,
            **apart,
            task=options["task"],
            drop=options["drop"],
            asked=tuple(types),
            conversions=options["conversions"],
        )
        columns = _columns(table, options, apart)
    return Checked(options, reading, columns, findings)


def _columns(
    table: pa.Table, options: dict[str, Any], apart: dict[str, str]
) -> list[dict[str, Any]]:
    """Return the type of each column, and the reason."""
    known = {name: (option, "asked for") for option, name in apart.items()}
    for kind in (*TYPES, "drop"):
        known |= {name: (kind, "asked for") for name in options[kind] if name not in known}
    names = table.column_names
    others = [name for name in names if name not in known]
    known |= guessed_kinds(others, as_columns(table), options["conversions"])
    missing = missing_counts(table)
    result = []
    for name in names:
        kind, why = known[name]
        result.append({"name": name, "type": kind, "why": why, "missing": missing.get(name, 0)})
    return result


def check_dict(result: Checked) -> dict[str, Any]:
    """Return the findings as JSON values."""
    record = result.findings.to_dict()
    return {
        "target": result.options["target"],
        "rows": record["rows"],
        "rows_sampled": record["rows_sampled"],
        "columns": result.columns,
        "warnings": len(result.findings.warnings),
        "findings": record["findings"],
    }


def check_text(result: Checked, data: str) -> str:
    """Return the findings as text for a terminal."""
    findings = result.findings
    sections = [_columns_text(result, data)]
    for severity, each in (("warning", findings.warnings), ("note", findings.notes)):
        if each:
            sections.append(_section(severity, each))
    if not findings:
        sections.append("No problems found.")
    if result.options["target"] is not None and data != "-":
        sections.append(f"Next:\n  {_command(result, data)}")
    return "\n\n".join(sections)


def _columns_text(result: Checked, data: str) -> str:
    findings = result.findings
    sampled = ""
    if findings.n_sampled < findings.n_rows:
        sampled = f"; columns compared on a sample of {findings.n_sampled}"
    lines = [f"{file_name(data)}: {counted(findings.n_rows, 'row')}{sampled}"]
    cells = []
    for column in result.columns[:LISTED]:
        why = "" if column["why"] == "asked for" else shown(column["why"], 90)
        lost = f"{column['missing']} missing" if column["missing"] else ""
        notes = "; ".join(filter(None, (why, lost)))
        cells.append((shown(column["name"]), column["type"], notes))
    lines += column_lines(cells)
    if len(result.columns) > LISTED:
        lines.append(f"  ... and {len(result.columns) - LISTED} more columns")
    return "\n".join(lines)


def _section(severity: str, findings: list[Finding]) -> str:
    heading = f"{counted(len(findings), severity)}: {HEADINGS[severity]}"
    colour = "yellow" if severity == "warning" else None
    lines = [click.style(heading, bold=True, fg=colour)]
    lines += [_finding_text(each) for each in findings]
    return "\n".join(lines)


def _finding_text(finding: Finding) -> str:
    width = min(shutil.get_terminal_size((WIDEST, 0)).columns, WIDEST)
    text = click.wrap_text(f"{finding.kind}: {finding.text}", width, "  ", "    ")
    options = options_text([finding])
    return text + (f"\n    -> {options}" if options else "")


def options_text(findings: Iterable[Finding]) -> str:
    """Return the remedies as options of the command line, without repetitions."""
    options = (option for finding in findings for option in remedies_of(finding))
    return " ".join(dict.fromkeys(option.spelled("command") for option in options))


def _command(result: Checked, data: str) -> str:
    """Return the next command: the same options, and the remedies of the warnings."""
    given = [
        f"--{option} {shlex.quote(value)}"
        for option in ("target", "task", *APART[1:], *TYPES, "drop")
        for value in _values(result.options[option])
    ]
    given += [
        f"--convert {shlex.quote(f'{n}={h}')}" for n, h in result.options["conversions"].items()
    ]
    parts = [f"separable train {shlex.quote(data)}", *given, options_text(result.findings.warnings)]
    return " ".join(filter(None, parts)) + result.reading.option_text()


def _values(options: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (options,) if isinstance(options, str) else options or ()
