"""Text of an evaluation for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.model.metrics.metric_registry import METRICS
from separable.model.words import number, shown, table

if TYPE_CHECKING:
    from separable.model.metrics.evaluation import ClassFigures, Evaluation

__all__ = ["evaluation_text", "figure", "is_fraction"]

#: Metrics shown, if defined; the others are in ``figures``.
OF_ONE_CLASS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc", "log_loss")
OF_MANY_CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "log_loss")
OF_NUMBERS = ("r2", "rmse", "mae", "median_ae")

#: Metrics of a positive class.
POSITIVE = {"precision", "recall", "f1"}

#: Maximum classes of a confusion matrix, and maximum lines otherwise.
TABLE_CLASSES = 8
WIDEST_LABEL = 24


def evaluation_text(evaluation: Evaluation) -> str:
    """Return the metrics with those of the constant prediction, and the confusion matrix."""
    parts = [_figures(evaluation)]
    if evaluation.task == "classification":
        parts.append(
            _confusion(evaluation)
            if len(evaluation.classes) <= TABLE_CLASSES
            else _by_class(evaluation)
        )
    parts += [f"  {note}" for note in evaluation.notes]
    return "\n".join(parts)


def _figures(evaluation: Evaluation) -> str:
    if evaluation.task == "regression":
        names: tuple[str, ...] = OF_NUMBERS
    else:
        names = OF_MANY_CLASSES if evaluation.positive is None else OF_ONE_CLASS
    lines: list[tuple[str, ...]] = [("", "the model", f"always {_constant(evaluation)}")]
    for name in names:
        if name in evaluation.figures:
            beside = evaluation.constant_figures.get(name)
            lines.append(
                (_called(evaluation, name), _with_error(evaluation, name), figure(name, beside))
            )
    right = ""
    if evaluation.correct is not None:
        right = (
            f"\n  ({evaluation.correct} of {evaluation.rows} right; always "
            f"{_constant(evaluation)}: "
        )
        right += f"{evaluation.constant_correct})"
    reasons = [
        f"\n  {METRICS[name].text}: none, for {evaluation.left_out[name]}"
        for name in names
        if name in evaluation.left_out and METRICS[name].needs != "probabilities"
    ]
    return table(lines) + right + "".join(reasons)


def _called(evaluation: Evaluation, name: str) -> str:
    text = METRICS[name].text
    if name in POSITIVE:
        return f"{text} of {shown(evaluation.positive, WIDEST_LABEL)}"
    if name == "roc_auc" and evaluation.positive is None:
        return f"mean {text}, each class against the rest"
    return text


def _constant(evaluation: Evaluation) -> str:
    if evaluation.task == "classification":
        return shown(evaluation.constant, WIDEST_LABEL)
    each = evaluation.constant if isinstance(evaluation.constant, list) else [evaluation.constant]
    return shown(", ".join(number(value) for value in each), WIDEST_LABEL)


def _with_error(evaluation: Evaluation, name: str) -> str:
    error = evaluation.standard_errors.get(name)
    text = figure(name, evaluation.figures[name])
    if error is None or evaluation.rows < 2:
        return text
    return f"{text} +- {error:.4f}" if is_fraction(name) else f"{text} +- {error:.2g}"


def figure(metric: str, value: float | None) -> str:
    """Return a metric as text, with four decimals if it has no unit."""
    if value is None:
        return "-"
    return f"{value + 0.0:.4f}" if is_fraction(metric) and abs(value) < 1e4 else number(value)


def is_fraction(metric: str) -> bool:
    """Return whether a metric has no unit, so that four decimals suffice."""
    return METRICS[metric].task == "classification" or metric == "r2"


def _confusion(evaluation: Evaluation) -> str:
    assert evaluation.confusion is not None
    names = [shown(each.label, WIDEST_LABEL) for each in evaluation.classes]
    known = [index for index, each in enumerate(evaluation.classes) if each.known]
    head = ("is \\ predicted", *(names[index] for index in known))
    lines: list[tuple[str, ...]] = [head]
    for name, row in zip(names, evaluation.confusion.tolist(), strict=True):
        lines.append((name, *(str(row[index]) for index in known)))
    if evaluation.positive is None:
        lines[0] = (*lines[0], "precision", "recall", "F1")
        lines[1:] = [
            (*line, *_fractions(each))
            for line, each in zip(lines[1:], evaluation.classes, strict=True)
        ]
    return table(lines)


def _by_class(evaluation: Evaluation) -> str:
    lines: list[tuple[str, ...]] = [("class", "rows", "predicted", "precision", "recall", "F1")]
    for each in evaluation.classes[:TABLE_CLASSES]:
        label = shown(each.label, WIDEST_LABEL)
        lines.append((label, str(each.rows), str(each.predicted), *_fractions(each)))
    return f"{table(lines)}\n  ... {len(evaluation.classes) - TABLE_CLASSES} more classes"


def _fractions(each: ClassFigures) -> tuple[str, ...]:
    return tuple(
        "-" if value is None else f"{value:.4f}" for value in (each.precision, each.recall, each.f1)
    )
