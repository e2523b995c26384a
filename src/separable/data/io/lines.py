"""Line-based readers of text files, and their errors and skipped lines.

Readers take chunks of bytes and return batches of rows; invalid lines raise or are skipped.

A batch has the rows with their labels, queries, weights and tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from separable.data.io.encodings import LineLimit
from separable.data.table import TableError, file_position

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable._core import portable
    from separable.data.rows import Rows

__all__ = ["LineError", "LineReader", "SkippedLine", "SkippedLines", "SparseBatch", "shown"]


#: Characters of the text shown in an error.
MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that cannot be read, with the reason.

    Parameters
    ----------
    source : str
        Name of the file.
    line : int
        Line number, from 1.
    reason : str
        Reason and remedy.
    text : str
        Offending text, shortened.
    column : int, optional
        Byte of the line where the problem starts, from 1, if known.
    kind : str, optional
        Machine-readable reason: ``"value_malformed"``.
    """

    source: str
    line: int
    reason: str
    text: str
    column: int | None = None
    kind: str = ""

    @property
    def where(self) -> str:
        """File, line and byte, as ``train.svm:3:7``."""
        return file_position(self.source, self.line, self.column)

    def __str__(self) -> str:
        byte = "" if self.column is None else f", byte {self.column}"
        return f"line {self.line}{byte}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SkippedLines:
    """Lines skipped while reading: their number and the first ten.

    Parameters
    ----------
    count : int
        Total number.
    examples : tuple of SkippedLine
        The first skipped lines, in file order.
    """

    count: int = 0
    examples: tuple[SkippedLine, ...] = ()

    def __bool__(self) -> bool:
        return self.count > 0


class LineError(TableError):
    """A line that cannot be read.

    Parameters
    ----------
    refused : SkippedLine
        The line.
    advice : str, optional
        Advice for such lines.
    """

    def __init__(self, refused: SkippedLine, advice: str = "") -> None:
        super().__init__(refused, advice)
        self.refused = refused

    def __str__(self) -> str:
        return f"{self.refused.where}: {self.refused.reason}{self.args[1]}"


def shown(text: bytes) -> str:
    r"""Return bytes as an error shows them: decoded, quoted, shortened.

    Examples
    --------
    >>> shown(b"caf\xc3\xa9")
    "'café'"
    >>> shown(b"x" * 100)[-6:]
    "xx'..."
    """
    decoded = text.decode(errors="backslashreplace")
    if len(decoded) <= MAX_SHOWN:
        return repr(decoded)
    return f"{decoded[:MAX_SHOWN]!r}..."


SKIP_ADVICE = ". on_error='skip' skips such lines and counts them."


class LineReader:
    """Incremental reader of text, on top of a parser of the compiled core.

    Parameters
    ----------
    parser : portable.SvmlightParser or portable.VwParser
        Parser of the compiled core.
    on_error : {"raise", "skip"}
        For an invalid line: raise ``LineError``, or count it in ``skipped``.
    name : str
        Name of the file in errors.
    """

    #: Message for each error code of the core, in order.
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
        """Parse the next bytes of the file; a line may continue in the next chunk."""
        if self._finished:
            raise ValueError("feed was called after finish. Make a new reader for another file.")
        data = chunk if isinstance(chunk, bytes) else bytes(memoryview(chunk))
        self._limit.check(data)
        self._stream.feed(data)
        self._raise_fault()

    def finish(self) -> None:
        """Mark the end of the file: its last line may lack a line feed."""
        if not self._finished:
            self._stream.finish()
            self._finished = True
        self._raise_fault()

    @property
    def n_waiting(self) -> int:
        """Number of rows that ``take`` would return."""
        return self._stream.n_rows

    @property
    def skipped(self) -> SkippedLines:
        """Lines skipped so far."""
        if not self._skips:
            return SkippedLines()
        return SkippedLines(
            self._stream.n_faults, tuple(map(self._skipped_line, self._stream.faults))
        )

    def _rows_to_take(self, max_rows: int | None) -> int:
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows must be at least 1. Got {max_rows} instead.")
        self._raise_fault()
        return self.n_waiting if max_rows is None else min(self.n_waiting, max_rows)

    def _skipped_line(self, fault: tuple[int, int, int, bytes]) -> SkippedLine:
        line, column, number, text = fault
        kind, sentence = self.reasons[number]
        reason = self._sentence(sentence, shown(text))
        return SkippedLine(self._name, line, reason, shown(text), column, kind)

    def _sentence(self, sentence: str, text: str) -> str:
        return sentence.format(text=text)

    def _raise_fault(self) -> None:
        if not self._skips and self._stream.n_faults:
            raise LineError(self._skipped_line(self._stream.faults[0]), SKIP_ADVICE)


@dataclass(frozen=True, slots=True)
class SparseBatch:
    """A batch of rows of a file, in file order.

    Parameters
    ----------
    rows : Rows
        CSR, float64; indices are int32, or int64 if needed.
    labels : ndarray of float64 or tuple of str
        One per row: texts if the file has text labels or several labels per row. NaN: unlabelled,
        possible only in Vowpal Wabbit text.
    qid : ndarray of int64, optional
        Query id of each row, -1 if it has none; None if the file has none so far.
    weights : ndarray of float64, optional
        Vowpal Wabbit text: importance weight of each row.
    tags : tuple of str, optional
        Vowpal Wabbit text: tag of each row, empty if none.
    base : ndarray of float64, optional
        Vowpal Wabbit text: initial prediction of each row.
    """

    rows: Rows
    labels: NDArray[np.float64] | tuple[str, ...]
    qid: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    tags: tuple[str, ...] | None = None
    base: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return self.rows.n_rows
