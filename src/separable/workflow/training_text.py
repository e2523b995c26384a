"""Results of ``train`` and ``compare`` as text for a terminal of 80 columns, and as JSON values."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import groupby
from pathlib import PurePath
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import missing_counts
from separable.errors import Message, Option
from separable.model.explain.top_weights import TopWeights
from separable.model.linear_model import LinearModel
from separable.model.metrics.evaluation import evaluation_text, figure, is_fraction
from separable.model.metrics.metric_registry import METRICS
from separable.model.predict.decision import decision_text
from separable.model.words import column_lines, counted, number, rounded, shortened, shown, table
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.errors import Spelling
    from separable.model.kinds import Model
    from separable.select.leaderboard import Leaderboard, Standing
    from separable.workflow.comparison.learner_comparison import Comparison
    from separable.workflow.importance import Importance
    from separable.workflow.training_problem import Problem
    from separable.workflow.training_run import TrainingRun


__all__ = [
    "board_text",
    "choice_text",
    "headline",
    "next_commands",
    "rows_text",
    "settings_text",
    "training_dict",
    "training_text",
    "weights_text",
    "why_taken",
    "with_error",
]


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

#: Weights shown per group, and groups shown: two for each of eight classes.
TOP_WEIGHTS, WEIGHT_GROUPS = 5, 16

#: Printed above the weights of a model that votes.
MEAN_WEIGHTS = "The model votes; these are the mean weights of its voters."

#: Learners, columns, levels of a column, classes and features of a class in one screen.
LEARNERS_SHOWN, COLUMNS_SHOWN, LEVELS_SHOWN, CLASSES_SHOWN, FEATURES_SHOWN = 4, 6, 3, 2, 6

#: Up to so many columns are named with remarks, and up to so many by name; others are counted.
NOTED_COLUMNS, NAMED_COLUMNS, DROPPED_SHOWN, CONVERTED_SHOWN = 8, 15, 4, 4

#: A class that is predicted for fewer than this fraction of its rows is hardly predicted.
RARELY_PREDICTED = 0.5

#: Maximum characters of the reason why a learner failed.
REASON = 100


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
        "columns": _columns(training),
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
        sections = [_columns_text(run), *board, choice, _held_out_text(run)]
        sections += [_model_text(run), *_importance_text(run), weights]
        return "\n\n".join(sections)
    if board:
        board = [_brief_board(run.comparison), _brief_choice(run.comparison)]
    else:
        board = [choice_text(run.comparison)]
    board = ["\n".join([*board, *_threshold_text(run)])]
    sections = [] if run.useless is None else [fill(run.useless.spelled(_spelling(run)), 100)]
    sections += [_brief_columns(run), *board, _held_out_text(run, brief=True)]
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


def _columns(training: TrainingRun) -> list[dict[str, Any]]:
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


def _columns_text(run: TrainingRun) -> str:
    """Return a line for each column."""
    cells = [
        (shown(each["name"]), each["type"], _about(run.problem, each)) for each in _columns(run)
    ]
    return "\n".join([_title_of_data(run), *column_lines(_runs(cells))])


def _title_of_data(run: TrainingRun) -> str:
    return f"{file_name(run.problem.data)}: {counted(run.problem.whole.num_rows, 'row')}"


def _brief_columns(run: TrainingRun) -> str:
    """Return a line for each type of columns: with their names if they are few."""
    problem, columns = run.problem, _columns(run)
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
        lines.append(f"  {_certificate(model)}")
    if "epochs" in evidence:
        end = _end(model)
        lines.append(f"  {counted(evidence['epochs'], 'epoch')}{', ' * bool(end)}{end}")
    return "\n".join(lines)


def _certificate(model: Model) -> str:
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


def board_text(comparison: Comparison, *, marked: bool = False) -> str:
    """Return the learners from best to worst, with a star at the chosen one."""
    board = comparison.board
    assert board is not None
    lines = [_standing_cells(comparison, rank, each, marked) for rank, each in enumerate(board, 1)]
    whole = table([_heads(board), *filter(None, lines)], left=3)
    return "\n".join([_title(comparison, board), whole, *_beyond_noise(board), *_endings(board)])


def _brief_board(comparison: Comparison) -> str:
    """Return the best learners and the chosen one."""
    board = comparison.board
    assert board is not None
    lines = [_heads(board)]
    hidden = 0
    for rank, each in enumerate(board, 1):
        cells = _standing_cells(comparison, rank, each, True)
        if rank <= LEARNERS_SHOWN or each is comparison.taken:
            lines += filter(None, [cells])
        else:
            hidden += bool(cells)
    of = rows_text(comparison.rows, comparison.of_rows)
    less = "" if board.greater_is_better else "; lower is better"
    more = f"; {hidden} worse not shown" if hidden else ""
    title = f"Compared by {board.n_folds} folds of {of}, encoded once{less}{more}:"
    return "\n".join([title, table(lines, left=3), *_endings(board)])


def _heads(board: Leaderboard) -> tuple[str, ...]:
    return ("", "learner", "parameter", board.metric, "to the best", "time")


def _standing_cells(
    comparison: Comparison, rank: int, each: Standing, marked: bool
) -> tuple[str, ...]:
    """Return a line of the leaderboard; empty for a learner that failed."""
    if each.failed is not None:
        return ()
    assert comparison.board is not None
    metric = comparison.board.metric
    return (
        f"{rank}{'*' * (marked and each is comparison.taken)}",
        each.name,
        settings_text(each.params),
        with_error(metric, each.mean, each.standard_error),
        "" if rank == 1 else _difference(metric, each),
        _seconds(each.seconds),
    )


def _endings(board: Leaderboard) -> list[str]:
    """Return the learners that failed, and those whose fits ended before they converged."""
    failed = [
        f"  {each.name} failed: {shown(each.failed, REASON)}"
        for each in board
        if each.failed is not None
    ]
    ended = ", ".join(each.name for each in board if not each.converged)
    sentence = f"Some fits ended at their limit of passes: {ended}."
    return [*failed, *([_indented(sentence)] if ended else [])]


def _indented(sentence: str) -> str:
    return fill(sentence, 80, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _brief_choice(comparison: Comparison) -> str:
    """Return the chosen learner, and why, in one line."""
    board = comparison.board
    assert board is not None
    taken = board[comparison.candidate.name]
    with_ = f" with {settings_text(taken.params)}" if taken.params else ""
    why = ": the best mean" if len(board) > 1 else ""
    if len(board) > 1 and taken is not board.best:
        why = f": within one standard error of {board.best.name}, and preferred to it"
    edge = _edge(taken)
    return f"Chosen: {taken.name}{with_}{why}.{f' {edge}' if edge else ''}"


def _beyond_noise(board: Leaderboard) -> list[str]:
    """Return which learners differ significantly from the best."""
    others = [each for each in board.rows[1:] if each.differs is not None]
    if not others:
        return []
    apart = [each.name for each in others if each.differs]
    sentence = f"Significantly worse (5 %): {', '.join(apart) or 'none'}."
    return [_indented(sentence)]


def _title(comparison: Comparison, board: Leaderboard) -> str:
    of = rows_text(comparison.rows, comparison.of_rows)
    less = "" if board.greater_is_better else "; lower is better"
    chooses = comparison.score.chooses
    searched = any(len(each.tried) > 1 for each in board)
    by = (
        (f"; regularization chosen by {METRICS[chooses].text} for models with probabilities")
        if chooses
        else ""
    )
    title = (
        f"Compared by {board.n_folds} folds of {of}, encoded once{less}{by if searched else ''}:"
    )
    return fill(title, 80, subsequent_indent="  ", break_long_words=False)


def choice_text(comparison: Comparison) -> str:
    """Return the chosen learner, and why."""
    name, board = comparison.candidate.name, comparison.board
    if board is None:
        return f"Chosen: {name}. There are too few rows to compare learners or regularization."
    taken = board[name]
    with_ = f" with {settings_text(taken.params)}" if taken.params else ""
    why = _why(board, taken)
    return "\n  ".join([f"Chosen: {name}{with_}{': ' * bool(why)}{why}.", *_remarks(board, taken)])


def why_taken(board: Leaderboard, taken: Standing) -> str:
    """Return why a learner was chosen, in sentences."""
    why = " ".join(_why(board, taken).split())
    sentence = f"{taken.name} was chosen{': ' * bool(why)}{why}."
    return " ".join([sentence, *_remarks(board, taken)])


def _remarks(board: Leaderboard, taken: Standing) -> list[str]:
    """Return equally good learners, and a remark if the value is at the edge of its grid."""
    alike = [each.name for each in board.as_good() if each is not taken]
    sentence = f"Others within one standard error: {', '.join(alike)}."
    return [*[sentence] * bool(alike), *filter(None, [_edge(taken)])]


def _why(board: Leaderboard, taken: Standing) -> str:
    """Return why a learner was chosen."""
    if len(board) == 1:
        return "the best regularization" if taken.params else ""
    if taken is board.best:
        return f"the best mean {board.metric}"
    return (
        f"its {board.metric} is within one standard error of {board.best.name},\n  and it comes "
        "earlier in the order of preference"
    )


def _edge(best: Standing) -> str:
    """Return a remark if the regularization is at the edge of its grid."""
    if len(best.params) != 1 or len(best.tried) < 2:
        return ""
    ((name, value),) = best.params.items()
    tried = [each[name] for each in best.tried]
    if min(tried) < value < max(tried):
        return ""
    edge = "smallest" if value == min(tried) else "largest"
    return f"It is the {edge} {name} tried."


def rows_text(rows: int, of_rows: int) -> str:
    """Return the rows of the comparison as text."""
    return f"a random sample of {rows} of {of_rows} rows" if rows < of_rows else f"{rows} rows"


def settings_text(params: Mapping[str, Any]) -> str:
    """Return parameters as text: C 0.1."""
    return ", ".join(
        f"{name} {number(value) if isinstance(value, float) else value}"
        for name, value in params.items()
    )


def with_error(metric: str, value: float, error: float) -> str:
    """Return a score with its standard error."""
    if error != error:  # one fold has none
        return figure(metric, value)
    return f"{figure(metric, value)} +- {_short(metric, error)}"


def _short(metric: str, value: float) -> str:
    return figure(metric, value) if is_fraction(metric) else rounded(value, 2)


def _difference(metric: str, each: Standing) -> str:
    sign = "+" if each.difference > 0 else ""
    error = (
        ""
        if each.difference_error != each.difference_error
        else (f" +- {_short(metric, each.difference_error)}")
    )
    return f"{sign}{_short(metric, each.difference)}{error}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"
