"""Results of ``train`` as text for a terminal of 80 columns, and as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePath
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import Message, Option
from separable.model.explain.top_weights import TopWeights
from separable.model.linear_model import LinearModel
from separable.model.metrics.evaluation import evaluation_text, figure
from separable.model.predict.decision import decision_text
from separable.model.words import counted, rounded, shortened, shown
from separable.workflow.columns.column_text import brief_columns, columns_dict, columns_text
from separable.workflow.comparison.comparison_text import (
    board_text,
    brief_board,
    brief_choice,
    choice_text,
)

if TYPE_CHECKING:
    from separable.errors import Spelling
    from separable.model.kinds import Model
    from separable.workflow.importance import Importance
    from separable.workflow.training_run import TrainingRun


__all__ = [
    "MEAN_WEIGHTS",
    "TOP_WEIGHTS",
    "certificate_text",
    "headline",
    "next_commands",
    "training_dict",
    "training_text",
    "weights_text",
]

#: Parameters that a learner may choose itself, and their names in the output.
CHOSEN = {
    "alpha": "alpha",
    "weight_precision": "weight precision",
    "noise_precision": "noise precision",
    "condition_number": "condition number",
}
NOT_HELD_OUT = "No rows were held out, so the error on new rows is unknown."
#: Weights shown per group, and groups shown: two for each of eight classes.
TOP_WEIGHTS, WEIGHT_GROUPS = 5, 16
#: Printed above the weights of a model that votes.
MEAN_WEIGHTS = "The model votes; these are the mean weights of its voters."
#: A class that is predicted for fewer than this fraction of its rows is hardly predicted.
RARELY_PREDICTED = 0.5
#: Columns, levels of a column, classes and features of a class in one screen.
COLUMNS_SHOWN, LEVELS_SHOWN, CLASSES_SHOWN, FEATURES_SHOWN = 6, 3, 2, 6


def training_dict(training: TrainingRun, spelling: Spelling) -> dict[str, Any]:
    """Return the results as JSON values."""
    model, problem, comparison = training.model, training.problem, training.comparison
    return {
        "learner": model.learner,
        "task": problem.task,
        "target": problem.options.target,
        **problem.target.summary().values,
        "rows": len(problem),
        "rows_without_target": problem.target.missing,
        "columns": columns_dict(training),
        "n_features": model.n_features,
        "metric": comparison.score.metric.name,
        "positive": comparison.score.positive,
        "compared_rows": comparison.rows,
        "leaderboard": comparison.board_dict(),
        "chosen": {"name": comparison.candidate.name, "params": dict(comparison.params)},
        "held_out": None if training.held_out is None else training.held_out.figures.to_dict(),
        "decision": None if comparison.decision is None else asdict(comparison.decision),
        **training.trained.values,
        "separability": training.separability or None,
        "evidence": {key: value for key, value in model.evidence.items() if key != "train"},
        "importance": None
        if training.importance is None
        else [{"column": name, "mean": value} for name, value in training.importance.columns],
        "top_weights": model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": [each.spelled(spelling) for each in training.notes],
        "warnings": [each.spelled(spelling) for each in training.warnings],
    }


def headline(run: TrainingRun) -> str:
    """Return the result in one line."""
    problem, held_out = run.problem, run.held_out
    parts = [f"{run.comparison.candidate.name} for {shown(problem.options.target)}"]
    parts.append(f"{len(problem)} rows")
    if held_out is not None:
        name = run.comparison.score.metric.name
        value = held_out.figures.figures.get(name)
        if value is not None:
            rows = held_out.figures.rows
            parts.append(f"{name} {figure(name, value)} on {rows} held-out rows")
    if run.warnings:
        parts.append(counted(len(run.warnings), "warning"))
    return ", ".join(parts)


def training_text(run: TrainingRun, *, verbose: bool = False) -> str:
    """Return the results as text for a terminal.

    Parameters
    ----------
    run : TrainingRun
    verbose : bool, default False
        Every column, every learner with its significance, and the weights of every class; by
        default what fits one screen.
    """
    board = [] if run.comparison.board is None else [board_text(run.comparison, marked=True)]
    if verbose:
        weights = weights_text(run.model)
        choice = "\n".join([choice_text(run.comparison), *_threshold_text(run)])
        sections = [columns_text(run), *board, choice, _held_out_text(run)]
        sections += [_model_text(run), *_importance_text(run), weights]
        return "\n\n".join(sections)
    if board:
        board = [brief_board(run.comparison), brief_choice(run.comparison)]
    else:
        board = [choice_text(run.comparison)]
    board = ["\n".join([*board, *_threshold_text(run)])]
    sections = [] if run.useless is None else [fill(run.useless.spelled(_spelling(run)), 100)]
    sections += [brief_columns(run), *board, _held_out_text(run, brief=True)]
    sections += [
        _model_text(run, brief=True),
        *(_importance_text(run) or [weights_text(run.model)]),
    ]
    return "\n\n".join(sections)


def _spelling(run: TrainingRun) -> Spelling:
    return "command" if isinstance(run.problem.data, str) else "train"


def _importance_text(run: TrainingRun) -> list[str]:
    """Return the columns that matter most, and the features of the largest classes, if known."""
    importance = run.importance
    if importance is None:
        return []
    first = importance.columns[:COLUMNS_SHOWN]
    if not first:
        return ["No column matters: every row gets the same prediction."]
    several = run.model.n_scores > 1
    names = shortened([name for name, _ in first])
    values = [f"{value:.3g}" for _, value in first]
    about = ["" if several else _levels_text(run, importance, column) for column, _ in first]
    wide, size = max(map(len, names)), max(map(len, values))
    of = "score" if run.model.classes is not None else "prediction"
    of = "logarithm of the prediction" if run.model.link == "log" else of
    more = len(importance.columns) - len(first)
    others = f"; {more} more not shown" if more else ""
    lines = [f"Columns that matter most: mean absolute contribution to the {of}{others}"]
    for name, value, levels in zip(names, values, about, strict=True):
        lines.append(f"  {name.ljust(wide)}  {value.rjust(size)}  {levels}".rstrip())
    return ["\n".join([*lines, *(_classes_text(run, importance) if several else ())])]


def _levels_text(run: TrainingRun, importance: Importance, column: str) -> str:
    """Return the weights of a column: of its levels or words, those that contribute most."""
    model: Any = run.model
    names, weights = run.encoder.feature_names, model.weights[0]
    top = importance.top_features(0, LEVELS_SHOWN, importance.indices[column])
    if len(importance.indices[column]) == 1 or names[top[0]] == column:
        return f"weight {weights[top[0]]:+.3g}"
    short = [names[j].removeprefix(column).lstrip("=:.") or "value" for j in top]
    short = shortened(short, 24)
    more = ", ..." if len(importance.indices[column]) > len(top) else ""
    listed = ", ".join(f"{name} {weights[j]:+.3g}" for name, j in zip(short, top, strict=True))
    return f"{listed}{more}"


def _classes_text(run: TrainingRun, importance: Importance) -> list[str]:
    """Return the most important features of the two largest classes."""
    model: Any = run.model
    classes = model.classes
    values, counts = np.unique(run.problem.target.values, return_counts=True)
    rows = dict(zip(values.tolist(), counts.tolist(), strict=True))
    labels = classes.tolist()
    largest = sorted(range(len(labels)), key=lambda k: -rows.get(labels[k], 0))[:CLASSES_SHOWN]
    lines = []
    for k in largest:
        top = importance.top_features(k, FEATURES_SHOWN)
        names = shortened([run.encoder.feature_names[j] for j in top], 28)
        weights = [float(model.weights[k, j]) for j in top]
        features = list(zip(names, weights, strict=True))
        for title, sign in (("towards", 1), ("away from", -1)):
            listed = ", ".join(f"{name} {w:+.3g}" for name, w in features if w * sign > 0)
            if listed:
                lines.append(shown(f"  {title} {shown(labels[k], 24)}: {listed}", 160))
    return lines


def next_commands(run: TrainingRun, model: str) -> list[str]:
    """Return commands that use the model, given the quoted path of its file."""
    data = run.problem.data
    suffix = "".join(PurePath(data).suffixes[-2:]) if isinstance(data, str) else ""
    new = f"NEW{suffix if suffix.isascii() and 1 < len(suffix) <= 12 else '.csv'}"
    reading = run.problem.options.reading.option_text()
    lines = [
        (f"separable predict {model} {new}{reading}", "predict new rows"),
        (f"separable evaluate {model} {new}{reading}", "test on labelled rows"),
        (f"separable report {model}", "write a page to show"),
    ]
    width = min(max(len(line) for line, _ in lines), 70)
    return [f"{line.ljust(width)}  # {what}" for line, what in lines]


def weights_text(model: Model) -> str:
    """Return the most important features of a model."""
    groups = model.top_weights(TOP_WEIGHTS).groups
    more = "\n... and the other classes" if len(groups) > WEIGHT_GROUPS else ""
    mean = "" if isinstance(model, LinearModel) else f"\n{MEAN_WEIGHTS}"
    return f"Most important features{mean}\n{TopWeights(groups[:WEIGHT_GROUPS])}{more}"


def _held_out_text(training: TrainingRun, *, brief: bool = False) -> str:
    if training.held_out is None:
        return NOT_HELD_OUT
    figures = training.held_out.figures
    right = ""
    if brief and figures.correct is not None:
        right = f" {figures.correct} right; always {shown(figures.constant, 24)}: "
        right += f"{figures.constant_correct}"
    text = f"{training.held_out.how}:{right}\n{evaluation_text(figures, brief=brief)}"
    advice = _threshold_advice(training)
    return f"{text}\n  {advice}" if advice else text


def _threshold_advice(run: TrainingRun) -> str:
    """Return that the rare class is hardly predicted at 0.5, with the options that change it."""
    assert run.held_out is not None
    result = run.held_out.figures
    if run.comparison.decision is not None or result.positive is None:
        return ""
    rare = next(each for each in result.classes if each.label == result.positive)
    if rare.predicted >= RARELY_PREDICTED * rare.rows or not isinstance(run.model, LinearModel):
        return ""
    return Message(
        f"At the threshold 0.5, {shown(rare.label, 24)} is predicted for {rare.predicted} rows; "
        f"{rare.rows} are. Other thresholds: ",
        Option("cost", {"fp": 1, "fn": 20}),
        ", ",
        Option("threshold", "f1"),
        ".",
    ).spelled(_spelling(run))


def _threshold_text(run: TrainingRun) -> list[str]:
    """Return the decision threshold and its expected cost, if there is one."""
    decision = run.comparison.decision
    if decision is None:
        return []
    return [f"Threshold: {decision_text(decision, run.model.classes)}."]


def _model_text(training: TrainingRun, *, brief: bool = False) -> str:
    model, evidence = training.model, training.model.evidence
    held_out = training.held_out
    again = "trained" if held_out is None or held_out.own_file else "retrained"
    title = f"{model.learner}, {again} on all {len(training.problem)} rows with "
    title += f"{counted(model.n_features, 'feature')}:"
    lines = [f"{title} {training.trained.text}"] if brief else [title, f"  {training.trained.text}"]
    chosen = [
        f"{words} {rounded(value, 4)}"
        for name, words in CHOSEN.items()
        if isinstance(value := evidence.get(name), float) and model.parameters.get(name) is None
    ]
    if chosen:
        lines.append(f"  {', '.join(chosen)}")
    if training.separability:
        lines.append(f"  {training.separability}")
    if "relative_gap" in evidence:
        lines.append(f"  {certificate_text(model)}")
    if "epochs" in evidence:
        end = _end(model)
        lines.append(f"  {counted(evidence['epochs'], 'epoch')}{', ' * bool(end)}{end}")
    return "\n".join(lines)


def certificate_text(model: Model) -> str:
    """Return the bound on the distance from the optimum."""
    gaps: Any = model.evidence["relative_gap"]
    if gaps is None:
        return f"certificate: {model.evidence['claim']}"
    requested = f"(requested {model.evidence['tol']:.0e})"
    if not isinstance(gaps, list):
        return f"certificate: relative duality gap {gaps:.1e} {requested}"
    models = f"in each of {len(gaps)} one-vs-rest models"
    return f"certificate: relative duality gap at most {max(gaps):.1e} {models} {requested}"


def _end(model: Model) -> str:
    """Return how the last epoch ended, in the terms of the learner."""
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
