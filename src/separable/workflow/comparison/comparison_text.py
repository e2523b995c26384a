"""A comparison of learners as text for a terminal of 80 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from separable.model.metrics.evaluation import figure, is_fraction
from separable.model.metrics.metric_registry import METRICS
from separable.model.words import number, rounded, shown, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.select.leaderboard import Leaderboard, Standing
    from separable.workflow.comparison.learner_comparison import Comparison


__all__ = [
    "board_text",
    "brief_board",
    "brief_choice",
    "choice_text",
    "rows_text",
    "settings_text",
    "why_taken",
    "with_error",
]

#: Maximum characters of the reason why a learner failed.
REASON = 100
#: Learners in one screen.
LEARNERS_SHOWN = 4


def board_text(comparison: Comparison, *, marked: bool = False) -> str:
    """Return the learners from best to worst, with a star at the chosen one."""
    board = comparison.board
    assert board is not None
    lines = [_standing_cells(comparison, rank, each, marked) for rank, each in enumerate(board, 1)]
    whole = table([_heads(board), *filter(None, lines)], left=3)
    return "\n".join([_title(comparison, board), whole, *_beyond_noise(board), *_endings(board)])


def brief_board(comparison: Comparison) -> str:
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


def brief_choice(comparison: Comparison) -> str:
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
