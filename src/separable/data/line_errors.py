"""Lines of text files that cannot be read: the error, or the count of what was skipped."""

from __future__ import annotations

from dataclasses import dataclass

from separable.data.table import TableError, at_place

__all__ = ["LineError", "SkippedLine", "SkippedLines", "shown"]

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
