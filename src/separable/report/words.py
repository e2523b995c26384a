"""Names, numbers and shares as a page shows them."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

from separable.model.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "LEVEL",
    "MINUS",
    "NONE",
    "as_percent",
    "clean",
    "count",
    "distinct",
    "figure",
    "isolated",
    "metric_text",
    "more_or_less",
    "number",
    "plural",
    "setting",
    "shortened",
]

#: A narrow space that breaks no line: between groups of digits, and before the percent sign.
SPACE = "\u202f"
#: The minus sign of numbers, and what stands where there is none.
MINUS, NONE = "\u2212", "\u2013"
#: The share of intervals that hold the truth, as it is told.
LEVEL = f"95{SPACE}%"
#: Metrics that are shares of all rows, told in percent.
PERCENT = {"accuracy", "balanced_accuracy", "precision", "recall"}
#: What learning curves measure.
OF_LEARNING_CURVES = {
    "1 - error rate": "accuracy",
    "MSE0 - MSE": "squared error less than by the mean",
}
#: Longest name in a table or on an axis, in characters.
NAME_WIDTH, AXIS_WIDTH = 80, 28
#: The letters of scripts that are written from right to left, and what steers directions.
RIGHT_TO_LEFT = {"R", "AL", "RLE", "RLO", "RLI", "LRO", "LRE", "LRI", "FSI"}


def clean(text: object) -> str:
    """Return text without characters that a page cannot hold; lines and tabs stay."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs") else "\ufffd"
        for char in str(text).replace("\r\n", "\n")
    )


def shortened(text: object, width: int = NAME_WIDTH) -> str:
    """Return text on one line, without its middle where it is longer than ``width``.

    Examples
    --------
    >>> from separable.report.words import shortened
    >>> shortened("messages sent at night", 12)
    'messag…night'
    """
    line = " ".join(clean(str(text)[: 4 * width] if len(str(text)) > 8 * width else text).split())
    if len(str(text)) > 8 * width:  # the end of what is long, without cleaning all of it
        line += "…" + " ".join(clean(str(text)[-width:]).split())
    if not line:
        return "(empty)"
    if len(line) <= width:
        return line
    head = width // 2
    return f"{line[:head]}…{line[len(line) - (width - head - 1) :]}"


def isolated(text: str) -> str:
    """Return text whose direction does not reach what stands beside it, where there is no bdi."""
    if any(unicodedata.bidirectional(char) in RIGHT_TO_LEFT for char in text):
        return f"\u2068{text}\u2069"
    return text


def distinct(names: Iterable[object], width: int = AXIS_WIDTH) -> list[str]:
    """Return short names for an axis, no two of them the same.

    Examples
    --------
    >>> from separable.report.words import distinct
    >>> distinct(["spam", "spam ", "ham"])
    ['spam', 'spam (2)', 'ham']
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        short, k = isolated(shortened(name, width)), 1
        told = short
        while told in taken:
            k += 1
            told = f"{short} ({k})"
        taken.add(told)
        found.append(told)
    return found


def count(n: float) -> str:
    r"""Return a count, its digits in groups.

    Examples
    --------
    >>> from separable.report.words import count
    >>> count(12345).replace("\u202f", "_")
    '12_345'
    """
    return f"{n:,.0f}".replace(",", SPACE)


def plural(n: int, what: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> from separable.report.words import plural
    >>> plural(1, "row"), plural(2, "class", "classes")
    ('1 row', '2 classes')
    """
    return f"{count(n)} {what if n == 1 else many or what + 's'}"


def number(value: float | None, digits: int = 4) -> str:
    r"""Return a number in so many digits, with a true minus sign.

    Examples
    --------
    >>> from separable.report.words import NONE, number
    >>> number(1234567.0).replace("\u202f", "_"), number(0.00001234), number(None) == NONE
    ('1_235_000', '1.234e-05', True)
    """
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value and (abs(value) < 1e-4 or abs(value) >= 1e9):
        return f"{value:.{digits}g}".replace("-", MINUS, int(value < 0))
    places = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    told = f"{round(value, places):,.{max(0, places)}f}"
    return told.replace(",", SPACE).replace("-", MINUS)


def as_percent(share: float | None, digits: int = 1) -> str:
    r"""Return a share in percent.

    Examples
    --------
    >>> from separable.report.words import as_percent
    >>> as_percent(0.97123).replace("\u202f", "_")
    '97.1_%'
    """
    if share is None or math.isnan(share):
        return NONE
    return f"{100 * share:.{digits}f}{SPACE}%".replace("-", MINUS)


def setting(value: object) -> str:
    """Return the value of a parameter as one would type it.

    Examples
    --------
    >>> from separable.report.words import setting
    >>> setting(1.0), setting(0.010000001), setting("l2")
    ('1', '0.01', 'l2')
    """
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    return number(value) if isinstance(value, float) else shortened(value, 30)


def metric_text(name: str) -> str:
    """Return what a metric is called in words; names that are not known stay."""
    if name == "r2":
        return "R²"
    if name in METRICS:
        return METRICS[name].text
    return OF_LEARNING_CURVES.get(name, name.replace("_", " "))


def figure(metric: str, value: float | None) -> str:
    """Return a figure by its metric: shares of rows in percent, others as numbers."""
    if value is None:
        return NONE
    if metric in PERCENT:
        return as_percent(value)
    if _is_plain(metric):
        return f"{value:.3f}".replace("-", MINUS)
    return number(value)


def more_or_less(metric: str, error: float | None) -> str:
    """Return the standard error of a figure, or nothing where there is none."""
    if error is None or math.isnan(error):
        return ""
    if metric in PERCENT:
        return f"± {100 * error:.1f}"
    if _is_plain(metric):
        return f"± {error:.3f}"
    return f"± {number(error, 2)}"


def _is_plain(metric: str) -> bool:
    """Whether a figure has no unit, so that three digits behind the point are enough."""
    return metric == "r2" or (metric in METRICS and METRICS[metric].task == "classification")
