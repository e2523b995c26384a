"""Comparison of candidates on the same folds, and the choice of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import TableError
from separable.errors import Option, OptionError
from separable.model.metrics.metric_registry import METRICS, metric_named
from separable.workflow.columns.integer_readings import with_integer_readings
from separable.workflow.columns.role_columns import positive_class
from separable.workflow.comparison.candidates import (
    COMPARE_ROWS,
    Candidate,
    candidates_for,
    checked_settings,
)
from separable.workflow.comparison.decisions import (
    DecisionRequest,
    class_weight_of,
    coded_class_weight,
)
from separable.workflow.comparison.early_end import Validation, validated
from separable.workflow.comparison.probability_calibration import Sigmoids, calibrated_standing
from separable.workflow.holdout_splits import folds_of, part_of
from separable.workflow.input_tables import naming_file
from separable.workflow.learners import LEARNERS
from separable.workflow.log_target import Logarithms, with_target_log
from separable.workflow.options import file_name
from separable.workflow.progress import detail, step
from separable.workflow.training_problem import Encoded, facts_of, read_problem, refuse_negative

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from separable.data.rows import Rows as EncodedRows
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.metrics.metric_registry import Metric
    from separable.model.predict.decision import Decision
    from separable.select.leaderboard import Leaderboard, Standing
    from separable.typing import Floats
    from separable.workflow.comparison.probability_calibration import Rescaling
    from separable.workflow.holdout_splits import Folds
    from separable.workflow.learners import Facts
    from separable.workflow.log_target import LogScale
    from separable.workflow.options import ProblemOptions
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = ["Comparison", "Scoring", "compare_all_rows", "compare_candidates", "rows_to_compare"]

#: Default of --compare-rows: rows for this much work, about half a minute on two cores, but at
#: least LEAST_ROWS.
COMPARE_WORK = 3e8
LEAST_ROWS = 5000

#: Without --metric.
DEFAULT_METRICS = {"classification": "log_loss", "regression": "rmse"}

#: The default if a named learner has neither probabilities nor scores to calibrate: the accuracy,
#: and among the parameters of the other learners the log loss, since a parameter that happens to be
#: best for the accuracy may give probabilities that are far too sure.
WITHOUT_PROBABILITIES, CHOOSES = "accuracy", "log_loss"


@dataclass(frozen=True)
class Scoring:
    """What decides, and the class that it is about.

    Parameters
    ----------
    metric : Metric
    positive : object
        None: means over the classes.
    chooses : str or None
        The metric that selects the regularization of a learner with probabilities.
    """

    metric: Metric
    positive: Any = None
    chooses: str | None = None

    @classmethod
    def of(cls, problem: Problem, *, alone: bool = False) -> Scoring:
        """Return the requested or default scoring; alone: it selects the regularization too."""
        options = problem.options
        default = DEFAULT_METRICS[problem.task]
        if not all(LEARNERS[model].has_scores for model in options.models):
            default = WITHOUT_PROBABILITIES
        name = options.metric or default
        try:
            metric = metric_named(name, problem.task)
        except ValueError as error:
            raise OptionError(Option("metric", name), f": {error}") from None
        other = options.metric is None and name == WITHOUT_PROBABILITIES and not alone
        return cls(metric, _positive(problem), CHOOSES if other else None)


def _positive(problem: Problem) -> Any:
    """Return the class that precision and the like are of."""
    given = problem.options.positive
    if problem.task == "regression":
        if given is not None:
            raise OptionError(
                Option("positive", given), ": it names a class, and the task is regression."
            )
        return None
    classes, counts = np.unique(problem.target.values, return_counts=True)
    if given is not None:
        return positive_class(classes, given)
    if len(classes) != 2:
        return None
    return classes[0 if counts[0] < counts[1] else 1].item()


@dataclass(frozen=True)
class Comparison:
    """What was compared, on what, and the one that is taken.

    Parameters
    ----------
    score : Judge
    candidate : Candidate
        The one that is taken: of those not worse than the best by more than the standard error of
        the difference, the first in order of preference, which is that of `LEARNERS` or in which
        they were named.
    params : mapping of str to object
        What the search chose for it.
    board : Leaderboard or None
        None where there are too few rows for folds.
    rows, of_rows : int
        How many rows were compared on, of how many.
    calibration : ndarray, shape (k, 2), or None
        Slopes and offsets that turn the scores of the chosen learner into probabilities, if it has
        none of its own.
    log_scale : LogScale or None
        How predicted logarithms of the target become numbers.
    decision : Decision or None
        The requested decision threshold.
    """

    score: Scoring
    candidate: Candidate
    params: Mapping[str, Any]
    board: Leaderboard | None
    rows: int
    of_rows: int
    calibration: Floats | None = None
    decision: Decision | None = None
    log_scale: LogScale | None = None

    def board_dict(self) -> dict[str, Any] | None:
        """Return the leaderboard as JSON values."""
        if self.board is None:
            return None
        return {**self.board.to_dict(), "strengths_by": self.score.chooses}

    @property
    def taken(self) -> Standing | None:
        """How the one that is taken did."""
        return None if self.board is None else self.board[self.candidate.name]


def compare_candidates(
    problem: Problem, encoded: Encoded, *, by_metric_alone: bool = False
) -> Comparison:
    """Compare the candidates on folds of encoded rows.

    Of more rows than --compare-rows a random part is taken. The encoder has seen all of these rows,
    so held-out figures, for which it has not, are the ones to trust.
    """
    options, chosen = problem.options, encoded.chosen
    score = Scoring.of(problem, alone=by_metric_alone)
    request = DecisionRequest.of(problem, score.positive)
    settings = {**checked_settings(options), **class_weight_of(problem)}
    facts = facts_of(problem, *_any_rows(encoded, options))
    candidates = candidates_for(problem.task, facts, options, settings)
    detail(f"Comparing {', '.join(each.name for each in candidates)} ({facts})")
    most = (
        rows_to_compare(candidates, facts) if options.compare_rows is None else options.compare_rows
    )
    part = part_of(problem, chosen, most, options.seed)
    if not options.models:
        candidates = [each.with_budget(facts, len(part)) for each in candidates]
    folds = folds_of(problem, chosen[part], options.folds, options.seed)
    if folds is None:
        one = candidates[0]
        rule = None if request is None else request.without_folds(one.learner(), len(chosen))
        return Comparison(score, one, {}, None, 0, len(chosen), decision=rule)
    board, calibrations = _board(problem, encoded, candidates, score, part, folds)
    taken = board.preferred([each.name for each in candidates])
    candidate = next(each for each in candidates if each.name == taken.name)
    sizes = len(part), len(chosen)
    if problem.target_log:
        scale = calibrations[taken.name]
        return Comparison(score, candidate, taken.params, board, *sizes, log_scale=scale)
    pairs, rule = calibrations.get(taken.name), None
    if request is not None:
        matrix, made = _estimators(problem, encoded, [candidate], part)
        estimator = made[candidate.name][0].set_params(**taken.params)
        y, weight = _coded(problem, chosen[part], score)[0], problem.weight_of(chosen[part])
        with step("Choosing the threshold"):
            rule, pairs = request.decide(estimator, matrix, y, folds, weight, pairs)
    return Comparison(score, candidate, taken.params, board, *sizes, pairs, rule)


def compare_all_rows(
    data: Any, options: ProblemOptions, *, by_metric_alone: bool = False
) -> tuple[Encoded, Comparison]:
    """Compare on all rows of a file, refused where they are too few."""
    from separable.linalg.blas import one_blas_thread

    problem = read_problem(data, options)
    problem = with_target_log(problem, np.arange(len(problem)))
    problem = with_integer_readings(problem, np.arange(len(problem)), options)
    encoded = Encoded(problem, np.arange(len(problem)))
    with one_blas_thread():
        comparison = compare_candidates(problem, encoded, by_metric_alone=by_metric_alone)
    if comparison.board is None:
        raise TableError(
            f"{file_name(data)}: {len(problem)} rows are too few for cross-validation: each fold "
            "needs training and test rows of every class."
        )
    return encoded, comparison


def _any_rows(encoded: Encoded, options: ProblemOptions) -> tuple[TableEncoder, EncodedRows]:
    """Return the rows as the first candidate named wants them, else as most do."""
    task = encoded.problem.task
    first = next(name for name, each in LEARNERS.items() if each.task == task)
    candidate = Candidate(options.models[0] if options.models else first)
    encoder, _ = encoded(counts=candidate.counts)
    return encoder, encoded.learned_rows(candidate.learner())


def rows_to_compare(candidates: list[Candidate], facts: Facts) -> int:
    """Return how many rows the candidates can be compared on in short time."""
    work = max(LEARNERS[each.name].work(facts) if each.grid else 0.0 for each in candidates)
    most = COMPARE_WORK / work if work else COMPARE_ROWS
    return int(min(max(most, LEAST_ROWS), COMPARE_ROWS))


def _board(
    problem: Problem,
    encoded: Encoded,
    candidates: list[Candidate],
    score: Scoring,
    part: Rows,
    folds: Folds,
) -> tuple[Leaderboard, dict[str, Any]]:
    """Return the leaderboard, and what was learned of scores that are rescaled."""
    from separable.fitting.scorers import MetricScorer
    from separable.select.comparison import standings_of
    from separable.select.leaderboard import Leaderboard

    chosen = encoded.chosen[part]
    y, classes, positive = _coded(problem, chosen, score)
    scorer = MetricScorer(score.metric, classes, positive)
    weight = problem.weight_of(chosen)
    given: dict[str, Any] = {
        "cv": folds,
        "scorer": scorer,
        "chooser": MetricScorer(METRICS[score.chooses], classes) if score.chooses else None,
        "sample_weight": weight,
        "score_weight": weight,
    }
    calibrations: dict[str, Any] = {}
    rescaling = _rescaling(problem, score, classes)

    def calibrated(name: str, estimator: Any, grid: Any, matrix: Any) -> Standing:
        assert rescaling is not None
        one = calibrated_standing(
            name, estimator, grid, matrix, y, folds, scorer, weight, rescaling
        )
        calibrations[name] = one.calibration
        return one.standing

    def plain(name: str, estimator: Any, grid: Any, matrix: Any) -> Standing:
        return standings_of({name: (estimator, grid)}, matrix, y, **given)[0]

    def validations() -> Iterator[Validation]:
        for counts in (False, True):
            alike = [each for each in candidates if each.counts == counts]
            if not alike:
                continue
            matrix, estimators = _estimators(problem, encoded, alike, part)
            scored = {
                name
                for name, each in estimators.items()
                if rescaling is not None and (problem.target_log or _has_scores(name, each))
            }
            for name in sorted(estimators, key=scored.__contains__):
                run = partial(calibrated if name in scored else plain, name, *estimators[name])
                n_fits = prod(map(len, estimators[name][1].values())) * len(folds)
                yield Validation(name, n_fits, partial(run, matrix))

    names = [each.name for each in candidates]
    standings = validated(validations(), names, problem.options.budget)
    ordered = [standings[name] for name in names if name in standings]
    board = Leaderboard.of(ordered, score.metric.name, score.metric.greater_is_better)
    return board, calibrations


def _estimators(
    problem: Problem, encoded: Encoded, alike: list[Candidate], part: Rows
) -> tuple[Any, dict[str, tuple[Any, Mapping[str, Any]]]]:
    """Return the compared rows as some candidates want them, and their estimators and grids."""
    rows = _rows(problem, encoded, alike)
    encoder, _ = encoded(counts=alike[0].counts)
    matrix = (rows if len(part) == rows.n_rows else rows.take(part)).to_matrix()
    classes = np.unique(problem.target.values[encoded.chosen[part]])
    made = {
        each.name: (
            each.for_comparing(encoder, **coded_class_weight(each.given, classes)),
            each.grid,
        )
        for each in alike
    }
    return matrix, made


def _rescaling(problem: Problem, score: Scoring, classes: Any) -> Rescaling | None:
    """Return how scores become what the metric needs; None if they are."""
    if problem.target_log:
        return Logarithms()
    return Sigmoids(classes) if score.metric.needs == "probabilities" else None


def _has_scores(name: str, candidate: tuple[Any, Any]) -> bool:
    """Whether a learner gives scores to calibrate, and no probabilities."""
    return LEARNERS[name].has_scores and not hasattr(candidate[0], "predict_proba")


def _rows(problem: Problem, encoded: Encoded, candidates: list[Candidate]) -> Any:
    """Return the rows as some candidates, all of one mind about numbers, want them."""
    counts = candidates[0].counts
    encoder, rows = encoded(counts=counts)
    if counts and len(candidates) == len(problem.options.models) == 1:
        with naming_file(problem.data, problem.target.rows[encoded.chosen]):
            refuse_negative(rows, encoder, candidates[0].name)
    return encoded.learned_rows(candidates[0].learner())


def _coded(
    problem: Problem, chosen: Rows, score: Scoring
) -> tuple[NDArray[Any], NDArray[Any] | None, Any]:
    """Return the target, classes as numbers, which is quicker; the classes; the positive one."""
    values = problem.fit_values(chosen)
    if problem.task == "regression":
        return values, None, None
    classes, codes = np.unique(values, return_inverse=True)
    positive = None
    if score.positive is not None:
        result = np.flatnonzero(classes == score.positive)
        positive = int(result[0]) if len(result) else None
    return codes, np.arange(len(classes)), positive
