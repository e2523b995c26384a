"""The rows that the model gets most wrong, with the words that misled it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separable.report.page.formatting import as_percent, clean, count, number, shortened

if TYPE_CHECKING:
    from separable.report.contents import HardRow, Mark

__all__ = ["OPEN", "Card", "Piece", "cards"]

#: Maximum rows, values and contributions per row, and characters per text.
ROWS, VALUES, CONTRIBUTIONS, LONGEST = 12, 8, 8, 1500
#: Rows visible at first; the others can be opened.
OPEN = 4
#: Maximum texts per row and marks per text, the strongest first.
TEXTS, MARKS = 3, 120
#: Marks weaker than this fraction of the strongest in their row are left out.
WEAKEST = 0.08
#: Shades of marks.
SHADES = 4


@dataclass(frozen=True)
class Piece:
    """A stretch of text, marked or not.

    Parameters
    ----------
    text : str
    sign : {"", "up", "down"}
        Whether it speaks for what was predicted or against it.
    shade : int
        From 1 to 4, by size.
    title : str
        What it adds, in words.
    """

    text: str
    sign: str = ""
    shade: int = 0
    title: str = ""


@dataclass(frozen=True)
class Card:
    """A hard row, ready to show.

    Parameters
    ----------
    row : str
    y_true, predicted : str
    sure : str
        How wrong the model is, in a few words.
    values : tuple of (str, str)
    bars : tuple of (str, str, str, float)
        Features with what they add, its sign, and its size as a share of the largest.
    texts : tuple of (str, tuple of Piece, str)
        Name, pieces and what is left out.
    """

    row: str
    y_true: str
    predicted: str
    sure: str
    values: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, str, str, float], ...]
    texts: tuple[tuple[str, tuple[Piece, ...], str], ...]


def cards(rows: tuple[HardRow, ...], classified: bool) -> list[Card]:
    """Return rows ready to show, the hardest first as they come."""
    return [_card(row, classified) for row in rows[:ROWS]]


def _card(row: HardRow, classified: bool) -> Card:
    if not classified:
        y_true, predicted = number(float(row.y_true)), number(float(row.predicted))
        sure = f"off by {number(row.margin)}"
    else:
        y_true, predicted = shortened(row.y_true, 60), shortened(row.predicted, 60)
        if row.probability is None:
            sure = f"the score of the true class is lower by {number(row.margin)}"
        else:
            sure = f"{_chance(row.probability)} for the true class"
    largest = max((abs(c) for _, c in row.contributions), default=0.0) or 1.0
    bars = tuple(
        (shortened(name, 60), _signed(c), "up" if c > 0 else "down", abs(c) / largest)
        for name, c in row.contributions[:CONTRIBUTIONS]
    )
    values = tuple((shortened(n, 40), shortened(v, 120)) for n, v in row.values[:VALUES])
    texts = tuple((shortened(n, 60), *_pieces(text, marks)) for n, text, marks in row.texts[:TEXTS])
    return Card(count(row.row), y_true, predicted, sure, values, bars, texts)


def _pieces(text: str, marks: tuple[Mark, ...]) -> tuple[tuple[Piece, ...], str]:
    """Return a text in pieces, those with a mark apart, and what is left out in words."""
    shown, pieces, at = text[:LONGEST], [], 0
    largest = max((abs(mark.contribution) for mark in marks), default=0.0)
    strongest = sorted(marks, key=lambda each: -abs(each.contribution))[:MARKS]
    for mark in sorted(strongest, key=lambda each: (each.start, each.stop)):
        start, stop = max(mark.start, at), min(mark.stop, len(shown))
        fraction = abs(mark.contribution) / largest if largest else 0.0
        if start >= stop or fraction < WEAKEST:
            continue
        if start > at:
            pieces.append(Piece(clean(shown[at:start])))
        sign = "up" if mark.contribution > 0 else "down"
        shade = min(SHADES, 1 + int(SHADES * fraction))
        pieces.append(Piece(clean(shown[start:stop]), sign, shade, _signed(mark.contribution)))
        at = stop
    if at < len(shown):
        pieces.append(Piece(clean(shown[at:])))
    left = len(text) - len(shown)
    return tuple(pieces), f"{count(left)} more characters" if left else ""


def _chance(probability: float) -> str:
    return f"less than {as_percent(0.001)}" if probability < 0.001 else as_percent(probability)


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + number(value, 3)
