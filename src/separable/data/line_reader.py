"""What readers of text, one row a line, share: chunks in, batches out, lines refused or skipped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from separable.data.line_errors import LineError, SkippedLine, SkippedLines, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable._core import native

__all__ = ["LineReader", "check_choice", "feed_all", "thread_count"]

SKIP_ADVICE = ". on_error='skip' leaves such lines out and counts them."
CHUNK = 1 << 22


class LineReader:
    """Reads text from a stream of chunks by a parser of the compiled core.

    Parameters
    ----------
    parser : native.SvmlightParser or native.VwParser
        What reads.
    on_error : {"raise", "skip"}
        What a line that cannot be read does: raise ``LineError``, or be counted in ``skipped``.
    name : str
        What errors call the file.
    """

    #: Each reason of the core, in its order, with a sentence.
    reasons: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(
        self,
        parser: native.SvmlightParser | native.VwParser,
        on_error: Literal["raise", "skip"],
        name: str,
    ) -> None:
        self._stream = parser
        self._skips = on_error == "skip"
        self._name = name
        self._finished = False

    def feed(self, chunk: Any) -> None:
        """Read the next bytes of the file; a line may go on in the next chunk."""
        if self._finished:
            raise ValueError("feed was called after finish. Make a new reader for another file.")
        self._stream.feed(chunk)
        self._raise_fault()

    def finish(self) -> None:
        """Say that the file has ended: its last line may lack a line feed."""
        if not self._finished:
            self._stream.finish()
            self._finished = True
        self._raise_fault()

    @property
    def n_waiting(self) -> int:
        """The number of rows that ``take`` would return."""
        return self._stream.n_rows

    @property
    def skipped(self) -> SkippedLines:
        """The lines left out so far."""
        if not self._skips:
            return SkippedLines()
        return SkippedLines(self._stream.n_faults, tuple(map(self._told, self._stream.faults)))

    def _rows_to_take(self, max_rows: int | None) -> int:
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows must be at least 1. Got {max_rows} instead.")
        self._raise_fault()
        return self.n_waiting if max_rows is None else min(self.n_waiting, max_rows)

    def _told(self, fault: tuple[int, int, int, bytes]) -> SkippedLine:
        line, column, number, text = fault
        kind, sentence = self.reasons[number]
        return SkippedLine(line, column, shown(text), kind, self._sentence(sentence, shown(text)))

    def _sentence(self, sentence: str, text: str) -> str:
        return sentence.format(text=text)

    def _raise_fault(self) -> None:
        if not self._skips and self._stream.n_faults:
            raise LineError(self._name, self._told(self._stream.faults[0]), SKIP_ADVICE)


def check_choice(name: str, value: object, choices: Sequence[object], owner: str) -> None:
    """Refuse a value that is none of the choices."""
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(
            f"The {name!r} parameter of {owner} must be one of {listed}. Got {value!r} instead."
        )


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("The 'n_jobs' parameter must not be 0. Give None for 1, or -1 for all.")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def feed_all(reader: Any, source: Any, chunk: int = CHUNK) -> None:
    """Feed a reader the bytes, or the file of a path, to the end."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        reader.feed(source)
    else:
        buffer = bytearray(chunk)
        with Path(source).open("rb", buffering=0) as file:
            while size := file.readinto(buffer):
                reader.feed(memoryview(buffer)[:size])
    reader.finish()
