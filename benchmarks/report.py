"""What a benchmark found: lines judged against targets, printed as Markdown tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness import Measure

__all__ = ["Line", "Section", "compare", "details", "judge", "markdown_table", "show_seconds"]

#: Test accuracy that ours may lie below the peer's before its time no longer counts.
ACCURACY_SLACK = 0.01
#: The share by which our held-out log loss may exceed the peer's before the same.
LOSS_SLACK = 0.01


@dataclass(frozen=True)
class Line:
    """One figure beside its target.

    Parameters
    ----------
    row, data, what : str
        Which benchmark, on what, measuring what.
    ours, peer : str
        Both sides as printed.
    value : float or None
        The figure judged.
    unit : str
        Its unit as printed: "x", "s", "us".
    target : float or None
        What is asked of it, if anything.
    at_most : bool
        Whether the target is an upper limit.
    verdict : str
        "met", "missed", "not judged", or why it does not count.
    """

    row: str
    data: str
    what: str
    ours: str
    peer: str
    value: float | None
    unit: str
    target: float | None
    at_most: bool
    verdict: str

    def cells(self) -> list[str]:
        """Return the cells of the closing table."""
        sign = "<=" if self.at_most else ">="
        figure = "-" if self.value is None else f"{self.value:.3g} {self.unit}".strip()
        target = "-" if self.target is None else f"{sign} {self.target:g} {self.unit}".strip()
        return [
            self.row, self.data, self.what, self.ours, self.peer, figure, target, self.verdict,
        ]  # fmt: skip

    HEADINGS = ("row", "data", "what", "ours", "peer", "figure", "target", "verdict")


@dataclass
class Section:
    """What one benchmark returns: its lines, the tables to print, and all raw numbers."""

    lines: list[Line] = field(default_factory=list)
    raw: list[dict[str, Any]] = field(default_factory=list)

    def add(self, line: Line, raw: dict[str, Any]) -> None:
        """Keep a line and the numbers behind it."""
        self.lines.append(line)
        self.raw.append(raw | {"line": dict(vars(line))})


def judge(value: float, target: float | None, *, at_most: bool, judged: bool) -> str:
    """Return "met" or "missed", or that nothing is judged."""
    if target is None:
        return "-"
    if not judged:
        return "not judged"
    return "met" if (value <= target if at_most else value >= target) else "missed"


def compare(
    row: str,
    what: str,
    data: str,
    ours: Measure,
    peer: Measure,
    *,
    target: float | None,
    judged: bool,
) -> Line:
    """Return the line of a contest: the peer's time over ours, if accuracy and loss allow it."""
    ratio = ours.ratio_to(peer)
    verdict = judge(ratio, target, at_most=False, judged=judged)
    worse = _worse(ours, peer)
    if target is not None and judged and worse:
        verdict = f"does not count: {worse}"
    if not ours.same_epochs(peer):
        what = f"{what}, by epoch ({show_range(ours.epochs)} and {show_range(peer.epochs)})"
    mine, theirs = (_show_side(measure) for measure in (ours, peer))
    return Line(row, data, what, mine, f"{peer.name} {theirs}", ratio, "x", target, False, verdict)


def _worse(ours: Measure, peer: Measure) -> str:
    """Return in what ours is too far behind for its time to count, if in anything."""
    if ours.accuracy < peer.accuracy - ACCURACY_SLACK:
        return "less accurate"
    if ours.loss is None or peer.loss is None:
        return ""
    return "" if ours.loss <= (1 + LOSS_SLACK) * peer.loss else "higher loss"


def _show_side(measure: Measure) -> str:
    loss = "" if measure.loss is None else f", loss {measure.loss:.4f}"
    return f"{show_seconds(measure.time)}, {measure.accuracy:.1%}{loss}"


def details(measures: Sequence[Measure]) -> str:
    """Return the table of everything measured in one contest."""
    headings = (
        "contender", "median", "fastest", "slowest", "CPU", "epochs", "rows/s", "non-zeros/s",
        "train", "test", "worst test", "test loss", "peak memory",
    )  # fmt: skip
    return markdown_table(headings, [_cells(measure) for measure in measures])


def _cells(measure: Measure) -> list[str]:
    epoch = measure.epoch_time
    peak = "-" if measure.peak_bytes is None else f"{measure.peak_bytes / 2**20:.0f} MiB"
    return [
        measure.name,
        show_seconds(measure.time),
        show_seconds(min(measure.seconds)),
        show_seconds(max(measure.seconds)),
        show_seconds(median(measure.cpu_seconds)),
        show_range(measure.epochs),
        f"{measure.rows / epoch:.3g}",
        f"{measure.nonzeros / epoch:.3g}",
        f"{median(measure.train_accuracy):.2%}",
        f"{measure.accuracy:.2%}",
        f"{min(measure.test_accuracy):.2%}",
        "-" if measure.loss is None else f"{measure.loss:.4f}",
        peak,
    ]


def show_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def show_range(numbers: Sequence[int]) -> str:
    """Return the number, or the smallest and largest where they differ."""
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}-{high}"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with its columns lined up."""
    table = [list(headings), *[list(row) for row in rows]]
    widths = [max(3, *(len(row[i]) for row in table)) for i in range(len(headings))]
    table.insert(1, ["-" * width for width in widths])
    return "\n".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"
        for row in table
    )
