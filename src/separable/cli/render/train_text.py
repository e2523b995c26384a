"""Results of ``separable train`` as text and as JSON values."""

from __future__ import annotations

import shlex
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

from separable.cli.io.output import counted, file_name
from separable.cli.render.columns_text import TOP_WEIGHTS, column_lines, saved_text, weights_text
from separable.cli.render.leaderboard_text import board_text, choice_text
from separable.data.table import missing_counts
from separable.model.words import number, shown

if TYPE_CHECKING:
    from separable.cli.training.training import Training
    from separable.cli.training.training_data import Problem
    from separable.model.kinds import Model

__all__ = ["training_dict", "training_text"]

#: Parameters that a learner may choose itself, and their names in the output.
CHOSEN = {
    "alpha": "alpha",
    "noise_precision": "noise precision",
    "condition_number": "condition number",
}

#: Minimum run of neighbouring columns with equal descriptions that is shown as one line.
ALIKE = 8

#: Descriptions of columns that are not features.
ROLES = {
    "group": "not a feature: groups of rows",
    "time": "not a feature: time of the row",
    "weight": "not a feature: sample weight",
}

NOT_HELD_OUT = "No rows were held out, so the error on new rows is unknown."


def training_dict(training: Training) -> dict[str, Any]:
    """Return what was found as plain JSON values."""
    model, problem, comparison = training.model, training.problem, training.comparison
    return {
        "learner": model.learner,
        "task": problem.task,
        "target": problem.options.target,
        **problem.target.summary().values,
        "rows": len(problem),
        "rows_without_target": problem.target.missing,
        "columns": _columns(training),
        "n_features": model.n_features,
        "metric": comparison.score.metric.name,
        "positive": comparison.score.positive,
        "compared_rows": comparison.rows,
        "leaderboard": comparison.board_dict(),
        "chosen": {"name": comparison.candidate.name, "params": dict(comparison.params)},
        "held_out": None if training.held_out is None else training.held_out.figures.to_dict(),
        **training.trained.values,
        "evidence": {key: value for key, value in model.evidence.items() if key != "train"},
        "top_weights": model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": list(training.notes),
        "warnings": list(training.warnings),
    }


def training_text(training: Training, path: str, report: str | None = None) -> str:
    """Return what was found as text for a terminal; files are those that were written."""
    sections = [_columns_text(training)]
    if training.comparison.board is not None:
        sections.append(board_text(training.comparison, marked=True))
    sections += [
        choice_text(training.comparison),
        _held_out_text(training),
        _model_text(training),
        weights_text(training.model),
        _next_text(training, path, report),
    ]
    return "\n\n".join(sections)


def _held_out_text(training: Training) -> str:
    if training.held_out is None:
        return NOT_HELD_OUT
    return f"{training.held_out.how}:\n{training.held_out.figures.text()}"


def _columns(training: Training) -> list[dict[str, Any]]:
    types = {row.column: row.type for row in training.encoder.columns_}
    dropped = training.encoder.dropped_
    problem = training.problem
    apart = {name: option for option, name in problem.options.apart.items()}
    missing = missing_counts(problem.whole)
    features = Counter(training.encoder.sources)
    columns: list[dict[str, Any]] = []
    for name in problem.whole.column_names:
        column: dict[str, Any] = {"name": name, "type": types.get(name, "dropped")}
        if name == problem.options.target:
            column["type"] = "target"
        elif name in apart:
            column["type"] = apart[name]
        elif name in dropped:
            column["reason"] = dropped[name]
        elif types[name] != "number":
            column["features"] = features[name]
        column["missing"] = missing.get(name, 0)
        columns.append(column)
    return columns


def _columns_text(training: Training) -> str:
    problem = training.problem
    cells = [
        (shown(each["name"]), each["type"], _about(problem, each)) for each in _columns(training)
    ]
    title = f"{file_name(problem.data)}: {counted(problem.whole.num_rows, 'row')}"
    return "\n".join([title, *column_lines(_runs(cells))])


def _about(problem: Problem, column: dict[str, Any]) -> str:
    """Return what there is to say of a column."""
    notes = []
    if column["type"] == "target":
        notes.append(problem.target.summary().text)
    if column["type"] == "category":
        levels = column["features"] - (column["missing"] > 0)
        notes.append(counted(levels, "level"))
    if column["type"] in ROLES:
        notes.append(ROLES[column["type"]])
    if column["type"] in ("date", "text"):
        notes.append(counted(column["features"], "feature"))
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


def _model_text(training: Training) -> str:
    model, evidence = training.model, training.model.evidence
    held_out = training.held_out
    again = "trained" if held_out is None or held_out.own_file else "retrained"
    lines = [
        f"{model.learner}, {again} on all {len(training.problem)} rows with "
        f"{counted(model.n_features, 'feature')}:",
        f"  {training.trained.text}",
    ]
    chosen = [
        f"{words} {number(value)}"
        for name, words in CHOSEN.items()
        if isinstance(value := evidence.get(name), float) and model.parameters.get(name) is None
    ]
    if chosen:
        lines.append(f"  {', '.join(chosen)}")
    if "relative_gap" in evidence:
        lines.append(f"  {_certificate(model)}")
    if "epochs" in evidence:
        end = _end(model)
        lines.append(f"  {counted(evidence['epochs'], 'epoch')}{', ' * bool(end)}{end}")
    return "\n".join(lines)


def _certificate(model: Model) -> str:
    """Return how far from the optimum the weights are, at most."""
    gaps: Any = model.evidence["relative_gap"]
    if gaps is None:
        return f"certificate: {model.evidence['claim']}"
    requested = f"(requested {model.evidence['tol']:.0e})"
    if not isinstance(gaps, list):
        return f"certificate: relative duality gap {gaps:.1e} {requested}"
    models = f"in each of {len(gaps)} one-vs-rest models"
    return f"certificate: relative duality gap at most {max(gaps):.1e} {models} {requested}"


def _end(model: Model) -> str:
    """Return how the last epoch ended, in words for what the learner reports of it."""
    converged, mistakes = model.evidence.get("converged"), model.evidence.get("mistakes")
    if converged is None:
        return ""
    if not isinstance(mistakes, list) or not mistakes:
        return "converged" if converged else "not converged"
    if converged:
        return "converged: an epoch without a mistake"
    k = model.n_scores
    models = f" of the {k} one-vs-rest models together" if k > 1 else ""
    return f"{counted(mistakes[-1], 'mistake')}{models} in the last epoch"


def _next_text(training: Training, path: str, report: str | None) -> str:
    data = "DATA.csv" if training.problem.data == "-" else training.problem.data
    model, rows = shlex.quote(path), shlex.quote(data)
    reading = training.problem.options.reading.option_text()
    return "\n".join(
        [
            f"{saved_text(path, report)} Next:",
            f"  separable predict {model} {rows}{reading}",
            f"  separable explain {model} {rows} --row 1{reading}",
        ]
    )
