"""Lines of text files that cannot be read: the error, or the count of what was skipped.

What readers of text, one row a line, share: chunks in, batches out, lines refused or skipped.

Rows of a text file with what stands beside them: labels, queries, weights, tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from separable.data.io.encodings import LineLimit
from separable.data.table import TableError, at_place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable._core import portable
    from separable.data.rows import Rows

__all__ = ["LineError", "LineReader", "SkippedLine", "SkippedLines", "SparseBatch", "shown"]


#: Characters of the text that an error shows.
LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that cannot be read, and why.

    Parameters
    ----------
    source : str
        The file.
    line : int
        Its number, from 1.
    reason : str
        The reason and the remedy, for people.
    text : str
        What stands there, cut where it is long.
    column : int, optional
        The byte of the line at which the trouble starts, from 1, where that is known.
    kind : str, optional
        The reason in one or two words, for programs: ``"value_malformed"``.
    """

    source: str
    line: int
    reason: str
    text: str
    column: int | None = None
    kind: str = ""

    @property
    def where(self) -> str:
        """The file, the line and the byte, as ``train.svm:3:7``."""
        return at_place(self.source, self.line, self.column)

    def __str__(self) -> str:
        byte = "" if self.column is None else f", byte {self.column}"
        return f"line {self.line}{byte}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SkippedLines:
    """Lines skipped while reading: how many, and the first ten.

    Parameters
    ----------
    count : int
        All of them.
    examples : tuple of SkippedLine
        The first, in the order of the file.
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
        What to do about lines like it.
    """

    def __init__(self, refused: SkippedLine, advice: str = "") -> None:
        super().__init__(refused, advice)
        self.refused = refused

    def __str__(self) -> str:
        return f"{self.refused.where}: {self.refused.reason}{self.args[1]}"


def shown(text: bytes) -> str:
    r"""Return bytes as an error shows them: decoded, quoted, cut.

    Examples
    --------
    >>> shown(b"caf\xc3\xa9")
    "'café'"
    >>> shown(b"x" * 100)[-6:]
    "xx'..."
    """
    decoded = text.decode(errors="backslashreplace")
    if len(decoded) <= LONGEST_SHOWN:
        return repr(decoded)
    return f"{decoded[:LONGEST_SHOWN]!r}..."


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


@dataclass(frozen=True, slots=True)
class SparseBatch:
    """Some rows of a file, in its order.

    Parameters
    ----------
    rows : Rows
        CSR, float64; columns are int32, or int64 where one does not fit.
    labels : ndarray of float64 or tuple of str
        One a row: texts where the file has text or several labels a row. NaN: unlabelled, which
        only Vowpal Wabbit text knows.
    qid : ndarray of int64, optional
        The query of each row, -1 for a row without one; None: the file has none so far.
    weights : ndarray of float64, optional
        Vowpal Wabbit text: the importance of each row.
    tags : tuple of str, optional
        Vowpal Wabbit text: the tag of each row, empty where there is none.
    base : ndarray of float64, optional
        Vowpal Wabbit text: the initial prediction of each row.
    """

    rows: Rows
    labels: NDArray[np.float64] | tuple[str, ...]
    qid: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    tags: tuple[str, ...] | None = None
    base: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return self.rows.n_rows
