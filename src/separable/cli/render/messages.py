"""Messages on standard error: notes, warnings, details and progress.

``-q`` leaves notes and progress out, ``-v`` adds details and the time of each step. Warnings and
errors are always shown.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

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

#: Seconds after which a step is shown, between two updates of its line on a terminal, and between
#: two lines in a log.
PATIENCE, LINE_INTERVAL, LOG_INTERVAL = 1.0, 0.3, 10.0


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
    """A long step under way; call it to show its progress.

    Parameters
    ----------
    what : str
        A short description: "Reading reviews.csv".
    stream : text file or None
        A terminal gets one line that is replaced in place and erased at the end. None: nothing is
        shown.
    logs : bool, default False
        Whether any other file gets a new line every `LOG_INTERVAL` seconds.
    """

    def __init__(self, what: str, stream: TextIO | None, *, logs: bool = False) -> None:
        self.what = what
        self._state = ""
        self._share = 0.0
        self._width = 0
        self._start = time.monotonic()
        self._over = threading.Event()
        self._stream = stream
        self._thread = None
        is_terminal = stream is not None and stream.isatty()
        if is_terminal or (stream is not None and logs):
            show = self._live if is_terminal else self._log
            self._thread = threading.Thread(target=show, daemon=True)
            self._thread.start()

    def __call__(self, share: float, what: str) -> None:
        """Show the share that is done, from 0 to 1, and what is under way."""
        self._share, self._state = share, what

    def reading(self, progress: Progress) -> None:
        """Show how much was read: the ``progress`` callback of `separable.data.scan`."""
        self._state = str(progress).strip()

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self._start

    def line(self) -> str:
        """Return the description, the state, the share done, the time and the time left."""
        seconds = self.seconds
        parts = [f"{self.what} ... {self._state}", f"{seconds:.0f} s"]
        if self._share > 0:
            left = seconds * (1 / self._share - 1)
            parts.insert(1, f"{self._share:.0%}")
            parts.append(f"about {left:.0f} s left")
        return printable("  ".join(parts))

    def end(self) -> None:
        """Erase the line."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._width:
            self._write("\r" + " " * self._width + "\r")

    def _live(self) -> None:
        wait = PATIENCE
        while not self._over.wait(wait):
            text = self.line()[: shutil.get_terminal_size().columns - 1]
            self._write("\r" + text.ljust(self._width))
            self._width, wait = len(text), LINE_INTERVAL

    def _log(self) -> None:
        while not self._over.wait(LOG_INTERVAL):
            self._write(f"{self.line()}\n")

    def _write(self, text: str) -> None:
        assert self._stream is not None
        self._stream.write(text)
        self._stream.flush()


@contextmanager
def step(what: str, *, logs: bool = False) -> Iterator[Step]:
    """Show the progress of a long step, unless ``-q`` was given; with ``-v`` the time it took.

    Parameters
    ----------
    what : str
        A short description: "Reading reviews.csv".
    logs : bool, default False
        Whether lines are also written where standard error is not a terminal.
    """
    running = Step(what, sys.stderr if verbosity() >= 0 else None, logs=logs)
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
        return step(what, logs=True)

    def stream_lines(self, what: str) -> StreamLines:
        """Print the lines of a stream as a table."""
        from separable.cli.render.stream_table import LineTable

        return LineTable(what)
