"""Names, numbers and percentages as the page shows them."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

from separable.model.metrics.metric_registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "LEVEL",
    "MINUS",
    "NONE",
    "as_percent",
    "clean",
    "count",
    "difference",
    "distinct",
    "figure",
    "metric_text",
    "more_or_less",
    "number",
    "plural",
    "sealed",
    "setting",
    "shortened",
]

#: A narrow space that breaks no line: between groups of digits, and before the percent sign.
SPACE = "\u202f"
#: The minus sign of numbers, and what stands where there is none.
MINUS, NONE = "\u2212", "\u2013"
#: Confidence level of intervals, as shown.
LEVEL = f"95{SPACE}%"
#: Metrics that are fractions of all rows, shown in percent.
PERCENT = {"accuracy", "balanced_accuracy", "precision", "recall"}
#: What learning curves measure.
OF_LEARNING_CURVES = {
    "1 - error rate": "accuracy",
    "MSE0 - MSE": "reduction of the squared error of the mean",
}
#: Longest name in a table or on an axis, in characters.
NAME_WIDTH, AXIS_WIDTH = 80, 22
#: Control characters, halves of pairs, and what steers the direction of text behind it.
UNFIT = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def clean(text: object) -> str:
    """Return text without characters that a page cannot hold, or that would turn what follows.

    Lines and tabs stay.
    """
    return UNFIT.sub("\ufffd", str(text).replace("\r\n", "\n"))


def shortened(text: object, width: int = NAME_WIDTH) -> str:
    """Return text on one line, without its middle where it is longer than ``width``.

    Text that is written from right to left leaves what stands beside it as it is.

    Examples
    --------
    >>> from separable.report.page.formatting import shortened
    >>> shortened("messages sent at night", 12)
    'messag…night'
    """
    line = " ".join(clean(_ends(str(text), width)).split())
    if not line:
        return "(empty)"
    if len(line) > width:
        head = width // 2
        line = f"{line[:head]}…{line[len(line) - (width - head - 1) :]}"
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in line):
        return f"\u2068{line}\u2069"
    return line


def _ends(text: str, width: int) -> str:
    """Return text, of a long one the beginning and the end, which is all that will be seen."""
    return text if len(text) <= 10 * width else f"{text[: 4 * width]}…{text[-4 * width :]}"


def distinct(names: Iterable[object], width: int = AXIS_WIDTH) -> list[str]:
    """Return short names for an axis, no two of them the same.

    Examples
    --------
    >>> from separable.report.page.formatting import distinct
    >>> distinct(["spam", "spam ", "ham"])
    ['spam', 'spam (2)', 'ham']
    """
    result: list[str] = []
    taken: set[str] = set()
    for each in names:
        short, k = shortened(each, width), 1
        name = short
        while name in taken:
            k += 1
            name = f"{short} ({k})"
        taken.add(name)
        result.append(name)
    return result


def sealed(name: str) -> str:
    """Return a name as a value of a chart: between two characters that are not seen.

    Charts keep values as keys of objects, where ``constructor`` and the like are taken already.
    """
    return name if name.startswith("\u2068") else f"\u2068{name}\u2069"


def count(n: float) -> str:
    r"""Return a count, its digits in groups.

    Examples
    --------
    >>> from separable.report.page.formatting import count
    >>> count(12345).replace("\u202f", "_")
    '12_345'
    """
    return f"{n:,.0f}".replace(",", SPACE)


def plural(n: int, what: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> from separable.report.page.formatting import plural
    >>> plural(1, "row"), plural(2, "class", "classes")
    ('1 row', '2 classes')
    """
    return f"{count(n)} {what if n == 1 else many or what + 's'}"


def number(value: float | None, digits: int = 4) -> str:
    r"""Return a number with the given significant digits and a typographic minus sign.

    Examples
    --------
    >>> from separable.report.page.formatting import NONE, number
    >>> number(1234567.0).replace("\u202f", "_"), number(0.00001234), number(None) == NONE
    ('1_235_000', '1.234e-05', True)
    """
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value and (abs(value) < 1e-4 or abs(value) >= 1e9):
        return f"{value:.{digits}g}".replace("-", MINUS, int(value < 0))
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    if value == int(value):
        decimals = min(decimals, 0)
    text = f"{round(value, decimals):,.{max(0, decimals)}f}"
    return text.replace(",", SPACE).replace("-", MINUS)


def as_percent(fraction: float | None, digits: int = 1) -> str:
    r"""Return a share in percent.

    Examples
    --------
    >>> from separable.report.page.formatting import as_percent
    >>> as_percent(0.97123).replace("\u202f", "_")
    '97.1_%'
    """
    if fraction is None or math.isnan(fraction):
        return NONE
    return f"{100 * fraction:.{digits}f}{SPACE}%".replace("-", MINUS)


def setting(value: object) -> str:
    """Return the value of a parameter as one would type it.

    Examples
    --------
    >>> from separable.report.page.formatting import setting
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


def difference(metric: str, value: float) -> str:
    """Return how far two figures are apart: shares in points of percent, without the sign."""
    if metric in PERCENT:
        return f"{100 * abs(value):.1f}"
    return f"{abs(value):.3f}" if _is_plain(metric) else number(abs(value), 2)


def more_or_less(metric: str, error: float | None) -> str:
    """Return the standard error of a figure, or nothing where there is none."""
    return "" if error is None or math.isnan(error) else f"± {difference(metric, error)}"


def _is_plain(metric: str) -> bool:
    """Whether a figure has no unit, so that three digits behind the point are enough."""
    return metric == "r2" or (metric in METRICS and METRICS[metric].task == "classification")
