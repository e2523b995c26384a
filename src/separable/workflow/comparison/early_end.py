"""Comparison of learners one by one, which Ctrl-C or a budget of seconds may end early.

The learners that are finished by then compete; a warning names the others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separable.errors import Message, Option
from separable.fitting.fit_progress import counting_fits
from separable.workflow.progress import say, step, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from separable.select.leaderboard import Standing
    from separable.workflow.progress import Step

__all__ = ["Validation", "validated"]


@dataclass(frozen=True)
class Validation:
    """The cross-validation of one learner.

    Parameters
    ----------
    name : str
    n_fits : int
        Values of the grid times folds.
    run : callable
        Returns the standing.
    """

    name: str
    n_fits: int
    run: Callable[[], Standing]


def validated(
    validations: Iterable[Validation], names: Sequence[str], budget: float | None
) -> dict[str, Standing]:
    """Return the standing of each learner that was compared, at least one.

    Parameters
    ----------
    validations : iterable of Validation
        Requested one by one, so that rows are encoded when they are needed.
    names : sequence of str
        Names of all learners.
    budget : float or None
        Seconds after which no learner is started, once one has succeeded.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C before any learner has succeeded.
    """
    standings: dict[str, Standing] = {}
    start, was_interrupted = time.monotonic(), False
    try:
        with step("Comparing learners") as progress:
            for each in validations:
                standings[each.name] = _with_progress(each, progress, len(standings), len(names))
                spent = budget is not None and time.monotonic() - start >= budget
                if spent and _any_succeeded(standings):
                    break
    except KeyboardInterrupt:
        if not _any_succeeded(standings):
            raise
        was_interrupted = True
    left_out = [name for name in names if name not in standings]
    if left_out:
        warn(_interrupted(left_out) if was_interrupted else _over_budget(left_out, budget))
    if was_interrupted:
        say("Continuing with the learners compared so far. Press Ctrl-C again to abort.")
    return standings


def _any_succeeded(standings: dict[str, Standing]) -> bool:
    return any(not each.failed for each in standings.values())


def _with_progress(validation: Validation, progress: Step, done: int, total: int) -> Standing:
    """Return the standing of a learner, and report each of its fits."""
    what = f"learner {done + 1} of {total}: {validation.name}"

    def report(fits: int) -> None:
        text = f"{what}, {fits} of {validation.n_fits} fits"
        progress((done + fits / validation.n_fits) / total, text)

    progress(done / total, what)
    with counting_fits(report):
        return validation.run()


def _interrupted(names: list[str]) -> Message:
    return Message(f"The comparison was interrupted. Not compared: {', '.join(names)}.")


def _over_budget(names: list[str], budget: Any) -> Message:
    return Message(
        f"The comparison ended at its budget ({budget:g} s). Not compared: {', '.join(names)}. "
        "Which learners are compared, and so the model, depends on the speed of the machine. "
        "Increase or leave out ",
        Option("budget", budget),
        " to compare them.",
    )
