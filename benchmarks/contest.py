"""Exact learners against each other: the same answer, so only time and memory count."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.harness import interleave, peak_growth
from benchmarks.report import Line, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.report import Section
    from benchmarks.settings import Settings

__all__ = ["Contest", "Side", "run_contest"]


@dataclass(frozen=True)
class Side:
    """One side of a contest.

    Parameters
    ----------
    name : str
        As printed.
    work : callable
        Does what is timed, and returns the answer.
    """

    name: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Contest:
    """What is compared.

    Parameters
    ----------
    row, data, what : str
        Which benchmark, on what, doing what.
    ours : Side
    peers : sequence of Side
        The first is the one the target is about; others stand beside it.
    difference : callable
        How far two answers are apart, ours first.
    agree : float
        A peer whose answer is further away does not count.
    target : float or None
        So many times faster than the first peer is asked.
    best : float or None
        The same of the fastest peer whose answer counts.
    """

    row: str
    data: str
    what: str
    ours: Side
    peers: Sequence[Side]
    difference: Callable[[Any, Any], float]
    agree: float
    target: float | None
    best: float | None = None

    def targets(self, seconds: Sequence[float], apart: Sequence[float]) -> dict[int, float]:
        """Return what is asked of which peer, by number."""
        asked = {} if self.target is None else {1: self.target}
        counts = [k for k in range(1, len(seconds)) if apart[k] <= self.agree]
        if self.best is not None and counts:
            fastest = min(counts, key=lambda k: seconds[k])
            asked[fastest] = max(self.best, asked.get(fastest, 0.0))
        return asked


def run_contest(contest: Contest, repeats: int, settings: Settings, section: Section) -> None:
    """Run all sides in turn and add a line for each peer."""
    sides = [contest.ours, *contest.peers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory = [peak_growth(side.work) for side in sides]
        answers = [side.work() for side in sides]  # untimed
        times = interleave([_timed(side) for side in sides], repeats)
    seconds = [median(wall for wall, _ in each) for each in times]
    cpu = [median(used for _, used in each) for each in times]
    apart = [contest.difference(answers[0], answer) for answer in answers]
    print(f"{contest.what}, {contest.data}\n")
    cells = [
        [
            side.name,
            show_seconds(seconds[k]),
            show_seconds(cpu[k]),
            "-" if memory[k] is None else f"{memory[k] / 2**20:.0f} MiB",  # type: ignore[operator]
            "-" if k == 0 else f"{apart[k]:.1e}",
        ]
        for k, side in enumerate(sides)
    ]
    print(markdown_table(("contender", "median", "CPU", "peak memory", "difference"), cells) + "\n")
    targets = contest.targets(seconds, apart)
    for k, peer in enumerate(contest.peers, start=1):
        target = targets.get(k)
        ratio = seconds[k] / seconds[0]
        verdict = judge(ratio, target, at_most=False, judged=settings.judged)
        if apart[k] > contest.agree:
            verdict = f"does not count: answers differ by {apart[k]:.1e}"
        line = Line(
            contest.row, contest.data, contest.what, show_seconds(seconds[0]),
            f"{peer.name} {show_seconds(seconds[k])}", ratio, "x", target, False, verdict,
        )  # fmt: skip
        raw = {"what": contest.what, "data": contest.data, "peer": peer.name}
        section.add(line, raw | {"times": times, "peak_bytes": memory, "difference": apart[k]})


def _timed(side: Side) -> Callable[[int], Callable[[], Any]]:
    def prepare(turn: int) -> Callable[[], Any]:
        del turn
        return side.work

    return prepare
