"""The table that ``train --stream`` and ``update`` write while they learn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from separable.cli.render.messages import Step, say, verbosity
from separable.workflow.progress import StreamLines
from separable.workflow.stream.stream_report import cell, line_figures, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.data.reading_report import Progress
    from separable.workflow.stream.progressive_validation import Line, Record
    from separable.workflow.stream.stream_target import StreamTarget

__all__ = ["LineTable"]

WIDTHS = (11, 12, 12, 10, 14, 14, 9)


class LineTable(StreamLines):
    """The progress table on standard error.

    Parameters
    ----------
    what : str
        A description of the data.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._step: Step | None = None
        self._has_loss = self._is_number = False
        self._before: Line | None = None
        self._progress: Progress | None = None

    def begin(self, loss: str | None, target: StreamTarget, record: Record) -> None:
        """Write the titles of the columns."""
        self._has_loss, self._is_number = loss is not None, target.classes is None
        self._before = record.lines[-1] if record.lines else None
        figure = "rmse" if self._is_number else "accuracy"
        titles = ("examples", loss or "", "since last", figure, "label", "predicted", "features")
        say(self._row(titles))
        self._wait()

    def add_line(self, line: Line) -> None:
        """Print a line."""
        self.end()
        figures = line_figures(line, self._before, is_number=self._is_number)
        figure = figures["rmse" if self._is_number else "accuracy"]
        cells = (
            str(line.examples),
            cell(figures["mean_loss"]),
            cell(figures["since_last"]),
            cell(figure),
            value(line.label),
            "-" if line.predicted is None else value(line.predicted),
            str(line.features),
        )
        say(self._row(cells))
        self._before = line
        self._wait()

    def reading(self, progress: Progress) -> None:
        """Show the progress of reading."""
        self._progress = progress
        if self._step is not None:
            self._step.reading(progress)

    def end(self) -> None:
        """Erase the progress line."""
        if self._step is not None:
            self._step.end()
            self._step = None

    def _wait(self) -> None:
        stream = sys.stderr if verbosity() >= 0 else None
        self._step = Step(f"Learning from {self._what}", stream)
        if self._progress is not None:
            self._step.reading(self._progress)

    def _row(self, cells: Sequence[str]) -> str:
        kept = [
            cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
            if self._has_loss or column not in (1, 2)
        ]
        return "".join(kept)
