"""Races to a held-out loss: the least time in which each side gets as good as the peer gets.

Every peer setting p, a choice of parameters and epochs, has a loss L_p and a time T_p; L* is the
least L_p. Ours has one setting, run for 1, 2, 3, ... epochs. All losses are held out; losses and
times are medians over the same seeds. Three kinds of lines:

- within 0.5 %: the least T_p of settings with L_p <= 1.005 L*, over the time of our first
  number of epochs with a loss <= 1.005 L*;
- best: the T_p of the setting with L_p = L*, over the time of our first with a loss <= L*;
- defaults: the best L_p of the peer's default settings and its T_p, over the time of our first
  with a loss <= that L_p; it carries no target.

Where none of ours reaches the loss the line says so and does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.harness import measure_fits
from benchmarks.report import Line, details, judge, markdown_table, show_range, show_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness import Contender, Measure
    from benchmarks.report import Section
    from benchmarks.settings import Settings

__all__ = ["SLACK", "Goal", "Race", "first_to_reach", "goals", "race_line"]

#: How far above the peer's best loss a setting may end to take part in the first kind of line.
SLACK = 0.005


@dataclass(frozen=True)
class Race:
    """One race.

    Parameters
    ----------
    row : str
        The benchmark, as printed.
    ours : sequence of Contender
        Ours, fewest epochs first.
    tuned, defaults : sequence of Contender
        The peer with parameters chosen for this set, and as it comes.
    target : float
        The ratio asked for.
    """

    row: str
    ours: Sequence[Contender]
    tuned: Sequence[Contender]
    defaults: Sequence[Contender]
    target: float

    def run(self, repeats: int, settings: Settings, section: Section) -> None:
        """Measure everyone in turn, print all of it and add the lines."""
        data = self.ours[0].data.name
        measures = measure_fits([*self.ours, *self.tuned, *self.defaults], repeats)
        ours, peers = measures[: len(self.ours)], measures[len(self.ours) :]
        defaults = peers[len(self.tuned) :]
        print(f"{self.row}, {data}\n\n{details(measures)}\n")
        print(f"Each setting of the peer, and ours for as many epochs as its loss takes, {data}\n")
        print(_settings_table(peers, ours) + "\n")
        numbers = {"data": data, "measures": [measure.to_dict() for measure in measures]}
        for goal in goals(peers, defaults):
            target = self.target if goal.judged else None
            line = race_line(self.row, data, goal, ours, target=target, judged=settings.judged)
            section.add(line, {"what": goal.what, "loss": goal.loss} | numbers)
            numbers = {"data": data}  # the measures once


@dataclass(frozen=True)
class Goal:
    """A loss to reach, the peer's setting that reaches it, and whether the ratio has a target."""

    what: str
    loss: float
    peer: Measure
    judged: bool


def goals(peers: Sequence[Measure], defaults: Sequence[Measure]) -> list[Goal]:
    """Return the goals of a race against all the peers, of which some are defaults."""
    best, usual = min(peers, key=_loss), min(defaults, key=_loss)
    close = (1 + SLACK) * _loss(best)
    quickest = min((peer for peer in peers if _loss(peer) <= close), key=lambda peer: peer.time)
    return [
        Goal(f"time to within {SLACK:.1%} of the peer's best loss", close, quickest, judged=True),
        Goal("time to the peer's best loss", _loss(best), best, judged=True),
        Goal("time to the best loss of its defaults", _loss(usual), usual, judged=False),
    ]


def first_to_reach(ours: Sequence[Measure], loss: float) -> Measure | None:
    """Return our first, by epochs, that ends at the loss or below."""
    return next((measure for measure in ours if _loss(measure) <= loss), None)


def _loss(measure: Measure) -> float:
    if measure.loss is None:
        raise ValueError(f"{measure.name} was run without its loss.")
    return measure.loss


def race_line(
    row: str, data: str, goal: Goal, ours: Sequence[Measure], *, target: float | None, judged: bool
) -> Line:
    """Return the peer's time over that of our first to reach the goal, or that none does."""
    what = f"{goal.what}, {goal.loss:.4f}"
    peer = f"{goal.peer.name}: {_show(goal.peer)}"
    mine = first_to_reach(ours, goal.loss)
    if mine is None:
        reached = f"at best {_show(min(ours, key=_loss))}"
        return Line(row, data, what, reached, peer, None, "x", target, False, "not reached")
    ratio = goal.peer.time / mine.time
    verdict = judge(ratio, target, at_most=False, judged=judged)
    return Line(row, data, what, _show(mine), peer, ratio, "x", target, False, verdict)


def _show(measure: Measure) -> str:
    epochs = show_range(measure.epochs)
    plural = "" if epochs == "1" else "s"
    return f"{show_seconds(measure.time)}, {epochs} epoch{plural}, {_loss(measure):.4f}"


def _settings_table(peers: Sequence[Measure], ours: Sequence[Measure]) -> str:
    headings = ("peer", "its epochs, time and loss", "ours", "ratio")
    rows = []
    for peer in peers:
        mine = first_to_reach(ours, _loss(peer))
        side = ["not reached", "-"] if mine is None else [
            _show(mine), f"{peer.time / mine.time:.3g} x",
        ]  # fmt: skip
        rows.append([peer.name, _show(peer), *side])
    return markdown_table(headings, rows)
