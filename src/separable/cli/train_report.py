"""What ``separable train`` found, as text and as JSON values."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from separable.cli.output import counted, file_name
from separable.data.table import missing_counts
from separable.model.top_weights import TopWeights
from separable.model.words import shown

if TYPE_CHECKING:
    from separable.cli.train import Training
    from separable.model.linear_model import LinearModel

__all__ = ["training_dict", "training_text"]

TOP_WEIGHTS = 5
CLASSES = 8


def training_dict(training: Training) -> dict[str, Any]:
    """Return what was found as plain JSON values."""
    model = training.model
    return {
        "learner": model.learner,
        "target": training.target_name,
        "classes": [
            {"class": label, "rows": count} for label, count in training.target.counts().items()
        ],
        "rows": len(training.target.labels),
        "rows_without_target": training.target.missing,
        "columns": _columns(training),
        "n_features": model.n_features,
        "held_out": None if training.held_out is None else training.held_out.to_dict(),
        "training_mistakes": training.mistakes,
        "evidence": {key: value for key, value in model.evidence.items() if key != "train"},
        "top_weights": model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": list(training.notes),
        "warnings": list(training.warnings),
    }


def training_text(training: Training, path: str) -> str:
    """Return what was found as text for a terminal."""
    sections = [
        _columns_text(training),
        _held_out_text(training),
        _model_text(training),
        _weights_text(training),
        _next_text(training, path),
    ]
    return "\n\n".join(sections)


def _columns(training: Training) -> list[dict[str, Any]]:
    types, dropped = training.encoder.column_types, training.encoder.dropped_
    missing = missing_counts(training.table)
    features = Counter(training.encoder.sources)
    columns: list[dict[str, Any]] = []
    for name in training.table.column_names:
        column: dict[str, Any] = {"name": name, "type": types.get(name, "dropped")}
        if name == training.target_name:
            column["type"] = "target"
        elif name in dropped:
            column["reason"] = dropped[name]
        elif types[name] == "category":
            column["features"] = features[name]
        column["missing"] = missing.get(name, 0)
        columns.append(column)
    return columns


def _columns_text(training: Training) -> str:
    columns = _columns(training)
    width = max(len(shown(column["name"])) for column in columns)
    lines = [f"{file_name(training.data)}: {counted(training.table.num_rows, 'row')}"]
    for column in columns:
        notes = []
        if column["type"] == "target":
            notes.append(_classes_text(training))
        if column["type"] == "category":
            levels = column["features"] - (column["missing"] > 0)
            notes.append(counted(levels, "level"))
        if "reason" in column:
            notes.append(shown(column["reason"], 150))
        if column["missing"]:
            rows = ", rows left out" if column["type"] == "target" else ""
            notes.append(f"{column['missing']} missing{rows}")
        line = f"  {shown(column['name']).ljust(width)}  {column['type']:<8}  {'; '.join(notes)}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _classes_text(training: Training) -> str:
    counts = training.target.counts()
    listed = ", ".join(f"{shown(k)} {count}" for k, count in list(counts.items())[:CLASSES])
    more = ", ..." if len(counts) > CLASSES else ""
    return f"{len(counts)} classes ({listed}{more})"


def _held_out_text(training: Training) -> str:
    held = training.held_out
    total = len(training.target.labels)
    if held is None:
        return "Nothing was held out, so the error on new rows is not known."
    constant = f"always {shown(held.constant)}"
    width = max(len("accuracy"), len(constant))
    return "\n".join(
        [
            f"Held out {held.rows} of {total} rows, each class in proportion:",
            f"  {'accuracy'.ljust(width)}  {held.correct / held.rows:.4f}  "
            f"({held.correct} of {held.rows} right)",
            f"  {constant.ljust(width)}  {held.constant_correct / held.rows:.4f}  "
            f"({held.constant_correct} of {held.rows} right): the best constant answer",
        ]
    )


def _model_text(training: Training) -> str:
    model, evidence = training.model, training.model.evidence
    total = len(training.target.labels)
    lines = [
        f"{model.learner}, trained again on all {total} rows with "
        f"{counted(model.n_features, 'feature')}:",
        f"  {training.mistakes} of {total} training rows predicted wrongly",
    ]
    if "epochs" in evidence:
        end = "converged: an epoch without a mistake" if evidence.get("converged") else _left(model)
        lines.append(f"  {counted(evidence['epochs'], 'epoch')}{', ' * bool(end)}{end}")
    return "\n".join(lines)


def _left(model: LinearModel) -> str:
    """Return what the last epoch had to correct, of all models where there are several."""
    mistakes, k = model.evidence.get("mistakes"), len(model.weights)
    if not isinstance(mistakes, list) or not mistakes:
        return ""
    models = f" of the {k} one-vs-rest models together" if k > 1 else ""
    return f"{counted(mistakes[-1], 'mistake')}{models} on the way through the last"


def _weights_text(training: Training) -> str:
    groups = training.model.top_weights(TOP_WEIGHTS).groups
    shown_groups = TopWeights(groups[: 2 * CLASSES])  # two a class
    more = "\n... and those of the other classes" if len(groups) > 2 * CLASSES else ""
    return f"Most telling features\n{shown_groups}{more}"


def _next_text(training: Training, path: str) -> str:
    data = "DATA.csv" if training.data == "-" else training.data
    model = shlex.quote(path)
    return "\n".join(
        [
            f"Saved {path}. Next:",
            f"  separable predict {model} {shlex.quote(data)}",
            f"  separable explain {model} {shlex.quote(data)} --row 1",
        ]
    )
