"""What ``separable train`` found, as text and as JSON values."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from separable.cli.classification import SHOWN_CLASSES
from separable.cli.output import MEAN_WEIGHTS, counted, file_name
from separable.data.table import missing_counts
from separable.model.linear_model import LinearModel
from separable.model.top_weights import TopWeights
from separable.model.words import number, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.cli.training import Training
    from separable.model.kinds import Model

__all__ = ["training_dict", "training_text"]

TOP_WEIGHTS = 5

#: Two a class.
WEIGHT_GROUPS = 2 * SHOWN_CLASSES

#: What a learner may set by itself, and how it is told.
CHOSEN = {
    "alpha": "alpha",
    "noise_precision": "noise precision",
    "condition_number": "condition number",
}

NOT_HELD_OUT = "Nothing was held out, so the error on new rows is not known."


def training_dict(training: Training) -> dict[str, Any]:
    """Return what was found as plain JSON values."""
    model = training.model
    return {
        "learner": model.learner,
        "task": training.target.task,
        "target": training.target_name,
        **training.target.summary().values,
        "rows": len(training.target.values),
        "rows_without_target": training.target.missing,
        "columns": _columns(training),
        "n_features": model.n_features,
        "held_out": None if training.held_out is None else training.held_out.values,
        **training.trained.values,
        "evidence": {key: value for key, value in model.evidence.items() if key != "train"},
        "top_weights": model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": list(training.notes),
        "warnings": list(training.warnings),
    }


def training_text(training: Training, path: str) -> str:
    """Return what was found as text for a terminal."""
    sections = [
        _columns_text(training),
        NOT_HELD_OUT if training.held_out is None else training.held_out.text,
        _model_text(training),
        _weights_text(training),
        _next_text(training, path),
    ]
    return "\n\n".join(sections)


def _columns(training: Training) -> list[dict[str, Any]]:
    types = {row.column: row.type for row in training.encoder.columns_}
    dropped = training.encoder.dropped_
    missing = missing_counts(training.table)
    features = Counter(training.encoder.sources)
    columns: list[dict[str, Any]] = []
    for name in training.table.column_names:
        column: dict[str, Any] = {"name": name, "type": types.get(name, "dropped")}
        if name == training.target_name:
            column["type"] = "target"
        elif name in dropped:
            column["reason"] = dropped[name]
        elif types[name] != "number":
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
            notes.append(training.target.summary().text)
        if column["type"] == "category":
            levels = column["features"] - (column["missing"] > 0)
            notes.append(counted(levels, "level"))
        if column["type"] in ("date", "text"):
            notes.append(counted(column["features"], "feature"))
        if "reason" in column:
            notes.append(shown(column["reason"], 150))
        if column["missing"]:
            rows = ", rows left out" if column["type"] == "target" else ""
            notes.append(f"{column['missing']} missing{rows}")
        line = f"  {shown(column['name']).ljust(width)}  {column['type']:<8}  {'; '.join(notes)}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _model_text(training: Training) -> str:
    model, evidence = training.model, training.model.evidence
    lines = [
        f"{model.learner}, trained again on all {len(training.target.values)} rows with "
        f"{counted(model.n_features, 'feature')}:",
        f"  {training.trained.text}",
    ]
    chosen = [
        f"{words} {number(value)}"
        for name, words in CHOSEN.items()
        if isinstance(value := evidence.get(name), float)
        and model.parameters.get(name) is None
        and not (name == "alpha" and "validation" in evidence)
    ]
    if chosen:
        lines.append(f"  {', '.join(chosen)}")
    lines += _search_lines(evidence)
    if "relative_gap" in evidence:
        lines.append(f"  {_certificate(model)}")
    if "epochs" in evidence:
        end = _end(model)
        lines.append(f"  {counted(evidence['epochs'], 'epoch')}{', ' * bool(end)}{end}")
    return "\n".join(lines)


def _search_lines(evidence: Mapping[str, Any]) -> list[str]:
    """Return how the strength was chosen, and whether it is at the edge of those tried."""
    if "best_score" not in evidence or "validation" not in evidence:
        return []
    scoring, score = evidence.get("scoring", "neg_mean_squared_error"), evidence["best_score"]
    if scoring.startswith("neg_"):
        scoring, score = scoring.removeprefix("neg_"), -score
    name = "C" if "C" in evidence else "alpha"
    chosen = f"{name} {number(evidence[name])}"
    error = evidence.get("standard_error")
    give = "" if error is None else f", standard error {number(error)}"
    lines = [
        f"  {chosen} by {evidence['validation']} of these rows, encoded once: "
        f"{scoring.replace('_', ' ')} {number(score)}{give}"
    ]
    if evidence.get("at_edge"):
        lines.append(f"  it is the {evidence['at_edge']} {name} that was tried")
    return lines


def _certificate(model: Model) -> str:
    """Return how far from the optimum the weights are, at most."""
    gaps: Any = model.evidence["relative_gap"]
    asked = f"(asked {model.evidence['tol']:.0e})"
    if not isinstance(gaps, list):
        return f"certificate: relative gap {gaps:.1e} {asked}"
    models = f"in each of {len(gaps)} one-vs-rest models"
    return f"certificate: relative gap at most {max(gaps):.1e} {models} {asked}"


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
    return f"{counted(mistakes[-1], 'mistake')}{models} on the way through the last"


def _weights_text(training: Training) -> str:
    groups = training.model.top_weights(TOP_WEIGHTS).groups
    shown_groups = TopWeights(groups[:WEIGHT_GROUPS])
    more = "\n... and those of the other classes" if len(groups) > WEIGHT_GROUPS else ""
    mean = "" if isinstance(training.model, LinearModel) else f"\n{MEAN_WEIGHTS}"
    return f"Most telling features{mean}\n{shown_groups}{more}"


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
