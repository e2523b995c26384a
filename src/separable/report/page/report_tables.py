"""Tables of the page: figures, classes, learners, columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.model.metrics.evaluation_text import (
    OF_MANY_CLASSES,
    OF_NUMBERS,
    OF_ONE_CLASS,
    POSITIVE,
)
from separable.report.charts.chart import Table
from separable.report.page.formatting import (
    NONE,
    as_percent,
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
    from separable.report.contents import Data, Standing, Tried

__all__ = ["by_class", "columns", "figures", "parameters", "standings"]

#: Classes and columns that are listed.
CLASSES, COLUMNS = 60, 120
#: Learners that are listed.
STANDINGS = 60
#: Parameters of a learner that are told.
PARAMETERS = 12


def figures(evaluation: Evaluation) -> Table:
    """Return the figures beside those of the constant answer."""
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
    """Return how the learners did that were compared."""
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
    name = shortened(each.learner, 60) + (" (taken)" if each.learner == tried.taken else "")
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
    """Return parameters in a line."""
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
            shortened(each.about, 160) if each.about else "",
            NONE if not each.missing else count(each.missing),
        )
        for each in data.columns[:COLUMNS]
    ]
    left = len(data.columns) - len(rows)
    more = f"{plural(left, 'more column')}." if left else ""
    return Table(("column", "used as", "what is in it", "missing"), tuple(rows), 3, more)
