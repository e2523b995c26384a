"""Wording of the page: names and numbers, the summary and the verdicts in sentences."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.model.metrics.metric_registry import METRICS
from separable.plot.displays.calibration import NORMAL_QUANTILE, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from separable.geometry.verdict import Verdict
    from separable.model.metrics.evaluation import Evaluation
    from separable.report.contents import Certificate, Measured


__all__ = [
    "LEVEL",
    "MINUS",
    "NONE",
    "Headline",
    "as_percent",
    "certificate_text",
    "clean",
    "count",
    "difference",
    "distinct",
    "figure",
    "headline",
    "metric_text",
    "more_or_less",
    "number",
    "plain_numbers",
    "plural",
    "sealed",
    "separability_text",
    "setting",
    "shortened",
]


#: A narrow no-break space: between groups of digits, and before the percent sign.
SPACE = "\u202f"
#: The minus sign of numbers, and the sign for an absent value.
MINUS, NONE = "\u2212", "\u2013"
#: Confidence level of intervals, as shown.
LEVEL = f"95{SPACE}%"
#: Metrics that are fractions of all rows, shown in percent.
PERCENT = {"accuracy", "balanced_accuracy", "precision", "recall"}
#: Names of the scores of learning curves.
OF_LEARNING_CURVES = {
    "1 - error rate": "accuracy",
    "MSE0 - MSE": "reduction of the MSE",
}
#: Longest name in a table or on an axis, in characters.
NAME_WIDTH, AXIS_WIDTH = 80, 22
#: Control characters, lone surrogates, and characters that change the text direction.
UNFIT = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


#: Errors up to this fraction of those of the constant prediction count as 0: rounding.
ROUNDING = 1e-9


def clean(text: object) -> str:
    """Return text without characters that a page cannot hold or that change the text direction.

    Line breaks and tabs stay.
    """
    return UNFIT.sub("\ufffd", str(text).replace("\r\n", "\n"))


def shortened(text: object, width: int = NAME_WIDTH) -> str:
    """Return text on one line, without its middle if it is longer than ``width``.

    Text that is written from right to left does not affect the text around it.

    Examples
    --------
    >>> from separable.report.page.wording import shortened
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
    """Return a text; of a long one, only the start and the end, which is all that is shown."""
    return text if len(text) <= 10 * width else f"{text[: 4 * width]}…{text[-4 * width :]}"


def distinct(names: Iterable[object], width: int = AXIS_WIDTH) -> list[str]:
    """Return short and distinct names for an axis.

    Examples
    --------
    >>> from separable.report.page.wording import distinct
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
    """Return a name as a value of a chart: between two invisible characters.

    Charts use values as keys of objects, in which names like ``constructor`` are reserved.
    """
    return name if name.startswith("\u2068") else f"\u2068{name}\u2069"


def count(n: float) -> str:
    r"""Return a count with grouped digits.

    Examples
    --------
    >>> from separable.report.page.wording import count
    >>> count(12345).replace("\u202f", "_")
    '12_345'
    """
    return f"{n:,.0f}".replace(",", SPACE)


def plural(n: int, what: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> from separable.report.page.wording import plural
    >>> plural(1, "row"), plural(2, "class", "classes")
    ('1 row', '2 classes')
    """
    return f"{count(n)} {what if n == 1 else many or what + 's'}"


def number(value: float | None, digits: int = 4) -> str:
    r"""Return a number with the given significant digits and a typographic minus sign.

    Examples
    --------
    >>> from separable.report.page.wording import NONE, number
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


def plain_numbers(sentence: str) -> str:
    r"""Return a sentence with numbers such as 5.1e+03 written out.

    Examples
    --------
    >>> from separable.report.page.wording import plain_numbers
    >>> plain_numbers("a gain of 5.1e+03").replace("\u202f", "_")
    'a gain of 5_100'
    """
    return re.sub(r"-?[0-9.]+e[+-][0-9]+", lambda match: number(float(match[0])), sentence)


def as_percent(fraction: float | None, digits: int = 1) -> str:
    r"""Return a fraction in percent.

    Examples
    --------
    >>> from separable.report.page.wording import as_percent
    >>> as_percent(0.97123).replace("\u202f", "_")
    '97.1_%'
    """
    if fraction is None or math.isnan(fraction):
        return NONE
    return f"{100 * fraction:.{digits}f}{SPACE}%".replace("-", MINUS)


def setting(value: object) -> str:
    """Return the value of a parameter as Python code.

    Examples
    --------
    >>> from separable.report.page.wording import setting
    >>> setting(1.0), setting(0.010000001), setting("l2")
    ('1', '0.01', 'l2')
    """
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    return number(value) if isinstance(value, float) else shortened(value, 30)


def metric_text(name: str) -> str:
    """Return the name of a metric in words; unknown names stay."""
    if name == "r2":
        return "R²"
    if name in METRICS:
        return METRICS[name].text
    return OF_LEARNING_CURVES.get(name, name.replace("_", " "))


def figure(metric: str, value: float | None) -> str:
    """Return a score as text: fractions of rows in percent, others as numbers."""
    if value is None:
        return NONE
    if metric in PERCENT:
        return as_percent(value)
    if _is_plain(metric):
        return f"{value:.3f}".replace("-", MINUS)
    return number(value)


def difference(metric: str, value: float) -> str:
    """Return the absolute difference of two scores: fractions in percentage points."""
    if metric in PERCENT:
        return f"{100 * abs(value):.1f}"
    return f"{abs(value):.3f}" if _is_plain(metric) else number(abs(value), 2)


def more_or_less(metric: str, error: float | None) -> str:
    """Return the standard error of a score; empty if there is none."""
    return "" if error is None or math.isnan(error) else f"± {difference(metric, error)}"


def _is_plain(metric: str) -> bool:
    """Whether a score has no unit, so that three decimals are enough."""
    return metric == "r2" or (metric in METRICS and METRICS[metric].task == "classification")


@dataclass(frozen=True)
class Headline:
    """Summary of the performance, for everybody.

    Parameters
    ----------
    figure : str
        The number.
    means : str
        Its meaning, to be read after the number.
    interval : str
        Its uncertainty, in a sentence.
    constant_figure, constant_means : str
        The same for the best constant prediction.
    conclusion : str
        How the two compare, in a sentence.
    clear : bool or None
        Whether the model is clearly better; None without an interval.
    scale : tuple of float or None
        Positions between 0 and 1 of figure, low, high, constant.
    ends : tuple of str
        Labels of 0 and 1.
    """

    figure: str
    means: str
    interval: str
    constant_figure: str
    constant_means: str
    conclusion: str
    clear: bool | None
    scale: tuple[float, float, float, float] | None
    ends: tuple[str, str]


def headline(measured: Measured, target: str) -> Headline:
    """Return the main metric, beside the best constant prediction."""
    result = measured.figures
    if result.task == "classification":
        return _of_classes(result, measured.weight is None, _which_rows(measured))
    return _of_numbers(result, target, _which_rows(measured))


def _which_rows(measured: Measured) -> str:
    """Return the number of test rows, and whether the model was trained on them."""
    rows = plural(measured.figures.rows, "row")
    if measured.is_new is None:
        return rows
    if measured.is_new:
        return f"{rows} that the model had not seen"
    seen = "" if measured.seen == measured.figures.rows else f" {measured.seen} of them"
    return f"{rows},{seen} seen in training,"


def _of_classes(evaluation: Evaluation, counted: bool, rows: str) -> Headline:
    accuracy, constant = evaluation.figures["accuracy"], evaluation.constant_figures["accuracy"]
    if counted:
        low, high = (
            float(end[0]) for end in wilson(np.array([accuracy]), np.array([evaluation.rows]))
        )
    else:
        error = evaluation.standard_errors.get("accuracy", math.nan)
        low, high = (
            max(0.0, accuracy - NORMAL_QUANTILE * error),
            min(1.0, accuracy + NORMAL_QUANTILE * error),
        )
    return Headline(
        as_percent(accuracy),
        f"accuracy on {rows.rstrip(',')}",
        f"{LEVEL} interval: {as_percent(low)} to {as_percent(high)}.",
        as_percent(constant),
        f"accuracy of always predicting {shortened(evaluation.constant, 40)}",
        _conclusion(1 - accuracy, 1 - constant, (1 - high, 1 - low), "mistakes", "fewer"),
        _clear(1 - constant, (1 - high, 1 - low)),
        (accuracy, low, high, constant),
        (as_percent(0, 0), as_percent(1, 0)),
    )


def _of_numbers(evaluation: Evaluation, target: str, rows: str) -> Headline:
    error, constant = evaluation.figures["mae"], evaluation.constant_figures["mae"]
    if error <= ROUNDING * constant:
        error = 0.0
    deviation = evaluation.standard_errors.get("mae", math.nan)
    low, high = max(0.0, error - NORMAL_QUANTILE * deviation), error + NORMAL_QUANTILE * deviation
    top = 1.08 * max(high if math.isfinite(high) else error, constant, 1e-300)
    answer = evaluation.constant
    always = "constant means" if isinstance(answer, list) else f"the mean, {number(answer)}"
    known = math.isfinite(deviation) and error > 0
    return Headline(
        number(error, 3),
        f"mean absolute error of the predictions of {shortened(target, 40)}, on {rows.rstrip(',')}",
        f"{LEVEL} interval: {number(low, 3)} to {number(high, 3)}." if known else "",
        number(constant, 3),
        f"mean absolute error of always predicting {always}",
        _conclusion(error, constant, (low, high), "error", "smaller"),
        _clear(constant, (low, high)),
        (error / top, low / top, high / top, constant / top) if known else None,
        ("0", number(top, 3)),
    )


def _clear(constant: float, ends: tuple[float, float]) -> bool | None:
    return None if math.isnan(ends[1]) else ends[1] < constant


def _conclusion(
    error: float, constant: float, ends: tuple[float, float], what: str, less: str
) -> str:
    """Return a sentence that compares the errors with those of the constant prediction."""
    several = what.endswith("s")
    if not constant > 0:
        return "The constant prediction makes no error here, and no model can do better."
    if ends[0] <= constant <= ends[1]:
        return (
            "The difference is within the uncertainty: the model is not clearly better than the "
            "constant."
        )
    if not error:
        return f"The model makes no {'mistake' if several else what} on these rows."
    percent = as_percent(abs(1 - error / constant), 0)
    if error < constant:
        return (
            f"The model makes {percent} {less} {what} than the constant."
            if several
            else f"The model's {what} is {percent} {less} than that of the constant."
        )
    return "The model is worse than the constant prediction."


def separability_text(verdict: Verdict) -> tuple[str, str]:
    """Return a verdict as a phrase, and its meaning in sentences."""
    rows, several = plural(verdict.shape[0], "row"), len(verdict.classes) > 2
    first, second = (shortened(label, 40) for label in verdict.classes[:2].tolist())
    border = "hyperplanes between the classes" if several else "a hyperplane"
    if verdict.kind == "separable":
        how = (
            f"Weights of each class put all {rows} on the right side of {border}."
            if several
            else f"A hyperplane has all rows of {first} on one side and all of {second} on the "
            f"other, {rows} in all."
        )
        return "Separable", (
            f"{how} The margin is {number(verdict.margin)}, and the maximal margin is at most "
            f"{number(verdict.margin_bound)}."
        )
    if verdict.kind == "quasi-separable":
        return "Weakly separable", (
            f"The classes can only be separated with some of the {rows} on {border}."
        )
    if verdict.kind == "overlap":
        what = "the classes" if several else f"{first} from {second}"
        return "Not separable", f"No linear model separates {what} without errors on the {rows}."
    return "Undecided", (
        f"Whether a linear model classifies all {rows} correctly is not proved either way."
    )


def certificate_text(certificate: Certificate) -> str:
    """Return a sentence with the bound on the distance from the optimum."""
    of = "" if certificate.models == 1 else f" (the largest of {certificate.models} models)"
    gap, tol = number(certificate.relative_gap, 3), number(certificate.tol, 3)
    where = "a local optimum" if certificate.is_local else "the optimum"
    if certificate.converged:
        return (
            f"Certified: the relative gap between the objective and {where} is at most {gap}{of}. "
            f"The tolerance was {tol}."
        )
    return (
        f"The fit stopped before it reached the tolerance {tol}: the relative gap between the "
        f"objective and {where} is at most {gap}{of}. More iterations would help."
    )
