"""Regularization path of ``separable path``: scores on folds, weights from all rows."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import Option, OptionError
from separable.fitting.best_candidate import one_standard_error_index, standard_errors
from separable.model.words import number, shown, table
from separable.workflow.comparison.comparison_text import rows_text, with_error
from separable.workflow.comparison.learner_comparison import compare_all_rows
from separable.workflow.learners import LEARNERS, names_of
from separable.workflow.progress import step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.features.table.table_encoder import TableEncoder
    from separable.typing import Floats
    from separable.workflow.comparison.candidates import Candidate
    from separable.workflow.comparison.learner_comparison import Comparison
    from separable.workflow.options import ProblemOptions
    from separable.workflow.training_problem import Encoded


__all__ = ["PathResult", "PathStep", "regularization_path"]

#: Width of the names of the largest features, in characters.
WIDEST = 60


@dataclass(frozen=True)
class PathStep:
    """A learner at one value of its regularization parameter."""

    strength: float
    mean: float
    standard_error: float | None
    norm: float
    nonzeros: int
    relative_gap: float | None
    largest: list[dict[str, Any]]
    is_best: bool
    is_one_standard_error: bool


@dataclass(frozen=True)
class PathResult:
    """The regularization path of a learner, in order."""

    learner: str
    name: str
    metric: str
    greater_is_better: bool
    folds: int
    rows: int
    compared_rows: int
    steps: tuple[PathStep, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self)

    def to_text(self) -> str:
        """Return a table for a terminal, and below it the largest features."""
        lines = [("", self.name, self.metric, "|w|", "nonzero", "relative gap")]
        for each in self.steps:
            error = np.nan if each.standard_error is None else each.standard_error
            gap = "" if each.relative_gap is None else f"{each.relative_gap:.0e}"
            lines.append(
                (
                    "*" * each.is_best + "+" * each.is_one_standard_error,
                    number(each.strength),
                    with_error(self.metric, each.mean, error),
                    f"{each.norm:.4g}",
                    str(each.nonzeros),
                    gap,
                )
            )
        largest = [
            (
                number(each.strength),
                ", ".join(shown(one["feature"], WIDEST // 3) for one in each.largest) or "none",
            )
            for each in self.steps
        ]
        width = max(len(value) for value, _ in largest)
        less = "" if self.greater_is_better else "; lower is better"
        of = rows_text(self.compared_rows, self.rows)
        title = (
            f"Regularization path of {self.learner}: {len(self.steps)} values of {self.name}, "
            f"{self.folds} folds of {of}{less}:"
        )
        return "\n".join(
            [
                fill(title, 80, subsequent_indent="  ", break_on_hyphens=False),
                table(lines),
                "  * best mean; + most regularized within one standard error of it",
                "",
                f"The largest features at each {self.name}",
                *(f"  {value.rjust(width)}  {names}" for value, names in largest),
            ]
        )


def regularization_path(data: str, options: ProblemOptions, top: int) -> PathResult:
    """Fit a learner to a file at every value of its regularization parameter.

    Parameters
    ----------
    data : str
    options : ProblemOptions
        It names one learner with a regularization parameter.
    top : int
        So many of the largest features are named.
    """
    name = _learner(options)
    encoded, comparison = compare_all_rows(data, options, by_metric_alone=True)
    problem = encoded.problem
    assert comparison.board is not None
    return PathResult(
        learner=name,
        name=next(iter(comparison.candidate.grid)),
        metric=comparison.board.metric,
        greater_is_better=comparison.board.greater_is_better,
        folds=comparison.board.n_folds,
        rows=len(problem),
        compared_rows=comparison.rows,
        steps=tuple(_steps(encoded, comparison, top)),
    )


def _learner(options: ProblemOptions) -> str:
    """Return the learner; raise if it has no regularization parameter."""
    have = [
        name
        for task in ("classification", "regression")
        for name in names_of(task)
        if LEARNERS[name].regularization is not None
    ]
    if len(options.models) != 1:
        raise OptionError("Name one learner with ", Option("model"), f": {', '.join(have)}.")
    parameter = LEARNERS[options.models[0]].regularization
    if parameter is None:
        raise OptionError(
            Option("model", options.models[0]),
            f" has no regularization to vary. These learners have: {', '.join(have)}.",
        )
    if parameter.name in options.settings:
        raise OptionError(
            Option("set", {parameter.name: ...}), ": the path varies it. Leave it out."
        )
    return options.models[0]


def _steps(encoded: Encoded, comparison: Comparison, top: int) -> list[PathStep]:
    assert comparison.board is not None
    best = comparison.board.best
    assert best.tried_scores is not None
    candidate = comparison.candidate
    ((name, values),) = candidate.grid.items()
    scores = best.tried_scores
    mean, error = scores.mean(axis=0), standard_errors(scores)
    sign = 1.0 if comparison.board.greater_is_better else -1.0
    penalty = np.array([1 / each if name == "C" else each for each in values])
    chosen = list(values).index(best.params[name])
    simple = one_standard_error_index(sign * mean, error, penalty)
    fits = _fits(encoded, candidate, values)
    encoder, _ = encoded(counts=candidate.counts)
    return [
        PathStep(
            strength=float(value),
            mean=float(mean[index]),
            standard_error=None if np.isnan(error[index]) else float(error[index]),
            norm=float(np.linalg.norm(weights)),
            nonzeros=int(np.count_nonzero(np.abs(weights).max(axis=0))),
            relative_gap=gap,
            largest=_largest(weights, encoder.feature_names, top),
            is_best=index == chosen,
            is_one_standard_error=index == simple,
        )
        for index, (value, (weights, gap)) in enumerate(zip(values, fits, strict=True))
    ]


def _fits(
    encoded: Encoded, candidate: Candidate, values: Sequence[float]
) -> list[tuple[Floats, float | None]]:
    """Return the weights and the relative gap at each value, from all rows."""
    encoder, rows = encoded(counts=candidate.counts)
    y, weight = encoded.problem.target.values, encoded.problem.weight
    with step(f"Fitting {len(values)} points of the path"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(_learned(candidate, encoder, rows, y, weight, values))


def _learned(
    candidate: Candidate,
    encoder: TableEncoder,
    rows: Any,
    y: Any,
    weight: Any,
    values: Sequence[float],
) -> list[tuple[Floats, float | None]]:
    from separable.select.regularization_path import path

    learner = candidate.for_comparing(encoder)
    if hasattr(learner, "path_solver") and not getattr(learner, "probability", False):
        given: dict[str, Any] = {f"{next(iter(candidate.grid))}s": values}  # Cs or alphas
        result = path(learner, rows, y, sample_weight=weight, **given)
        assert result.certificates is not None
        gaps = [sum(parts[1:], parts[0]).relative_gap for parts in result.certificates]
        known = [gap if np.isfinite(gap) else None for gap in gaps]  # of a local optimum none is
        return list(zip(result.coefs, known, strict=True))
    name = next(iter(candidate.grid))
    more = {} if weight is None else {"sample_weight": weight}
    fitted = [candidate.learner(encoder, **{name: each}).fit(rows, y, **more) for each in values]
    return [(each.model_.weights, None) for each in fitted]


def _largest(weights: Floats, names: Sequence[str], top: int) -> list[dict[str, Any]]:
    """Return the features with the largest weights in any class, largest first, none that is 0."""
    size = np.abs(weights)
    of = size.argmax(axis=0)
    largest = size.max(axis=0)
    count = min(top, len(largest))
    columns = np.argpartition(-largest, count - 1)[:count]
    columns = columns[np.lexsort((columns, -largest[columns]))]
    columns = columns[largest[columns] > 0]
    return [
        {"feature": names[column], "weight": float(weights[of[column], column])}
        for column in columns
    ]
