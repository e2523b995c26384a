"""Is it separable? The verdict with its proof, against HiGHS on the whole problem."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.datasets import (
    load_a9a,
    load_covtype,
    load_imdb_words,
    load_mnist,
    load_mushroom,
    load_spambase,
    missing_is_told,
)
from benchmarks.harness import interleave
from benchmarks.highs import METHODS, Answer, ask
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable.geometry import separability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings
    from separable.geometry import Verdict

__all__ = ["by_half_answers", "judge_set", "run_separability", "with_numbers"]

#: Times faster than the quickest way in which HiGHS tells the kind, with numbers that prove it.
TARGET = 20
#: Seconds for a verdict with its proof on the large sets.
IN_SECONDS = 10
#: Seconds after which a program of HiGHS is ended: in a full run, and in a quick one.
LIMIT, QUICK_LIMIT = 120, 10
#: Zeros and ones are separable, the others but for pixels that few images use.
PAIRS = ((0, 1), (3, 5), (4, 9), (7, 9))
EVERY_WAY = tuple(product(("direction", "cancel", "count"), METHODS))
KINDS = ("separable", "quasi-separable", "overlap")


def run_separability(settings: Settings) -> Section:
    """Ask about all sets: where HiGHS ends soon, and where only ours does."""
    section = Section()
    for load, large in (
        (load_spambase, False),
        (load_mushroom, False),
        (load_a9a, False),
        *(((lambda settings, pair=pair: _digits(settings, pair)), True) for pair in PAIRS),
        (_forest, True),
        (load_imdb_words, True),
    ):
        with missing_is_told():
            judge_set(load(settings), settings, section, large=large)
    return section


def _digits(settings: Settings, pair: tuple[int, int]) -> Data:
    return load_mnist(settings).of_classes(*pair)


def _forest(settings: Settings) -> Data:
    return load_covtype(settings, binary=True).whole()


def judge_set(
    data: Data,
    settings: Settings,
    section: Section,
    *,
    large: bool,
    ways: Sequence[tuple[str, str]] = EVERY_WAY,
) -> None:
    """Ask ours several times and HiGHS once in each way; print all answers, add the lines."""
    X, y = data.X, data.y
    verdicts: list[Verdict] = []
    checks: list[tuple[float, bool]] = []

    def check(_: int, verdict: Verdict) -> None:
        start = time.perf_counter()
        holds = verdict.verify(X, y)
        checks.append((time.perf_counter() - start, holds))
        verdicts.append(verdict)

    (times,) = interleave([lambda _: lambda: separability(X, y)], settings.slow_repeats, check)
    limit = LIMIT if settings.judged else QUICK_LIMIT
    answers = [ask(X, y, *way, limit) for way in ways]
    ours = _Ours(verdicts[-1], times, checks)
    name = f"{data.name}, {X.shape[0]} x {X.shape[1]}"
    _print(name, ours, answers, limit)
    raw = {"data": name, "times": times, "checks": checks, "verdict": ours.told()}
    raw |= {"answers": [vars(answer) for answer in answers], "limit": limit}
    told = by_half_answers(answers)
    lines = [_against(name, ours, with_numbers(answers), limit, settings)]
    lines += [] if told is None else [_against_word(name, ours, told)]
    lines += [_within(name, ours, settings)] if large else []
    for line in lines:
        section.add(line, raw)


@dataclass(frozen=True)
class _Ours:
    verdict: Verdict
    times: Sequence[tuple[float, float]]
    checks: Sequence[tuple[float, bool]]

    @property
    def seconds(self) -> float:
        return median(wall for wall, _ in self.times)

    @property
    def holds(self) -> bool:
        return all(holds for _, holds in self.checks)

    def told(self) -> dict[str, Any]:
        margins = float(self.verdict.margin), float(self.verdict.margin_bound)
        return {"kind": self.verdict.kind, "margins": margins, "verified": self.holds}

    def show(self) -> str:
        kind, (low, high) = self.verdict.kind, self.told()["margins"]
        return f"{kind}, margin {low:.4g} to {high:.4g}" if kind == "separable" else kind


def with_numbers(answers: Sequence[Answer]) -> Answer | None:
    """Return the quickest way to the kind with numbers that prove it."""
    return min((a for a in answers if a.kind in KINDS), key=_seconds, default=None)


def by_half_answers(answers: Sequence[Answer]) -> Answer | None:
    """Return the quickest way to the kind by two programs without a solution, if there is one."""
    first, second = (
        min((a for a in answers if a.kind == kind), key=_seconds, default=None)
        for kind in ("not separable", "not overlap")
    )
    if first is None or second is None:
        return None
    name = f"{first.name}, then {second.name.removeprefix('HiGHS ')}"
    cpu = first.cpu_seconds + second.cpu_seconds
    return Answer(name, "quasi-separable", first.seconds + second.seconds, cpu)


def _seconds(answer: Answer) -> float:
    return answer.seconds


def _against(data: str, ours: _Ours, peer: Answer | None, limit: float, settings: Settings) -> Line:
    what = "verdict with proof"
    mine = f"{show_seconds(ours.seconds)}, {ours.show()}"
    ratio = (limit if peer is None else peer.seconds) / ours.seconds
    if peer is None:
        theirs = f"HiGHS > {limit} s"
        return Line("separability", data, what, mine, theirs, ratio, "x or more", None, False, "-")
    verdict = judge(ratio, TARGET, at_most=False, judged=settings.judged)
    if not ours.holds or peer.kind != ours.verdict.kind:
        verdict = f"does not count: HiGHS says {peer.kind}" if ours.holds else "does not verify"
    theirs = f"{peer.name} {show_seconds(peer.seconds)}"
    return Line("separability", data, what, mine, theirs, ratio, "x", TARGET, False, verdict)


def _against_word(data: str, ours: _Ours, peer: Answer) -> Line:
    theirs = f"{peer.name} {show_seconds(peer.seconds)}"
    ratio, shown = peer.seconds / ours.seconds, show_seconds(ours.seconds)
    what = "against a verdict without proof"
    return Line("separability", data, what, shown, theirs, ratio, "x", None, False, "-")


def _within(data: str, ours: _Ours, settings: Settings) -> Line:
    verdict = judge(ours.seconds, IN_SECONDS, at_most=True, judged=settings.judged)
    if not ours.holds:
        verdict = "does not verify"
    shown = show_seconds(ours.seconds)
    return Line(
        "separability", data, "answered", shown, "-", ours.seconds, "s", IN_SECONDS, True, verdict
    )


def _print(data: str, ours: _Ours, answers: Sequence[Answer], limit: float) -> None:
    check = show_seconds(median(seconds for seconds, _ in ours.checks))
    cpu = show_seconds(median(cpu for _, cpu in ours.times))
    cells = [["separable", show_seconds(ours.seconds), cpu, ours.show()]]
    cells += [
        [
            answer.name,
            show_seconds(answer.seconds) if answer.kind else f"> {limit} s",
            show_seconds(answer.cpu_seconds) if answer.kind else "-",
            answer.kind or "-",
        ]
        for answer in answers
    ]
    print(f"{data}: {ours.verdict.reason}\n")
    print(markdown_table(("contender", "time", "CPU", "answer"), cells))
    print(f"\nThe proof {'verifies' if ours.holds else 'DOES NOT VERIFY'}, in {check}.\n")
