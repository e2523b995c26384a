"""The result of `train`: model, leaderboard, evaluation, columns and warnings."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from separable.data.table import missing_counts
from separable.errors import Absent
from separable.model.metrics.metric_registry import METRICS
from separable.workflow import typical
from separable.workflow.comparison.comparison_text import why_taken
from separable.workflow.options import data_name
from separable.workflow.target_texts import conversion_record
from separable.workflow.training_record import (
    Data,
    Reproduction,
    Standing,
    Tried,
    columns_of,
    memory_of,
    regularization_curve,
    target_bins,
    target_counts,
)
from separable.workflow.training_text import (
    headline,
    next_commands,
    training_dict,
    training_text,
)

if TYPE_CHECKING:
    import os

    from separable.errors import Message, Spelling
    from separable.features.table.column_states import ColumnTable
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation
    from separable.select.leaderboard import Leaderboard
    from separable.workflow.comparison.learner_comparison import Comparison
    from separable.workflow.importance import Importance
    from separable.workflow.scored_rows import ScoredRows
    from separable.workflow.target import Finding
    from separable.workflow.training_problem import Encoded, Problem
    from separable.workflow.training_record import RegularizationCurve


__all__ = [
    "LARGEST_STATE",
    "HeldOut",
    "KeptRows",
    "TrainingRun",
    "data_of",
    "run_record",
    "save_model",
    "state_bytes",
    "tried_of",
]

NOT_COMPARED = "There are too few rows to compare learners or regularization by cross-validation."

#: A larger training state is not saved.
LARGEST_STATE = 256_000_000


@dataclass(frozen=True)
class HeldOut:
    """Metrics on held-out rows.

    Parameters
    ----------
    figures : Evaluation
    how : str
        A description of the rows.
    scored : ScoredRows or None
        The rows with the predictions of a model that was not trained on them, if kept.
    caution : Message or None
        Reasons why the metrics may be too optimistic.
    is_new : bool or None
        True: no row is identical to a training row; None: some are.
    own_file : bool, default False
        Whether they come from a separate file, so that the model was trained once.
    """

    figures: Evaluation
    how: str
    scored: ScoredRows | None = None
    caution: Message | None = None
    is_new: bool | None = None
    own_file: bool = False


@dataclass(frozen=True)
class KeptRows:
    """Encoded rows for a report; encoded again if they were not kept.

    Parameters
    ----------
    compared : Encoded
        The rows of the comparison.
    trained : Encoded
        The rows of the final fit.
    """

    compared: Encoded
    trained: Encoded


@dataclass(frozen=True, repr=False)
class TrainingRun:
    """The result of `separable.train`.

    Parameters
    ----------
    problem : Problem
        The table and its target.
    comparison : Comparison
        The learners that were compared, and the chosen one.
    held_out : HeldOut or None
    trained : Finding
        The error on the training rows.
    encoder : TableEncoder
    model : LinearModel or VotedModel
        Trained on all rows, with its encoder: it predicts and explains raw tables.
    notes, warnings : tuple of Message
        Decisions, and problems of the data or the fit.
    kept : KeptRows
    seconds : float
        The time it took.
    importance : Importance or None
        Mean absolute contribution of each column; None for models that are not linear in the
        features.
    useless : Message or None
        A warning that the model is no better than the best constant, if it is not.
    separability : str
        One line on the linear separability of the classes; empty if it is not decided quickly.
    """

    problem: Problem
    comparison: Comparison
    held_out: HeldOut | None
    trained: Finding
    encoder: TableEncoder
    model: Model
    notes: tuple[Message, ...]
    warnings: tuple[Message, ...]
    kept: KeptRows
    seconds: float
    importance: Importance | None = None
    useless: Message | None = None
    separability: str = ""

    @property
    def leaderboard(self) -> Leaderboard | None:
        """The compared learners from best to worst; None if there are too few rows."""
        return self.comparison.board

    @property
    def evaluation(self) -> Evaluation | None:
        """The metrics on held-out rows; None if none were held out."""
        return None if self.held_out is None else self.held_out.figures

    @property
    def columns(self) -> ColumnTable:
        """The type of each column, the reason, and the number of features made of it."""
        return self.encoder.columns_

    def summary(self, *, verbose: bool = False) -> str:
        """Return the text that ``separable train`` prints, with ``-v`` if verbose."""
        return training_text(self, verbose=verbose)

    def to_dict(self, spelling: Spelling = "train") -> dict[str, Any]:
        """Return the results as JSON values, as ``separable train --json`` prints them."""
        return training_dict(self, spelling)

    def next_commands(self, model: str) -> list[str]:
        """Return commands that use the model, given the quoted path of its file."""
        return next_commands(self, model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``separable.load`` and the commands read.

        The file has the same bytes as that of the command ``separable train``.

        Parameters
        ----------
        path : str or path
        """
        save_model(self.model, path)

    def __repr__(self) -> str:
        return f"TrainingRun: {headline(self)}"

    def _repr_html_(self) -> str:
        """Return the summary for a notebook, with the warnings above it."""
        warned = "".join(f"<li>{escape(str(each))}</li>" for each in self.warnings)
        listed = f"<p><b>Warnings</b></p><ul>{warned}</ul>" if warned else ""
        return (
            f"<details><summary><b>{escape(headline(self))}</b></summary>"
            f"<pre>{escape(self.summary())}</pre></details>{listed}"
        )


def state_bytes(model: Model) -> int:
    """Return the size of the training state of a model; 0 without one."""
    tensors = {} if model.state is None else model.state.tensors
    return sum(tensor.nbytes for tensor in tensors.values())


def save_model(model: Model, path: str | os.PathLike[str]) -> bool:
    """Save a model, with its training state if that has at most 256 MB.

    Returns
    -------
    bool
        Whether training can be continued from the file.
    """
    keeps = model.state is not None and state_bytes(model) <= LARGEST_STATE
    model.save(path, include_state=keeps)
    return keeps


# --- the training record ---


def run_record(run: TrainingRun, constant: Any, command: str) -> dict[str, Any]:
    """Return what the model file remembers of a run: the same for the same run, without times.

    Parameters
    ----------
    run : TrainingRun
    constant : object
        The best constant prediction of the training rows.
    command : str
        The command or the call that repeats the run.
    """
    problem, held_out, score = run.problem, run.held_out, run.comparison.score
    options = problem.options
    spelling: Spelling = "command" if isinstance(problem.data, str) else "train"
    return {
        "task": problem.task,
        "target": options.target,
        **conversion_record(problem.target.conversion),
        "data": data_name(problem.data),
        "rows": len(problem),
        "metric": score.metric.name,
        "positive": score.positive,
        **{option: getattr(options, option) for option in ("weight", "group", "time")},
        "constant": constant,
        **run.trained.values,
        "held_out": None if held_out is None else held_out.figures.to_dict(),
        "leaderboard": _kept_board(run.comparison),
        "report": memory_of(
            data_of(problem, run.model),
            tried_of(run.comparison),
            _curve_of(run.comparison),
            Reproduction((command,), (), options.seed, None),
            None if held_out is None else held_out.how,
            tuple(each.spelled(spelling) for each in run.notes),
            tuple(each.spelled(spelling) for each in run.warnings),
            is_new=None if held_out is None else held_out.is_new,
        ),
    }


def _kept_board(comparison: Comparison) -> list[dict[str, Any]] | None:
    """Return the leaderboard without times: the same run gives the same file."""
    if comparison.board is None:
        return None
    left = ("seconds", "fit_seconds", "warnings", "how", "scores")
    rows = [each.to_dict() for each in comparison.board]
    return [{name: value for name, value in row.items() if name not in left} for row in rows]


def data_of(problem: Problem, model: Model) -> Data:
    """Return the description of the training data."""
    options, values = problem.options, problem.target.values
    is_number = problem.task == "regression"
    roles = {options.target: "target"} | {name: role for role, name in options.apart.items()}
    return Data(
        name=data_name(problem.data),
        rows=len(problem),
        columns=columns_of(model, roles, missing_counts(problem.whole), problem.whole.column_names),
        target=options.target,
        task=problem.task,
        target_counts=() if is_number else target_counts(values),
        target_bins=target_bins(values) if is_number else (),
        **typical.of_table(model, problem.whole),
    )


def tried_of(comparison: Comparison) -> Tried | Absent:
    """Return the compared learners, with their times."""
    board = comparison.board
    if board is None:
        return Absent(NOT_COMPARED)
    names = ("params", "mean", "standard_error", "difference", "difference_error", "differs")
    return Tried(
        metric=board.metric,
        greater_is_better=board.greater_is_better,
        folds=board.n_folds,
        rows=comparison.rows,
        of_rows=comparison.of_rows,
        standings=tuple(
            Standing(
                learner=each.name,
                seconds=each.seconds,
                failed=each.failed,
                **{name: each.to_dict()[name] for name in names},
            )
            for each in board
        ),
        taken=comparison.candidate.name,
        why=why_taken(board, board[comparison.candidate.name]),
    )


def _curve_of(comparison: Comparison) -> RegularizationCurve | Absent:
    """Return the regularization curve of the chosen learner."""
    taken = comparison.taken
    if taken is None:
        return Absent(NOT_COMPARED)
    better = {name: metric.greater_is_better for name, metric in METRICS.items()}
    return regularization_curve(
        taken, comparison.score.metric.name, comparison.score.chooses, better
    )
