"""Progress, notes and warnings of a workflow, for whoever listens: a terminal, or nobody.

A step of the workflow reports here and does not know who listens. The command line prints at once;
`train` keeps notes and warnings in its result.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from separable.errors import Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from separable.data.reading_report import Progress
    from separable.workflow.stream.progressive_validation import Line, Record
    from separable.workflow.stream.stream_target import StreamTarget

__all__ = [
    "Kept",
    "Listener",
    "Step",
    "StreamLines",
    "detail",
    "files_read",
    "keeping",
    "listening",
    "note",
    "remembering_files",
    "say",
    "step",
    "stream_lines",
    "warn",
]


class Step(Protocol):
    """A long step under way."""

    def __call__(self, share: float, what: str) -> None:
        """Report the share that is done, from 0 to 1, and what is under way."""

    def reading(self, progress: Progress) -> None:
        """Report how much was read."""


class StreamLines:
    """Progressive validation of a stream, line by line; this one ignores it."""

    def __enter__(self) -> StreamLines:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, loss: str | None, target: StreamTarget, record: Record) -> None:
        """Take the name of the loss, the target and the lines so far."""

    def add_line(self, line: Line) -> None:
        """Take a line."""

    def reading(self, progress: Progress) -> None:
        """Take the progress of reading."""

    def end(self) -> None:
        """End the lines."""


class Listener:
    """A listener that ignores everything; subclasses override what they show."""

    def note(self, message: Message) -> None:
        """Take a decision that the user should know."""

    def warn(self, message: Message) -> None:
        """Take a problem that may bias the result."""

    def say(self, text: str) -> None:
        """Take a line about work under way."""

    def detail(self, text: str) -> None:
        """Take a detail, such as the learners that are compared."""

    def step(self, what: str) -> AbstractContextManager[Step]:  # noqa: ARG002
        """Begin a long step."""
        return _ignored_step()

    def stream_lines(self, what: str) -> StreamLines:  # noqa: ARG002
        """Return what takes the lines of a stream."""
        return StreamLines()


class _IgnoredStep:
    def __call__(self, *_: Any, **__: Any) -> None:
        pass

    def reading(self, progress: Progress) -> None:
        pass


@contextmanager
def _ignored_step() -> Iterator[Step]:
    yield _IgnoredStep()


class Kept(Listener):
    """Keeps notes and warnings, and passes everything on.

    Parameters
    ----------
    listener : Listener
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.notes: list[Message] = []
        self.warnings: list[Message] = []

    def note(self, message: Message) -> None:
        """Keep a note, once."""
        if message not in self.notes:
            self.notes.append(message)
            self._listener.note(message)

    def warn(self, message: Message) -> None:
        """Keep a warning, once."""
        if message not in self.warnings:
            self.warnings.append(message)
            self._listener.warn(message)

    def say(self, text: str) -> None:
        """Pass a line on."""
        self._listener.say(text)

    def detail(self, text: str) -> None:
        """Pass a detail on."""
        self._listener.detail(text)

    def step(self, what: str) -> AbstractContextManager[Step]:
        """Pass a step on."""
        return self._listener.step(what)

    def stream_lines(self, what: str) -> StreamLines:
        """Pass the lines of a stream on."""
        return self._listener.stream_lines(what)


_FILES_READ: ContextVar[dict[str, Any] | None] = ContextVar("files_read", default=None)
_LISTENER: ContextVar[Listener] = ContextVar("listener", default=Listener())  # noqa: B039


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send progress, notes and warnings to a listener."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def remembering_files() -> Iterator[None]:
    """Remember how files are read while it lasts, to find the line of a bad row."""
    token = _FILES_READ.set({**(_FILES_READ.get() or {})})
    try:
        yield
    finally:
        _FILES_READ.reset(token)


def files_read() -> dict[str, Any] | None:
    """Return how files were read, by name; None if nobody asked to remember it."""
    return _FILES_READ.get()


@contextmanager
def keeping() -> Iterator[Kept]:
    """Keep notes and warnings, besides sending them to the listener."""
    kept = Kept(_LISTENER.get())
    with listening(kept):
        yield kept


def _message(text: Message | str) -> Message:
    return text if isinstance(text, Message) else Message(text)


def note(text: Message | str) -> None:
    """Report a decision that the user should know."""
    _LISTENER.get().note(_message(text))


def warn(text: Message | str) -> None:
    """Report a problem that may bias the result."""
    _LISTENER.get().warn(_message(text))


def say(text: str) -> None:
    """Report a line about work under way."""
    _LISTENER.get().say(text)


def detail(text: str) -> None:
    """Report a detail."""
    _LISTENER.get().detail(text)


def stream_lines(what: str) -> StreamLines:
    """Return what takes the lines of a stream."""
    return _LISTENER.get().stream_lines(what)


def step(what: str) -> AbstractContextManager[Step]:
    """Report a long step: "Reading reviews.csv"."""
    return _LISTENER.get().step(what)
