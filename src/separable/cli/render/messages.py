"""Messages on standard error: notes, warnings, details and progress.

``-q`` leaves notes and progress out, ``-v`` adds details and the time of each step. Warnings and
errors are always shown.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from separable.workflow.progress import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from separable.data.reading_report import Progress
    from separable.errors import Message
    from separable.workflow.progress import StreamLines

__all__ = [
    "VERBOSITY",
    "Step",
    "Terminal",
    "detail",
    "note",
    "printable",
    "say",
    "step",
    "verbosity",
    "warn",
]

#: Key of the verbosity in the context of a command: -1 with -q, 0, 1 with -v.
VERBOSITY = "separable.verbosity"

#: Characters other than printable ASCII.
_NOT_ASCII = re.compile(r"[^\n\t -~]")

#: Seconds after which a step is shown, and between two updates of its line.
PATIENCE = 0.3


def verbosity() -> int:
    """Return the verbosity: -1, 0 or 1."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else int(context.meta.get(VERBOSITY, 0))


def printable(text: str) -> str:
    r"""Return text that is safe to print on a terminal: control characters are escaped.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _NOT_ASCII.sub(
        lambda match: match[0] if match[0].isprintable() else _escaped(match[0]), text
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode()


def say(text: str) -> None:
    """Print a line, unless ``-q`` was given."""
    if verbosity() >= 0:
        click.echo(printable(text), err=True)


def note(text: Message | str) -> None:
    """Print a note, unless ``-q`` was given."""
    say(f"Note: {_spelled(text)}")


def _spelled(text: Message | str) -> str:
    """Return a message with options as the command line has them."""
    return text if isinstance(text, str) else text.spelled("command")


def detail(text: str) -> None:
    """Print a detail, if ``-v`` was given."""
    if verbosity() > 0:
        click.echo(printable(text), err=True)


def warn(text: Message | str) -> None:
    """Print a warning, always."""
    click.echo(printable(f"Warning: {_spelled(text)}"), err=True)


class Step:
    """A long step under way; call it to show its progress."""

    def __init__(self, what: str, *, shown: bool) -> None:
        self.what = what
        self._state = ""
        self._width = 0
        self._start = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True) if shown else None
        if self._thread is not None:
            self._thread.start()

    def __call__(self, done: int, total: int | None = None, of_what: str = "") -> None:
        """Show how many of how many are done, and which is next."""
        count = f"{done}" if total is None else f"{done} of {total}"
        self._state = f"{count} {of_what}".rstrip()

    def reading(self, progress: Progress) -> None:
        """Show how much was read: the ``progress`` callback of `separable.data.scan`."""
        self._state = str(progress).strip()

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self._start

    def end(self) -> None:
        """Erase the line."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._write("")

    def _tick(self) -> None:
        while not self._over.wait(PATIENCE):
            self._write(f"{self.what} ... {self._state}  {self.seconds:.0f} s")

    def _write(self, text: str) -> None:
        if not text and not self._width:
            return
        text = printable(text)
        sys.stderr.write("\r" + text.ljust(self._width) + "\r" * (not text))
        sys.stderr.flush()
        self._width = len(text)


@contextmanager
def step(what: str) -> Iterator[Step]:
    """Show the progress of a long step on a terminal, and with ``-v`` the time it took.

    Parameters
    ----------
    what : str
        A short description: "Reading reviews.csv".
    """
    seen = sys.stderr is not None and sys.stderr.isatty()
    running = Step(what, shown=seen and verbosity() >= 0)
    try:
        yield running
    finally:
        running.end()
    detail(f"{what}: {running.seconds:.2f} s")


class Terminal(Listener):
    """Prints the progress, notes and warnings of a workflow."""

    def note(self, message: Message) -> None:
        """Print a note."""
        note(message)

    def warn(self, message: Message) -> None:
        """Print a warning."""
        warn(message)

    def say(self, text: str) -> None:
        """Print a line."""
        say(text)

    def detail(self, text: str) -> None:
        """Print a detail."""
        detail(text)

    def step(self, what: str) -> AbstractContextManager[Step]:
        """Show the progress of a step."""
        return step(what)

    def stream_lines(self, what: str) -> StreamLines:
        """Print the lines of a stream as a table."""
        from separable.cli.render.stream_table import LineTable

        return LineTable(what)
