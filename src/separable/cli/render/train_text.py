"""Results of ``train`` and ``compare`` as text for a terminal of 80 columns, and as JSON values."""

from __future__ import annotations

import shlex
from collections import Counter
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, Any

from separable.cli.io.output import column_lines, counted, file_name, saved_text
from separable.cli.render.explain_text import TOP_WEIGHTS, weights_text
from separable.data.table import missing_counts
from separable.model.metrics.evaluation import figure, is_fraction
from separable.model.metrics.metric_registry import METRICS
from separable.model.words import number, shown, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.cli.training.learner_comparison import Comparison
    from separable.cli.training.training import Training
    from separable.cli.training.training_data import Problem
    from separable.model.kinds import Model
    from separable.select.leaderboard import Leaderboard, Standing


__all__ = [
    "board_text",
    "choice_text",
    "rows_text",
    "settings_text",
    "training_dict",
    "training_text",
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

#: Maximum characters of the reason why a learner failed.
REASON = 100


def training_dict(training: Training) -> dict[str, Any]:
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
        **training.trained.values,
        "evidence": {key: value for key, value in model.evidence.items() if key != "train"},
        "top_weights": model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": list(training.notes),
        "warnings": list(training.warnings),
    }


def training_text(training: Training, path: str, report: str | None = None) -> str:
    """Return the results as text for a terminal, with the files that were written."""
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
            column["reason"] = dropped[name]
        elif types[name] != "number":
            column["features"] = features[name]
        if name in converted:
            column["conversion"] = converted[name]
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
    """Return the description of a column."""
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


def board_text(comparison: Comparison, *, marked: bool = False) -> str:
    """Return the learners from best to worst, with a star at the chosen one."""
    board = comparison.board
    assert board is not None
    lines: list[tuple[str, ...]] = [
        ("", "learner", "parameter", board.metric, "to the best", "time")
    ]
    for rank, each in enumerate(board, 1):
        if each.failed is None:
            lines.append(
                (
                    f"{rank}{'*' * (marked and each is comparison.taken)}",
                    each.name,
                    settings_text(each.params),
                    with_error(board.metric, each.mean, each.standard_error),
                    "" if rank == 1 else _difference(board.metric, each),
                    _seconds(each.seconds),
                )
            )
    failed = [
        f"  {each.name} failed: {shown(each.failed, REASON)}"
        for each in board
        if each.failed is not None
    ]
    sections = [_title(comparison, board), table(lines, left=3), *_beyond_noise(board), *failed]
    return "\n".join(sections)


def _beyond_noise(board: Leaderboard) -> list[str]:
    """Return which learners differ significantly from the best."""
    others = [each for each in board.rows[1:] if each.differs is not None]
    if not others:
        return []
    apart = [each.name for each in others if each.differs]
    sentence = f"Significantly worse (5 %): {', '.join(apart) or 'none'}."
    return [
        fill(sentence, 80, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    ]


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
    return figure(metric, value) if is_fraction(metric) else f"{value:.3g}"


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
