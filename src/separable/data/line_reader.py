"""What readers of text, one row a line, share: chunks in, batches out, lines refused or skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from separable.data.encodings import LineLimit
from separable.data.line_errors import LineError, SkippedLine, SkippedLines, shown

if TYPE_CHECKING:
    from separable._core import portable

__all__ = ["LineReader"]

SKIP_ADVICE = ". on_error='skip' leaves such lines out and counts them."


class LineReader:
    """Reads text from a stream of chunks by a parser of the compiled core.

    Parameters
    ----------
    parser : portable.SvmlightParser or portable.VwParser
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
        parser: portable.SvmlightParser | portable.VwParser,
        on_error: Literal["raise", "skip"],
        name: str,
    ) -> None:
        self._stream = parser
        self._skips = on_error == "skip"
        self._name = name
        self._finished = False
        self._limit = LineLimit(name)

    def feed(self, chunk: Any) -> None:
        """Read the next bytes of the file; a line may go on in the next chunk."""
        if self._finished:
            raise ValueError("feed was called after finish. Make a new reader for another file.")
        data = chunk if isinstance(chunk, bytes) else bytes(memoryview(chunk))
        self._limit.check(data)
        self._stream.feed(data)
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
        reason = self._sentence(sentence, shown(text))
        return SkippedLine(self._name, line, reason, shown(text), column, kind)

    def _sentence(self, sentence: str, text: str) -> str:
        return sentence.format(text=text)

    def _raise_fault(self) -> None:
        if not self._skips and self._stream.n_faults:
            raise LineError(self._told(self._stream.faults[0]), SKIP_ADVICE)
