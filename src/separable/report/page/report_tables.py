"""Tables of the page: metrics, classes, learners, columns and the hardest rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separable.model.metrics.evaluation import (
    OF_MANY_CLASSES,
    OF_NUMBERS,
    OF_ONE_CLASS,
    POSITIVE,
)
from separable.report.charts.chart import Table
from separable.report.page.wording import (
    NONE,
    as_percent,
    clean,
    count,
    difference,
    figure,
    metric_text,
    more_or_less,
    number,
    plural,
    setting,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.model.metrics.evaluation import Evaluation
    from separable.report.contents import Column, Data, HardRow, Mark, Standing, Tried


__all__ = ["OPEN", "by_class", "cards", "columns", "figures", "parameters", "standings"]

#: Maximum number of listed classes and columns.
CLASSES, COLUMNS = 60, 120
#: Maximum number of listed learners.
STANDINGS = 60
#: Maximum number of parameters of a learner.
PARAMETERS = 12

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


def figures(evaluation: Evaluation) -> Table:
    """Return the metrics beside those of the constant prediction."""
    if evaluation.task == "regression":
        names: tuple[str, ...] = OF_NUMBERS
    else:
        names = OF_MANY_CLASSES if evaluation.positive is None else OF_ONE_CLASS
    rows = [
        (
            _called(evaluation, name),
            figure(name, evaluation.figures[name]),
            more_or_less(name, evaluation.standard_errors.get(name)),
            figure(name, evaluation.constant_figures.get(name)),
        )
        for name in names
        if name in evaluation.figures
    ]
    cost = evaluation.cost
    if cost is not None:
        name = f"mean cost (fp {number(cost.false_positive)}, fn {number(cost.false_negative)})"
        error = f"{cost.standard_error:.2g}"
        rows.append((name, number(cost.mean), error, number(cost.constant)))
    return Table(("", "the model", "standard error", "best constant"), tuple(rows))


def _called(evaluation: Evaluation, name: str) -> str:
    if name in POSITIVE and evaluation.positive is not None:
        return f"{metric_text(name)} of {shortened(evaluation.positive, 30)}"
    if name == "roc_auc" and evaluation.positive is None:
        return f"mean {metric_text(name)}, one-vs-rest"
    return metric_text(name)


def by_class(evaluation: Evaluation) -> Table:
    """Return precision, recall and F1 of each class."""
    rows = [
        (
            shortened(each.label, 60) + ("" if each.known else " (unknown to the model)"),
            count(each.rows),
            count(each.predicted),
            as_percent(each.precision),
            as_percent(each.recall),
            NONE if each.f1 is None else f"{each.f1:.3f}",
        )
        for each in evaluation.classes[:CLASSES]
    ]
    left = len(evaluation.classes) - len(rows)
    more = f"{plural(left, 'more class', 'more classes')}." if left else ""
    return Table(
        ("class", "rows", "predicted", "precision", "recall", "F1"), tuple(rows), more=more
    )


def standings(tried: Tried) -> Table:
    """Return the results of the compared learners."""
    rows = [_standing(each, tried) for each in tried.standings[:STANDINGS]]
    head = (
        "learner",
        "parameters",
        metric_text(tried.metric),
        "± error",
        "to the best",
        "seconds",
    )
    left = len(tried.standings) - len(rows)
    return Table(head, tuple(rows), 2, f"{plural(left, 'more learner')}." if left else "")


def _standing(each: Standing, tried: Tried) -> tuple[str, ...]:
    name = shortened(each.learner, 60) + (" (chosen)" if each.learner == tried.taken else "")
    if each.failed is not None:
        return (name, shortened(each.failed, 160), NONE, "", NONE, "")
    if not each.difference:
        behind = NONE
    else:
        noise = ", may be chance" if each.differs is False else ""
        behind = difference(tried.metric, each.difference) + noise
    return (
        name,
        parameters(each.params),
        figure(tried.metric, each.mean),
        more_or_less(tried.metric, each.standard_error),
        behind,
        "" if each.seconds is None else number(each.seconds, 2),
    )


def parameters(params: Mapping[str, Any]) -> str:
    """Return parameters on one line."""
    settings = [
        f"{shortened(name, 30)} = {setting(value)}"
        for name, value in list(params.items())[:PARAMETERS]
    ]
    return ", ".join(settings)


def columns(data: Data) -> Table:
    """Return the columns of the data."""
    rows = [
        (
            shortened(each.name),
            each.role,
            _contents(each, data.typical),
            NONE if not each.missing else count(each.missing),
        )
        for each in data.columns[:COLUMNS]
    ]
    left = len(data.columns) - len(rows)
    more = f"{plural(left, 'more column')}." if left else ""
    return Table(("column", "used as", "contents", "missing"), tuple(rows), 3, more)


def _contents(column: Column, typical: Mapping[str, Any]) -> str:
    """Return remarks about a column, with its median or its most common level."""
    about = shortened(column.about, 160) if column.about not in ("", column.role) else ""
    value = typical.get(column.name)
    if value is None:
        return about
    is_median = column.role in ("number", "date")
    usual = number(value) if isinstance(value, float) else shortened(value, 40)
    return ", ".join(filter(None, [about, f"{'median' if is_median else 'mostly'} {usual}"]))


@dataclass(frozen=True)
class Piece:
    """A span of text, marked or not.

    Parameters
    ----------
    text : str
    sign : {"", "up", "down"}
        Whether it speaks for the prediction or against it.
    shade : int
        From 1 to 4, by size.
    title : str
        Its contribution, as text.
    """

    text: str
    sign: str = ""
    shade: int = 0
    title: str = ""


@dataclass(frozen=True)
class Card:
    """A hard row, formatted for the page.

    Parameters
    ----------
    row : str
    y_true, predicted : str
    sure : str
        A short description of the error.
    values : tuple of (str, str)
    bars : tuple of (str, str, str, float)
        Features with contribution, sign, and size relative to the largest.
    texts : tuple of (str, tuple of Piece, str)
        Name, spans and a note about omitted text.
    """

    row: str
    y_true: str
    predicted: str
    sure: str
    values: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, str, str, float], ...]
    texts: tuple[tuple[str, tuple[Piece, ...], str], ...]


def cards(rows: tuple[HardRow, ...], classified: bool) -> list[Card]:
    """Return rows formatted for the page, in the given order."""
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
    """Split a text into marked and other spans; also return a note about omitted text."""
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
