"""Lines of text files that cannot be read: the error, or the count of what was skipped."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LineError", "SkippedLine", "SkippedLines", "shown"]

#: Characters of the text that an error shows.
LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that was refused, and why.

    Parameters
    ----------
    line : int
        Its number, from 1.
    column : int
        The byte of the line at which the trouble starts, from 1.
    text : str
        What stands there, cut to 60 characters.
    kind : str
        The reason in one or two words, for programs: ``"value_malformed"``.
    reason : str
        The reason and the remedy, for people.
    """

    line: int
    column: int
    text: str
    kind: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}, byte {self.column}: {self.reason}"


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


class LineError(ValueError):
    """A line that cannot be read.

    Parameters
    ----------
    name : str
        The file.
    refused : SkippedLine
        The line.
    advice : str, optional
        What to do about lines like it.
    """

    def __init__(self, name: str, refused: SkippedLine, advice: str = "") -> None:
        super().__init__(f"{name}, {refused}{advice}")
        self.name = name
        self.refused = refused


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
