"""An evaluation as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.model.metrics.metric_registry import METRICS
from separable.model.words import number, shown, table

if TYPE_CHECKING:
    from separable.model.metrics.evaluation import ClassFigures, Evaluation

__all__ = ["evaluation_text", "figure", "is_share"]

#: The figures that are shown, where there are such; the others are in ``figures``.
OF_ONE_CLASS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc", "log_loss")
OF_MANY_CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "log_loss")
OF_NUMBERS = ("r2", "rmse", "mae", "median_ae")

#: The figures of a positive class.
POSITIVE = {"precision", "recall", "f1"}

#: Up to so many classes their confusions are shown, and so many lines of more.
TABLE_CLASSES = 8
WIDEST_LABEL = 24


def evaluation_text(found: Evaluation) -> str:
    """Return the figures beside those of the constant answer, and for classes their confusions."""
    parts = [_figures(found)]
    if found.task == "classification":
        parts.append(_confusion(found) if len(found.classes) <= TABLE_CLASSES else _by_class(found))
    parts += [f"  {note}" for note in found.notes]
    return "\n".join(parts)


def _figures(found: Evaluation) -> str:
    if found.task == "regression":
        names: tuple[str, ...] = OF_NUMBERS
    else:
        names = OF_MANY_CLASSES if found.positive is None else OF_ONE_CLASS
    lines: list[tuple[str, ...]] = [("", "the model", f"always {_constant(found)}")]
    for name in names:
        if name in found.figures:
            beside = found.constant_figures.get(name)
            lines.append((_called(found, name), _with_error(found, name), figure(name, beside)))
    right = ""
    if found.correct is not None:
        right = f"\n  ({found.correct} of {found.rows} right; always {_constant(found)}: "
        right += f"{found.constant_correct})"
    reasons = [
        f"\n  {METRICS[name].text}: none, for {found.left_out[name]}"
        for name in names
        if name in found.left_out and METRICS[name].needs != "probabilities"
    ]
    return table(lines) + right + "".join(reasons)


def _called(found: Evaluation, name: str) -> str:
    text = METRICS[name].text
    if name in POSITIVE:
        return f"{text} of {shown(found.positive, WIDEST_LABEL)}"
    if name == "roc_auc" and found.positive is None:
        return f"mean {text}, each class against the rest"
    return text


def _constant(found: Evaluation) -> str:
    if found.task == "classification":
        return shown(found.constant, WIDEST_LABEL)
    each = found.constant if isinstance(found.constant, list) else [found.constant]
    return shown(", ".join(number(value) for value in each), WIDEST_LABEL)


def _with_error(found: Evaluation, name: str) -> str:
    error = found.standard_errors.get(name)
    told = figure(name, found.figures[name])
    if error is None or found.rows < 2:
        return told
    return f"{told} +- {error:.4f}" if is_share(name) else f"{told} +- {error:.2g}"


def figure(metric: str, value: float | None) -> str:
    """Return a figure, with four digits behind the point where it has no unit."""
    if value is None:
        return "-"
    return f"{value + 0.0:.4f}" if is_share(metric) and abs(value) < 1e4 else number(value)


def is_share(metric: str) -> bool:
    """Whether a figure has no unit, so that four digits behind the point are enough."""
    return METRICS[metric].task == "classification" or metric == "r2"


def _confusion(found: Evaluation) -> str:
    assert found.confusion is not None
    names = [shown(each.label, WIDEST_LABEL) for each in found.classes]
    known = [place for place, each in enumerate(found.classes) if each.known]
    head = ("is \\ predicted", *(names[place] for place in known))
    lines: list[tuple[str, ...]] = [head]
    for name, row in zip(names, found.confusion.tolist(), strict=True):
        lines.append((name, *(str(row[place]) for place in known)))
    if found.positive is None:
        lines[0] = (*lines[0], "precision", "recall", "F1")
        lines[1:] = [
            (*line, *_shares(each)) for line, each in zip(lines[1:], found.classes, strict=True)
        ]
    return table(lines)


def _by_class(found: Evaluation) -> str:
    lines: list[tuple[str, ...]] = [("class", "rows", "predicted", "precision", "recall", "F1")]
    for each in found.classes[:TABLE_CLASSES]:
        label = shown(each.label, WIDEST_LABEL)
        lines.append((label, str(each.rows), str(each.predicted), *_shares(each)))
    return f"{table(lines)}\n  ... {len(found.classes) - TABLE_CLASSES} more classes"


def _shares(each: ClassFigures) -> tuple[str, ...]:
    return tuple(
        "-" if value is None else f"{value:.4f}" for value in (each.precision, each.recall, each.f1)
    )
