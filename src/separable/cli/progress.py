"""A display of how far a long reading is: rich's bar where it is installed, else one line."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from separable.data.progress import Progress

__all__ = ["progress_display"]


@contextmanager
def progress_display(what: str) -> Iterator[Callable[[Progress], None] | None]:
    """Give what `separable.data.scan` takes as ``progress``.

    Nothing is shown where standard error is not a terminal.

    Parameters
    ----------
    what : str
        What is going on, in a word or two.
    """
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich import progress as bars
        from rich.console import Console
    except ImportError:  # the extra "progress" is not installed
        from separable.data.progress import ProgressLine

        yield ProgressLine()
        sys.stderr.write("\n")
        return
    columns = (
        bars.TextColumn(what),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(what, total=None)

        def show(progress: Progress) -> None:
            display.update(task, total=progress.bytes_total, completed=progress.bytes_read)

        yield show
