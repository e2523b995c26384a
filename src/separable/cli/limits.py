"""``--fail-under`` and ``--fail-over``: figures that a model has to reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separable.model.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.evaluation import Evaluation

__all__ = ["Limit", "missed_limits", "read_limits"]

#: What each option is for.
OPTIONS = {True: "--fail-under", False: "--fail-over"}


@dataclass(frozen=True)
class Limit:
    """A figure and what it has to be: at least so much, or of errors at most.

    Parameters
    ----------
    metric : str
    value : float
    """

    metric: str
    value: float

    def missed(self, found: Evaluation) -> str | None:
        """Return in words how it was missed, None where it was not."""
        metric = METRICS[self.metric]
        figure = found.figures.get(self.metric)
        option = f"{OPTIONS[metric.greater_is_better]} {self.metric}={self.value:g}"
        if figure is None:
            return f"{option}: there is no {self.metric}, for {found.left_out[self.metric]}."
        if metric.greater_is_better and not figure >= self.value:
            return f"{option}: {self.metric} is {figure:.6g}, below it."
        if not metric.greater_is_better and not figure <= self.value:
            return f"{option}: {self.metric} is {figure:.6g}, above it."
        return None


def read_limits(under: Sequence[str], over: Sequence[str]) -> list[Limit]:
    """Return the limits that the options ask for, or refuse them."""
    return [
        _limit(text, greater_is_better)
        for greater_is_better, texts in ((True, under), (False, over))
        for text in texts
    ]


def missed_limits(limits: list[Limit], found: Evaluation) -> list[str]:
    """Return in words which limits were missed."""
    return [told for told in (limit.missed(found) for limit in limits) if told is not None]


def check_task(limits: list[Limit], task: Any) -> None:
    """Refuse figures that the answers of a model do not have."""
    for limit in limits:
        if METRICS[limit.metric].task != task:
            names = ", ".join(name for name, metric in METRICS.items() if metric.task == task)
            raise click.UsageError(
                f"{limit.metric} is a figure of {METRICS[limit.metric].task}, and the model does "
                f"{task}. Use one of: {names}."
            )


def _limit(text: str, greater_is_better: bool) -> Limit:
    option = OPTIONS[greater_is_better]
    name, sign, value = (each.strip() for each in text.partition("="))
    metric = METRICS.get(name)
    if metric is None:
        raise click.UsageError(f"{option} {text}: there is no figure {name!r}. There are: "
                               f"{', '.join(METRICS)}.")  # fmt: skip
    if metric.greater_is_better != greater_is_better:
        better = "larger" if metric.greater_is_better else "smaller"
        raise click.UsageError(
            f"{option} {text}: of {name} {better} is better. Use "
            f"{OPTIONS[metric.greater_is_better]} {text}."
        )
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not sign or not math.isfinite(number):
        raise click.UsageError(f"{option} {text}: write a figure and a number: {name}=0.9.")
    return Limit(name, number)
