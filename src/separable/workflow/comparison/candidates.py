"""Candidates: the learners to compare, with the parameters set by the user and their grids."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from separable.data.table import did_you_mean
from separable.errors import Option, OptionError, by_spelling
from separable.fitting.penalty_basis import constrain
from separable.workflow.comparison.decisions import left_out_note
from separable.workflow.learners import LEARNERS, learners_of, names_of, new_learner, takes
from separable.workflow.progress import note
from separable.workflow.training_problem import adds_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from separable.features.base import Encoder
    from separable.workflow.learners import Facts, Task
    from separable.workflow.options import ProblemOptions

__all__ = ["COMPARE_ROWS", "Candidate", "candidates_for", "checked_settings"]

#: Tolerance of certified learners during comparison: with a smooth loss, and with a piecewise
#: linear one.
COMPARE_TOL, PIECEWISE_LINEAR_TOL = 1e-4, 1e-3

#: Learners are compared on a random sample of at most this many rows, unless the user says
#: otherwise.
COMPARE_ROWS = 100_000

#: Parameters that have an option of their own or no use in a command.
ELSEWHERE: dict[str, Any] = {
    "random_state": by_spelling("use seed", "use --seed"),
    "n_jobs": by_spelling("use threads", "use --threads"),
    "callback": "it is a Python function",
    "monotonic_cst": by_spelling(
        "use increasing, decreasing or nonnegative",
        "use --increasing, --decreasing or --nonnegative",
    ),
    "warm_start": "a run always trains from scratch",
}


@dataclass(frozen=True)
class Candidate:
    """A learner with the parameters set by the user and the grid to search.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    given : mapping of str to object
        By --set.
    grid : mapping of str to sequence
        The values to try; empty: nothing is searched.
    seed, threads : int
    max_passes : int or None
        The work budget of a fit in the comparison.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    seed: int = 0
    threads: int = 1
    max_passes: int | None = None

    @property
    def counts(self) -> bool:
        """Whether it adds up counts, so that numbers must not be centred."""
        return adds_counts(self.learner())

    def with_budget(self, facts: Facts, rows: int) -> Candidate:
        """Return it with a work budget for the comparison on some rows."""
        return replace(self, max_passes=LEARNERS[self.name].passes(facts, rows))

    def learner(self, encoder: Encoder | None = None, **params: Any) -> Any:
        """Return the learner to be fitted, with parameters that were chosen.

        ``encoder`` makes its columns: learners of groups ask which go together.
        """
        made = new_learner(self.name, self.seed, self.threads, **{**self.given, **params})
        if encoder is not None and hasattr(made, "group_by"):
            made.group_by(encoder)
        if encoder is not None:
            constrain(made, encoder)
        return made

    def for_comparing(self, encoder: Encoder | None = None, **params: Any) -> Any:
        """Return the learner that stands for it on folds: as exact as comparing needs."""
        from separable.certified.estimators.base import CertifiedEstimator
        from separable.certified.estimators.logistic_regression import LogisticRegression

        learner = LEARNERS[self.name]
        kind = learner.load()
        if self.max_passes is not None and "max_iter" not in self.given:
            params = {"max_iter": self.max_passes, **params}
        has_own_rule = not issubclass(kind, CertifiedEstimator) or kind is LogisticRegression
        if has_own_rule or "tol" in self.given:  # searches know how exact it has to be
            return self.learner(encoder, **params)
        tol = COMPARE_TOL if learner.cost <= 1 else PIECEWISE_LINEAR_TOL
        return self.learner(encoder, **params, tol=tol)


def checked_settings(options: ProblemOptions) -> Mapping[str, Any]:
    """Return the parameters that were set; refuse those that a named learner does not have."""
    for name, value in options.settings.items():
        if name in ELSEWHERE:
            raise OptionError(Option("set", {name: value}), ": ", ELSEWHERE[name], ".")
    for model in options.models:
        _check_settings(model, options.settings)
    return options.settings


def _check_settings(model: str, settings: Mapping[str, Any]) -> None:
    """Refuse what a learner does not take."""
    takes = [each for each in _parameters(model) if each not in ELSEWHERE]
    for name in settings:
        if name not in takes:
            known = ", ".join(takes) or "none"
            raise OptionError(
                Option("set", {name: ...}),
                f": {model} has no such parameter{did_you_mean(name, takes)}. It has: {known}.",
            )
    learner = new_learner(model, **settings)
    if hasattr(learner, "check_parameters"):
        try:
            learner.check_parameters()
        except ValueError as error:
            raise OptionError(Option("set", dict(settings)), f": {error}") from None


def _parameters(model: str) -> list[str]:
    return list(inspect.signature(LEARNERS[model].load()).parameters)


def candidates_for(
    task: Task, facts: Facts, options: ProblemOptions, settings: Mapping[str, Any]
) -> list[Candidate]:
    """Return the learners to compare, in order of preference.

    Parameters
    ----------
    task : {"classification", "regression"}
    facts : Facts
    options : ProblemOptions
    settings : mapping of str to object
        As `checked_settings` returns them. Of auto those that lack one of them are left out.
    """
    names = list(options.models)
    if not names:
        suited = learners_of(task, facts)
        if options.class_weight is not None:
            message = left_out_note([name for name in suited if not takes(name, "class_weight")])
            if message is not None:
                note(message)
        names = [name for name in suited if set(settings) <= set(_parameters(name))]
    if not names:
        raise OptionError(
            Option("set", dict.fromkeys(settings, ...)),
            ": no learner that suits the data has this parameter. Name one with ",
            Option("model"),
            ".",
        )
    for name in names:
        _check_settings(name, settings)
        if facts.constrained and not takes(name, "monotonic_cst"):
            able = [each for each in names_of(task) if takes(each, "monotonic_cst")]
            raise OptionError(
                Option("model", name),
                f": its weights cannot be kept to one sign. Those of {', '.join(able)} can.",
            )
    return list(_made(names, options, settings, facts))


def _made(
    names: list[str], options: ProblemOptions, settings: Mapping[str, Any], facts: Facts
) -> Iterator[Candidate]:
    rows = min(facts.rows, COMPARE_ROWS)
    for name in names:
        parameter = LEARNERS[name].regularization
        grid = {}
        if parameter is not None and parameter.name not in settings:
            grid = {
                parameter.name: parameter.grid(
                    rows, facts.deviation, settings, smoothed=facts.smoothed
                )
            }
        yield Candidate(name, dict(settings), grid, options.seed, options.threads)
