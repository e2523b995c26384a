"""Evaluation of a model on labelled rows, with the best constant prediction as a baseline."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metrics.classification import f1s, precisions, recalls
from separable.model.metrics.metric_case import ClassCase, case_of
from separable.model.metrics.metric_registry import HOMES, METRICS, Predictions, UndefinedMetric
from separable.model.metrics.regression import weighted_mean
from separable.model.words import label_value, number, rounded, shown, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from separable.model.metrics.metric_case import NumberCase
    from separable.model.metrics.metric_registry import Task
    from separable.model.predict.decision import Decision

__all__ = [
    "ClassFigures",
    "Evaluation",
    "MeanCost",
    "evaluation",
    "evaluation_text",
    "figure",
    "is_fraction",
]

#: Metrics shown, if defined; the others are in ``figures``.
OF_ONE_CLASS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc", "log_loss")
OF_MANY_CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "log_loss")
OF_NUMBERS = ("r2", "rmse", "mae", "median_ae")

#: Metrics of a positive class.
POSITIVE = {"precision", "recall", "f1"}

#: Begins the note on classes that are never predicted.
NEVER = "Never predicted"

#: Maximum classes of a confusion matrix, and maximum lines otherwise.
MAX_TABLE_CLASSES = 8
MAX_LABEL_WIDTH = 24


def evaluation_text(evaluation: Evaluation, *, brief: bool = False) -> str:
    """Return the metrics with those of the constant prediction, and the confusion matrix.

    Of many classes those with the smallest F1 are shown. If brief, without what the confusion
    matrix says.
    """
    parts = [_figures_table(evaluation, brief=brief)]
    if evaluation.task == "classification":
        parts.append(
            _confusion(evaluation)
            if len(evaluation.classes) <= MAX_TABLE_CLASSES
            else _by_class(evaluation)
        )
    two = brief and evaluation.positive is not None  # their confusion matrix says it
    parts += [f"  {note}" for note in evaluation.notes if not (two and note.startswith(NEVER))]
    return "\n".join(parts)


def _figures_table(evaluation: Evaluation, *, brief: bool) -> str:
    if evaluation.task == "regression":
        names: tuple[str, ...] = OF_NUMBERS
    else:
        names = OF_MANY_CLASSES if evaluation.positive is None else OF_ONE_CLASS
        names = tuple(name for name in names if not (brief and name in ("precision", "recall")))
    lines: list[tuple[str, ...]] = [("", "the model", f"always {_constant(evaluation)}")]
    for name in names:
        if name in evaluation.figures:
            beside = evaluation.constant_figures.get(name)
            lines.append(
                (_called(evaluation, name), _with_error(evaluation, name), figure(name, beside))
            )
    cost = evaluation.cost
    if cost is not None:
        name = f"cost (fp {number(cost.false_positive)}, fn {number(cost.false_negative)})"
        own = f"{number(cost.mean)} +- {cost.standard_error:.2g}"
        lines.append((name, own, number(cost.constant)))
    right = ""
    if evaluation.correct is not None and not brief:
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
        return f"{text} of {shown(evaluation.positive, MAX_LABEL_WIDTH)}"
    if name == "roc_auc" and evaluation.positive is None:
        return f"mean {text}, each class against the rest"
    return text


def _constant(evaluation: Evaluation) -> str:
    if evaluation.task == "classification":
        return shown(evaluation.constant, MAX_LABEL_WIDTH)
    each = evaluation.constant if isinstance(evaluation.constant, list) else [evaluation.constant]
    return shown(", ".join(number(value) for value in each), MAX_LABEL_WIDTH)


def _with_error(evaluation: Evaluation, name: str) -> str:
    error = evaluation.standard_errors.get(name)
    text = figure(name, evaluation.figures[name])
    if error is None or evaluation.rows < 2:
        return text
    return f"{text} +- {error:.4f}" if is_fraction(name) else f"{text} +- {rounded(error, 2)}"


def figure(metric: str, value: float | None) -> str:
    """Return a metric as text: with four decimals if it has no unit, else with four digits."""
    if value is None:
        return "-"
    if is_fraction(metric) and abs(value) < 1e4:
        return f"{value + 0.0:.4f}"
    return rounded(value, 4)


def is_fraction(metric: str) -> bool:
    """Return whether a metric has no unit, so that four decimals suffice."""
    return METRICS[metric].task == "classification" or metric == "r2"


def _confusion(evaluation: Evaluation) -> str:
    assert evaluation.confusion is not None
    names = [shown(each.label, MAX_LABEL_WIDTH) for each in evaluation.classes]
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
    worst = sorted(evaluation.classes, key=lambda each: 1.0 if each.f1 is None else each.f1)
    for each in worst[:MAX_TABLE_CLASSES]:
        label = shown(each.label, MAX_LABEL_WIDTH)
        lines.append((label, str(each.rows), str(each.predicted), *_fractions(each)))
    more = len(evaluation.classes) - MAX_TABLE_CLASSES
    return f"{table(lines)}\n  ... {more} more classes with a larger F1"


def _fractions(each: ClassFigures) -> tuple[str, ...]:
    return tuple(
        "-" if value is None else f"{value:.4f}" for value in (each.precision, each.recall, each.f1)
    )


#: Maximum classes for which a confusion matrix is computed.
MAX_CONFUSION_CLASSES = 256

#: Classes named in a note.
MAX_SHOWN = 5


@dataclass(frozen=True)
class ClassFigures:
    """Metrics of one class.

    Parameters
    ----------
    label : object
    known : bool
        Whether the class is a class of the model.
    rows : int
        Rows of this class.
    predicted : int
        Rows predicted to be of this class.
    precision, recall, f1 : float or None
        None if no row is of the class; precision is 0 if it is never predicted.
    """

    label: Any
    known: bool
    rows: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class MeanCost:
    """Mean cost of a row.

    Parameters
    ----------
    false_positive, false_negative : float
        The costs of the mistakes.
    mean, standard_error : float
        Of the predictions; the standard error over the rows.
    constant : float
        Mean cost of the constant prediction.
    """

    false_positive: float
    false_negative: float
    mean: float
    standard_error: float
    constant: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All defined metrics of predictions, with those of a constant prediction.

    ``str()`` gives a table, ``to_dict()`` JSON values.

    Parameters
    ----------
    task : {"classification", "regression"}
    rows : int
        Rows with positive weight.
    figures, constant_figures : dict of str to float
        By the names of ``METRICS``: of the predictions, and of always predicting ``constant``. The
        probabilities of the constant prediction are the class frequencies in these rows.
    standard_errors : dict of str to float
        Of the metrics that are means over rows.
    left_out : dict of str to str
        Undefined metrics, with the reason.
    constant : object
        Best constant prediction: the most frequent class, or the mean.
    notes : tuple of str
        Conventions applied where a definition is ambiguous.
    correct, constant_correct : int or None
        Number of correct classes.
    positive : object
        Positive class of precision, recall and related metrics. None: they are averaged over
        classes.
    classes : tuple of ClassFigures
        Classes of the model, then unknown labels.
    confusion : ndarray of int64, shape (k, k), or None
        Confusion matrix: true classes (first axis) by predicted classes (second axis).
    cost : MeanCost or None
        Mean cost of a row, if the model has costs of mistakes.
    """

    task: Task
    rows: int
    figures: dict[str, float]
    constant_figures: dict[str, float]
    standard_errors: dict[str, float]
    left_out: dict[str, str]
    constant: Any
    notes: tuple[str, ...] = ()
    correct: int | None = None
    constant_correct: int | None = None
    positive: Any = None
    classes: tuple[ClassFigures, ...] = field(default=(), repr=False)
    confusion: NDArray[np.int64] | None = field(default=None, repr=False)
    cost: MeanCost | None = None

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def text(self) -> str:
        """Return the metrics with those of the constant prediction as a table."""
        return evaluation_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values.

        Every metric of the task is a key, and so is ``constant_`` followed by its name; undefined
        metrics are None.
        """
        names = [name for name, metric in METRICS.items() if metric.task == self.task]
        values: dict[str, Any] = {"task": self.task, "rows": self.rows}
        if self.task == "classification":
            values |= {"correct": self.correct, "positive": self.positive}
        values |= {name: _finite(self.figures.get(name)) for name in names}
        values["constant"] = self.constant
        if self.task == "classification":
            values["constant_correct"] = self.constant_correct
        values |= {f"constant_{name}": _finite(self.constant_figures.get(name)) for name in names}
        values |= {"standard_errors": dict(self.standard_errors), "left_out": dict(self.left_out)}
        values["notes"] = list(self.notes)
        if self.task == "classification":
            values["classes"] = [
                {"class": each.label, **{k: v for k, v in vars(each).items() if k != "label"}}
                for each in self.classes
            ]
            values["confusion"] = None if self.confusion is None else self.confusion.tolist()
        if self.cost is not None:
            values["cost"] = asdict(self.cost)
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Evaluation:
        """Return the evaluation from the result of ``to_dict``, without non-finite metrics.

        Parameters
        ----------
        values : mapping of str to object

        Returns
        -------
        Evaluation
        """
        names = [name for name, metric in METRICS.items() if metric.task == values["task"]]
        own = {name: values.get(name) for name in names}
        beside = {name: values.get(f"constant_{name}") for name in names}
        confusion = values.get("confusion")
        return cls(
            task=values["task"],
            rows=values["rows"],
            figures={name: value for name, value in own.items() if value is not None},
            constant_figures={name: value for name, value in beside.items() if value is not None},
            standard_errors=dict(values["standard_errors"]),
            left_out=dict(values["left_out"]),
            constant=values["constant"],
            notes=tuple(values["notes"]),
            correct=values.get("correct"),
            constant_correct=values.get("constant_correct"),
            positive=values.get("positive"),
            classes=tuple(
                ClassFigures(each["class"], **{k: v for k, v in each.items() if k != "class"})
                for each in values.get("classes", ())
            ),
            confusion=None if confusion is None else np.array(confusion, dtype=np.int64),
            cost=MeanCost(**values["cost"]) if values.get("cost") else None,
        )


def evaluation(
    predictions: Predictions,
    y_true: ArrayLike,
    weight: ArrayLike | None = None,
    positive: Any = None,
    constant: Any = None,
) -> Evaluation:
    """Evaluate predictions.

    Parameters
    ----------
    predictions : Predictions
    y_true : array-like, shape (n,), or (n, k) for k numbers a row
        True classes or values. A label that is not one of the classes counts as wrong.
    weight : array-like, shape (n,), optional
        Sample weights; rows of weight 0 are excluded.
    positive : object, optional
        Positive class for precision, recall, F1, ROC AUC and average precision. By default the
        second of two; for three or more the mean over the classes.
    constant : object, optional
        Constant prediction to compare with, for example the most frequent class of the training
        rows. By default the best for these rows: the most frequent class, or the mean.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> from separable.model.metrics.evaluation import evaluation
    >>> from separable.model.metrics.metric_registry import Predictions
    >>> found = evaluation(Predictions(np.array([1.0, 2.0, 4.0])), [1, 2, 3])
    >>> round(found.figures["r2"], 3), found.constant
    (0.5, 2.0)
    """
    case = case_of(y_true, predictions, weight, positive)
    figures, left_out = _figures(case)
    if isinstance(case, ClassCase):
        constant = _most_common(case) if constant is None else label_value(constant)
        beside: ClassCase | NumberCase = _always(case, constant)
    else:
        means = weighted_mean(case.y_true, case.weight) if constant is None else constant
        row = np.broadcast_to(np.asarray(means, dtype=np.float64), (case.y_true.shape[1],))
        constant = row.tolist() if len(row) > 1 else float(row[0])
        beside = case_of(case.y_true, Predictions(np.tile(row, (len(case.y_true), 1))), case.weight)
    return Evaluation(
        task=case.task,
        rows=len(case.weight),
        figures=figures,
        constant_figures=_figures(beside)[0],
        standard_errors=_standard_errors(case, figures),
        left_out=left_out,
        constant=constant,
        **(_of_classes(case, beside) if isinstance(case, ClassCase) else {}),
        cost=_mean_cost(predictions.decision, case, beside),
    )


def _mean_cost(
    decision: Decision | None, case: ClassCase | NumberCase, beside: ClassCase | NumberCase
) -> MeanCost | None:
    if decision is None or decision.costs is None:
        return None
    fractions = case.weight / case.weight.sum()
    own, other = (decision.cost_of_rows(each.y_true, each.predicted) for each in (case, beside))
    mean = float(fractions @ own)
    return MeanCost(
        decision.costs.false_positive,
        decision.costs.false_negative,
        mean,
        float(np.linalg.norm(fractions * (own - mean))),
        float(fractions @ other),
    )


def _figures(case: ClassCase | NumberCase) -> tuple[dict[str, float], dict[str, str]]:
    """Return the defined metrics, and the reasons for the undefined ones."""
    figures, left_out = {}, {}
    for name, metric in METRICS.items():
        if metric.task == case.task:
            try:
                figures[name] = metric.of(case)
            except UndefinedMetric as reason:
                left_out[name] = str(reason)
    return figures, left_out


def _standard_errors(case: ClassCase | NumberCase, figures: dict[str, float]) -> dict[str, float]:
    """Return the standard error of each metric that is a mean over rows."""
    fractions = case.weight / case.weight.sum()
    row_values = import_module(HOMES[case.task]).row_values
    errors = {}
    for name, figure in figures.items():
        values = row_values(name, case)
        if values is not None and np.isfinite(figure):
            errors[name] = float(np.linalg.norm(fractions * (values - figure)))
    return errors


def _always(case: ClassCase, constant: Any) -> ClassCase:
    """Return the case of a constant prediction, with the class frequencies as probabilities."""
    fractions = case.support[: case.n_known] / case.support[: case.n_known].sum()
    labels, n = case.labels, len(case.y_true)
    if constant not in labels[: case.n_known]:
        raise ValueError(f"constant={constant!r} is not a class of the model.")
    chances = np.broadcast_to(fractions, (n, case.n_known))
    return ClassCase(
        labels=labels,
        n_known=case.n_known,
        y_true=case.y_true,
        predicted=np.full(n, labels.index(constant)),
        weight=case.weight,
        positive=case.positive,
        scores=None if case.score_of(0) is None else np.zeros((n, case.n_known)),
        probabilities=None if case.probabilities is None else chances,
    )


def _most_common(case: ClassCase) -> Any:
    return case.labels[int(case.support[: case.n_known].argmax())]


def _of_classes(case: ClassCase, beside: ClassCase | NumberCase) -> dict[str, Any]:
    """Return the fields that only a classification has."""
    k = len(case.labels)
    rows, predicted = (np.bincount(each, minlength=k) for each in (case.y_true, case.predicted))
    columns = (rows, predicted, precisions(case), recalls(case), f1s(case))
    classes = [
        ClassFigures(label, index < case.n_known, n, p, *(figures if n else (None, None, None)))
        for index, (label, n, p, *figures) in enumerate(
            zip(case.labels, *(column.tolist() for column in columns), strict=True)
        )
    ]
    confusion = None
    if k <= MAX_CONFUSION_CLASSES:
        confusion = np.bincount(case.y_true * k + case.predicted, minlength=k * k).reshape(k, k)
    return {
        "notes": tuple(_notes(case, classes)),
        "correct": int(np.count_nonzero(case.y_true == case.predicted)),
        "constant_correct": int(np.count_nonzero(beside.y_true == beside.predicted)),
        "positive": None if case.positive is None else case.labels[case.positive],
        "classes": tuple(classes),
        "confusion": confusion,
    }


def _notes(case: ClassCase, classes: list[ClassFigures]) -> list[str]:
    known, strange = classes[: case.n_known], classes[case.n_known :]
    absent = [each.label for each in known if not each.rows]
    never = [each.label for each in known if each.rows and not each.predicted]
    notes = []
    if strange:
        count = sum(each.rows for each in strange)
        rows = f"{count} rows have" if count > 1 else "1 row has"
        notes.append(
            f"{rows} a label that the model does not know ({_listed([c.label for c in strange])}): "
            "predicted wrongly, with probability 0."
        )
    if never:
        notes.append(f"{NEVER}, so of precision 0: {_listed(never)}.")
    if absent:
        means = ", so left out of means over classes" if case.positive is None else ""
        notes.append(f"No row is of this class{means}: {_listed(absent)}.")
    return notes


def _listed(labels: list[Any]) -> str:
    from separable.model.words import shown

    more = f" and {len(labels) - MAX_SHOWN} more" if len(labels) > MAX_SHOWN else ""
    return ", ".join(shown(repr(label)) for label in labels[:MAX_SHOWN]) + more


def _finite(figure: float | None) -> float | None:
    return figure if figure is None or np.isfinite(figure) else None
