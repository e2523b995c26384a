"""A leaderboard for a terminal of 80 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from separable.model.metrics.evaluation_text import figure, is_fraction
from separable.model.metrics.metric_registry import METRICS
from separable.model.words import number, shown, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.cli.training.learner_comparison import Comparison
    from separable.select.leaderboard import Leaderboard, Standing

__all__ = [
    "board_text",
    "choice_text",
    "rows_text",
    "settings_text",
    "why_taken",
    "with_error",
]

#: Maximum characters of the reason why a learner failed.
REASON = 100


def board_text(comparison: Comparison, *, marked: bool = False) -> str:
    """Return the learners from best to worst; marked: with a star at the one that is taken."""
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
    """Say which learners differ from the best by more than noise."""
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
    """Return which learner was taken, and why."""
    name, board = comparison.candidate.name, comparison.board
    if board is None:
        return f"Chosen: {name}. There are too few rows to compare learners or regularization."
    taken = board[name]
    with_ = f" with {settings_text(taken.params)}" if taken.params else ""
    why = _why(board, taken)
    return "\n  ".join([f"Chosen: {name}{with_}{': ' * bool(why)}{why}.", *_remarks(board, taken)])


def why_taken(board: Leaderboard, taken: Standing) -> str:
    """Return why a learner was taken, in sentences."""
    why = " ".join(_why(board, taken).split())
    sentence = f"{taken.name} was chosen{': ' * bool(why)}{why}."
    return " ".join([sentence, *_remarks(board, taken)])


def _remarks(board: Leaderboard, taken: Standing) -> list[str]:
    """Return the others that are as good, and a remark if the value is at the edge of its grid."""
    alike = [each.name for each in board.as_good() if each is not taken]
    sentence = f"Others within one standard error: {', '.join(alike)}."
    return [*[sentence] * bool(alike), *filter(None, [_edge(taken)])]


def _why(board: Leaderboard, taken: Standing) -> str:
    """Say why a learner was taken."""
    if len(board) == 1:
        return "the best regularization" if taken.params else ""
    if taken is board.best:
        return f"the best mean {board.metric}"
    return (
        f"its {board.metric} is within one standard error of {board.best.name},\n  and earlier in "
        "the order of preference"
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
    """Return in words on which rows was compared."""
    return f"a random sample of {rows} of {of_rows} rows" if rows < of_rows else f"{rows} rows"


def settings_text(params: Mapping[str, Any]) -> str:
    """Return parameters in words: C 0.1."""
    return ", ".join(
        f"{name} {number(value) if isinstance(value, float) else value}"
        for name, value in params.items()
    )


def with_error(metric: str, value: float, error: float) -> str:
    """Return a figure and its standard error."""
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
