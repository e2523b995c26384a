"""CSV dialects: delimiter, quoting, decimal separator, encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from separable.data.io.csv.records import Records
from separable.data.table import is_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DELIMITERS", "Dialect", "delimiter_name", "sniff_delimiter", "sniff_quoting"]

#: Delimiters in order of preference. A space only between numbers.
DELIMITERS = (",", ";", "\t", "|", " ")

#: Records used for detection.
SNIFF_RECORDS = 200

#: Minimum fraction of the records with the same number of values.
_SAME_WIDTH = 0.5

#: Given more than this many records with commas, a smaller fraction means running text.
_PROSE_RECORDS = 20
_PROSE_WIDTH = 0.75

#: No delimiter: each line is one value. No text has this character.
NO_DELIMITER = "\x1f"


@dataclass(frozen=True)
class Dialect:
    """Dialect of a delimited text.

    Parameters
    ----------
    delimiter : str
        Separator of values.
    quoting : bool
        Whether ``"`` around a value is removed, and delimiters and newlines inside are text.
    header : bool
        Whether the first line has the column names.
    decimal : {".", ","}
        Decimal separator.
    encoding : str
        Character encoding.
    """

    delimiter: str = ","
    quoting: bool = True
    header: bool = True
    decimal: Literal[".", ","] = "."
    encoding: str = "utf-8"

    def __str__(self) -> str:
        quotes = "" if self.quoting else ", quotes are text"
        header = "a header line" if self.header else "no header line"
        decimal = ", decimal comma" if self.decimal == "," else ""
        values = f"{delimiter_name(self.delimiter)} between values"
        if self.delimiter == NO_DELIMITER:
            values = "one value a line"
        return f"{values}, {header}{quotes}{decimal}"


def delimiter_name(delimiter: str) -> str:
    """Return the name of a delimiter for messages."""
    return {"\t": "tab", " ": "space", NO_DELIMITER: "none"}.get(delimiter, repr(delimiter))


def sniff_delimiter(sample: bytes, quoting: bool | None) -> str:
    """Return the delimiter that splits most records into the same number of values.

    Parameters
    ----------
    sample : bytes
        Whole records.
    quoting : bool, optional
        None: not known yet.
    """
    best, best_score, prose = DELIMITERS[0], (0.0, 0), False
    for delimiter in DELIMITERS:
        widths = _widths(sample, delimiter, quoting is not False)
        if not len(widths):
            continue
        fraction, width = _common_width(widths)
        if fraction < _PROSE_WIDTH and len(widths) > _PROSE_RECORDS:
            prose = prose or delimiter == ","
            continue
        if width < 2 or fraction < _SAME_WIDTH:
            continue
        if delimiter == " " and (fraction < 1 or not _mostly_numbers(sample)):
            continue
        if (fraction, width) > best_score:
            best, best_score = delimiter, (fraction, width)
    return NO_DELIMITER if prose and not best_score[1] else best


def sniff_quoting(sample: bytes, delimiter: str) -> bool:
    """Return whether quotes in a sample of whole records delimit values.

    They do not if values continue after a closing quote while, with quotes as text, all lines have
    the same number of values.
    """
    if b'"' not in sample:
        return True
    quoted = Records(sample, delimiter, quoting=True)
    if not quoted.closings_that_go_on():
        return True
    plain = Records(sample, delimiter, quoting=False)
    widths = plain.widths[~plain.empty]
    return not (len(widths) > 1 and bool(np.all(widths == widths[0])))


def _widths(sample: bytes, delimiter: str, quoting: bool) -> NDArray[np.int64]:
    records = Records(sample, delimiter, quoting)
    return records.widths[~records.empty][:SNIFF_RECORDS]


def _common_width(widths: NDArray[np.int64]) -> tuple[float, int]:
    """Return the fraction of the most common width, and that width; the largest in a tie."""
    values, counts = np.unique(widths, return_counts=True)
    index = len(values) - 1 - int(counts[::-1].argmax())
    return float(counts[index]) / len(widths), int(values[index])


def _mostly_numbers(sample: bytes) -> bool:
    lines = sample.decode("utf-8", "replace").splitlines()[1:SNIFF_RECORDS]
    cells = [cell for line in lines for cell in line.split(" ")]
    return bool(cells) and 2 * sum(is_number(cell) for cell in cells) > len(cells)
