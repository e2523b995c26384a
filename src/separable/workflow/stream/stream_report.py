"""Results of training on a stream: figures, training record, text and JSON values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separable.model.words import column_lines, counted, number, shown
from separable.model.words import table as aligned
from separable.workflow.options import file_name
from separable.workflow.stream.progressive_validation import PIECE, PIECE_DIVISOR
from separable.workflow.target import SHOWN_CLASSES
from separable.workflow.training_text import TOP_WEIGHTS, weights_text

if TYPE_CHECKING:
    from separable.errors import Spelling
    from separable.model.kinds import Model
    from separable.workflow.stream.progressive_validation import Line, Record
    from separable.workflow.stream.stream_learning import StreamLearner
    from separable.workflow.stream.stream_target import StreamTarget
    from separable.workflow.stream.stream_training import StreamRun

__all__ = ["cell", "line_figures", "stream_dict", "stream_text", "tail_figures", "trained", "value"]


def line_figures(line: Line, before: Line | None, *, is_number: bool) -> dict[str, Any]:
    """Return the figures of a line: means since the start and since the previous line.

    Parameters
    ----------
    line : Line
    before : Line, optional
    is_number : bool
        Whether the task is regression.
    """
    loss, since = line.loss, None
    if loss is not None:
        since = _ratio(
            loss - ((before.loss or 0.0) if before else 0.0),
            line.trials - (before.trials if before else 0.0),
        )
    fraction = _ratio(
        line.score - (before.score if before else 0.0),
        line.tested - (before.tested if before else 0.0),
    )
    figure = fraction if fraction is None or not is_number else math.sqrt(max(fraction, 0.0))
    return {
        "examples": line.examples,
        "mean_loss": None if loss is None else _ratio(loss, line.trials),
        "since_last": since,
        "rmse" if is_number else "accuracy": figure,
        "label": line.label,
        "predicted": line.predicted,
        "features": line.features,
    }


def tail_figures(record: Record, target: StreamTarget) -> dict[str, Any]:
    """Return the figures of the last half to three quarters of the rows.

    Each row was predicted before it was learned, as if it were held out.
    """
    last = record.lines[-1]
    before = next((each for each in record.lines[::-1] if 2 * each.examples <= last.examples), None)
    is_number = target.classes is None
    result = line_figures(last, before, is_number=is_number)
    figure = "rmse" if is_number else "accuracy"
    constant, beside = _constant(last, before, target)
    return {
        "first": 1 + (before.examples if before else 0),
        "last": last.examples,
        "mean_loss": result["since_last"],
        figure: result[figure],
        "constant": constant,
        f"constant_{figure}": beside,
    }


def _constant(line: Line, before: Line | None, target: StreamTarget) -> tuple[Any, float | None]:
    """Return the best constant prediction of all rows, and its figure on those after a line."""
    weight = line.weight - (before.weight if before else 0.0)
    if target.classes is not None:
        best = max(range(len(line.constant)), key=line.constant.__getitem__)
        fraction = _ratio(line.constant[best] - (before.constant[best] if before else 0.0), weight)
        return target.classes.tolist()[best], fraction
    mean = line.constant[0]
    squares = _squares_about(mean, line) - (_squares_about(mean, before) if before else 0.0)
    fraction = _ratio(max(squares, 0.0), weight)
    return mean, None if fraction is None else math.sqrt(fraction)


def _squares_about(number: float, line: Line) -> float:
    mean, squares = line.constant
    return squares + line.weight * (mean - number) ** 2


def _ratio(total: float, weight: float) -> float | None:
    return total / weight if weight > 0 else None


def cell(value: float | None) -> str:
    """Return a figure for a table."""
    return "-" if value is None else f"{value:.4f}" if abs(value) < 1e5 else f"{value:.4g}"


def value(label: Any) -> str:
    """Return a label or number for a table."""
    return number(label) if isinstance(label, float) else shown(label, 13)


# --- the end ---


def trained(
    model: Model,
    learner: StreamLearner,
    *,
    data: str,
    target: str | None,
    weight: str | None,
    passes: int,
    report: dict[str, Any],
) -> Model:
    """Return a model with its training record; ``report`` is the part for reports."""
    record, predicted = learner.record, learner.stream.target
    is_number = predicted.classes is None
    befores = [None, *record.lines[:-1]]
    lines = [
        line_figures(line, before, is_number=is_number)
        for line, before in zip(record.lines, befores, strict=True)
    ]
    tail = tail_figures(record, predicted)
    trained_on: dict[str, Any] = {
        "task": predicted.task,
        "target": target,
        "weight": weight,
        "rows": record.lines[-1].examples,
        "constant": tail["constant"],
        "held_out": None,
        "data": data,
        "stream": {
            "passes": passes,
            "loss": learner.gauge.name,
            "lines": lines,
            "tail": tail,
            "pass_losses": list(record.pass_losses),
            "rows_without_target": record.missing,
            "unseen": record.unseen,
        },
        "report": report,
    }
    if learner.stream.source.format == "svmlight":
        trained_on["index_base"] = learner.stream.source.index_base
    evidence = {**model.evidence, "train": trained_on}
    if "progressive" in evidence:  # of the first pass, in which rows are new
        evidence["progressive"] = {
            "examples": [line["examples"] for line in lines],
            "mean_loss": [line["mean_loss"] for line in lines],
        }
    return replace(model, evidence=evidence)


def stream_dict(run: StreamRun, spelling: Spelling) -> dict[str, Any]:
    """Return the results as JSON values."""
    record: Any = run.model.evidence["train"]
    evidence = {k: v for k, v in run.model.evidence.items() if k not in ("train", "progressive")}
    return {
        "learner": run.model.learner,
        **{name: record[name] for name in ("task", "target", "weight", "rows", "constant")},
        "classes": None if run.model.classes is None else run.model.classes.tolist(),
        "columns": _columns(run),
        "n_features": run.model.n_features,
        **record["stream"],
        "evidence": evidence,
        "top_weights": run.model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": [
            each if isinstance(each, str) else each.spelled(spelling)
            for each in run.stream.source.notes
        ],
    }


def stream_text(run: StreamRun) -> str:
    """Return the results as text for a terminal."""
    sections = [
        _rows_text(run),
        _tail_text(run),
        f"{run.model.learner} with {counted(run.model.n_features, 'feature')}{_passes_text(run)}",
        weights_text(run.model),
    ]
    return "\n\n".join(sections)


def _columns(run: StreamRun) -> list[dict[str, Any]] | None:
    encoder = run.stream.encoder
    if encoder is None:
        return None
    return [
        {"name": row.column, "type": row.type, "features": row.numbers_out}
        | ({"reason": row.why} if row.type == "dropped" else {})
        | {"unseen": run.record.unseen.get(row.column, {}).get("count", 0)}
        for row in encoder.columns_
    ]


def _rows_text(run: StreamRun) -> str:
    record, target = run.record, run.stream.target
    rows = f"{file_name(run.data)}: {counted(record.lines[-1].examples, 'row')}"
    if record.missing:
        rows += f", {record.missing} more without a target skipped"
    lines = [rows]
    columns = []
    if run.target_name is not None:
        what = "numbers" if target.classes is None else _classes_text(target.classes.tolist())
        columns.append((shown(run.target_name), "target", what))
    columns += [
        (shown(column["name"]), column["type"], _about(run, column))
        for column in _columns(run) or []
    ]
    if columns:
        lines += [*column_lines(columns), "  (types from the first rows)"]
    return "\n".join(lines)


def _classes_text(classes: list[Any]) -> str:
    more = ", ..." if len(classes) > SHOWN_CLASSES else ""
    first = ", ".join(shown(label) for label in classes[:SHOWN_CLASSES])
    return f"{len(classes)} classes ({first}{more})"


def _about(run: StreamRun, column: dict[str, Any]) -> str:
    notes = [shown(column["reason"], 150)] if "reason" in column else []
    if column["type"] in ("category", "date", "text"):
        notes.append(counted(column["features"], "feature"))
    if column["unseen"]:
        first = ", ".join(repr(shown(x)) for x in run.record.unseen[column["name"]]["first"])
        notes.append(f"{column['unseen']} later values with new levels: no effect ({first})")
    return "; ".join(notes)


def _tail_text(run: StreamRun) -> str:
    record: Any = run.model.evidence["train"]
    tail = record["stream"]["tail"]
    figure = "rmse" if record["task"] == "regression" else "accuracy"
    of_what = "root mean squared error" if figure == "rmse" else figure
    rows = [("", "the model", f"always {shown(value(tail['constant']))}")]
    rows.append((of_what, cell(tail[figure]), cell(tail[f"constant_{figure}"])))
    if tail["mean_loss"] is not None:
        rows.append((f"{run.gauge}", cell(tail["mean_loss"]), ""))
    title = (
        f"Rows {tail['first']} to {tail['last']}, each predicted before it was learned, by weights "
        f"at most {min(PIECE, tail['last'] // PIECE_DIVISOR)} rows old:"
    )
    return "\n".join([title, aligned(rows)])


def _passes_text(run: StreamRun) -> str:
    if run.passes == 1:
        return ", after one pass"
    losses = [loss for loss in run.record.pass_losses if loss is not None]
    listed = ", ".join(number(loss) for loss in losses)
    later = (
        (f"; {run.gauge} per pass: {listed} (rows were new in the first pass only)")
        if losses
        else ""
    )
    return f", after {run.passes} passes{later}"
