"""Progress of reading."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import IO

__all__ = ["Progress", "ProgressLine"]


@dataclass(frozen=True)
class Progress:
    """Progress of a reader.

    Parameters
    ----------
    bytes_read : int
        Bytes read, before decompression.
    bytes_total : int or None
        Total size; None if unknown, as for standard input.
    rows : int
    """

    bytes_read: int
    bytes_total: int | None
    rows: int

    @property
    def share(self) -> float | None:
        """Fraction read, from 0 to 1."""
        return self.bytes_read / self.bytes_total if self.bytes_total else None

    def __str__(self) -> str:
        share = "" if self.share is None else f"{self.share:4.0%}  "
        return f"{share}{self.bytes_read / 1e6:.0f} MB  {self.rows} rows"


class ProgressLine:
    """Progress display on a single line that overwrites itself.

    Parameters
    ----------
    stream : text file, optional
        Standard error by default.
    every : float, default 0.2
        Seconds between updates.

    Examples
    --------
    >>> import sys
    >>> line = ProgressLine(sys.stdout, every=0)
    >>> line(Progress(5_000_000, 10_000_000, 1000))  # doctest: +SKIP
     50%  5 MB  1000 rows
    """

    def __init__(self, stream: IO[str] | None = None, every: float = 0.2) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._last = float("-inf")
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Update the line, at most every ``every`` seconds."""
        ended = progress.share is not None and progress.share >= 1
        now = time.monotonic()
        if now - self._last < self._every and not ended:
            return
        self._last = now
        text = str(progress)
        self._stream.write("\r" + text.ljust(self._width) + "\n" * ended)
        self._stream.flush()
        self._width = len(text)
