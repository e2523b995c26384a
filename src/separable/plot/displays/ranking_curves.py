"""ROC and precision-recall curves, of one class or of each class against the rest."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.model.metrics.metric_case import ClassCase, case_of
from separable.model.metrics.metric_registry import Predictions
from separable.model.predict.probability import classes_of
from separable.plot.style.fitted_models import best_of
from separable.plot.style.theme import (
    DASHES,
    GREY,
    LIGHT,
    LINE_COLOURS,
    Display,
    add_legend,
    called,
    describe,
    short_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.typing import Floats


__all__ = [
    "PrecisionRecallDisplay",
    "RocDisplay",
    "case_from_estimator",
    "case_from_scores",
    "checked",
    "ranked",
    "scored_classes",
]

#: Maximum curves with names; of more, the N_LOWEST are named.
MAX_NAMED, N_LOWEST = 7, 3


def case_from_estimator(
    estimator: Any, X: Any, y: Any, positive: Any = None, sample_weight: Any = None
) -> ClassCase:
    """Return labels with the predictions of a fitted classifier."""
    from separable.fitting.predictions import ask

    fitted = best_of(estimator)
    if hasattr(fitted, "evaluate") and not hasattr(fitted, "fit"):  # a LinearModel or VotedModel
        from separable.model.metrics.metric_registry import predictions_of

        predictions = predictions_of(fitted, X)
    else:
        predictions = ask(fitted, X)
    if predictions.classes is None:
        raise ValueError(
            f"{type(fitted).__name__} predicts numbers. This curve needs a classifier."
        )
    return checked(case_of(y, predictions, sample_weight, positive))


def case_from_scores(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    probabilities: bool = False,
) -> ClassCase:
    """Return labels with scores or probabilities.

    Parameters
    ----------
    y : array-like, shape (n,)
    scores : array-like, shape (n,) or (n, K)
        Larger for the second of two classes, or one column per class.
    classes : sequence, optional
        The sorted labels of the columns. By default those of y.
    positive : object, optional
    sample_weight : array-like, shape (n,), optional
    probabilities : bool, default False
        Whether the scores are probabilities.
    """
    labels = np.unique(np.asarray(y)) if classes is None else np.asarray(classes)
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"scores must be numbers, one per row or one column per class: {error}. For predicted "
            "classes use ConfusionMatrixDisplay.from_predictions."
        ) from None
    wide = values.shape[1] if values.ndim == 2 else 2
    if values.ndim not in (1, 2) or len(labels) != wide:
        raise ValueError(
            f"scores of shape {values.shape} do not fit {len(labels)} classes: two classes need "
            "one score per row, (n,), or two columns, more classes one column each. Name classes "
            "that are not in y with classes=."
        )
    if probabilities and not ((values >= 0) & (values <= 1)).all():
        raise ValueError(
            f"Probabilities lie between 0 and 1. Got {values.min():g} to {values.max():g}."
        )
    columns = values.reshape(len(values), -1)
    if probabilities:
        chances = np.column_stack([1 - values, values]) if values.ndim == 1 else values
        predicted = labels[chances.argmax(axis=1)]
        predictions = Predictions(predicted, None, chances, labels)
    elif wide == 2 and values.ndim == 2:
        step = values[:, 1] - values[:, 0]
        predictions = Predictions(classes_of(step[:, None], labels), step, None, labels)
    else:
        predictions = Predictions(classes_of(columns, labels), values, None, labels)
    return checked(case_of(y, predictions, sample_weight, positive))


def checked(case: Any) -> ClassCase:
    """Return the case; refuse labels of fewer than two classes."""
    assert isinstance(case, ClassCase)
    if len(case.present) < 2:
        raise ValueError(
            f"Every row is {case.labels[case.present[0]]!r}. A curve needs rows of that class and "
            "of another."
        )
    return case


def scored_classes(case: ClassCase) -> list[int]:
    """Return the classes with a curve: the positive one, or all that occur."""
    if case.positive is not None:
        if not case.support[case.positive]:
            raise ValueError(f"No row is {case.labels[case.positive]!r}, the positive class.")
        return [case.positive]
    return [index for index in range(case.n_known) if case.support[index]]


def ranked(case: ClassCase, index: int) -> tuple[Floats, Floats, Floats]:
    """Return descending thresholds, and the weights of the class and of others at or above each.

    Equal scores share a threshold.
    """
    scores = case.score_of(index)
    if scores is None:
        raise ValueError("The model gives neither scores nor probabilities, so there is no curve.")
    order = np.argsort(-scores, kind="stable")
    sorted_scores = scores[order]
    last = np.flatnonzero(np.append(sorted_scores[1:] != sorted_scores[:-1], True))
    is_class = (case.y_true == index)[order]
    weight = case.weight[order]
    ours = np.cumsum(np.where(is_class, weight, 0.0))[last]
    others = np.cumsum(np.where(is_class, 0.0, weight))[last]
    return sorted_scores[last], ours, others


def draw_curves(
    ax: Any,
    curves: Sequence[tuple[Floats, Floats]],
    labels: Sequence[Any],
    areas: Sequence[float],
    measure: str,
    look: dict[str, Any],
) -> list[Any]:
    """Draw curves and return their legend handles.

    Parameters
    ----------
    ax : Axes
    curves : sequence of (x, y)
    labels : sequence
        The class of each.
    areas : sequence of float
        The area of each curve; if there are many, the lowest are named.
    measure : str
        The name of the area.
    look : dict
        For ``Axes.plot``.
    """
    order = list(range(len(curves)))
    if len(curves) > MAX_NAMED:
        order = [int(k) for k in np.argsort(areas, kind="stable")[:N_LOWEST]]
    handles, names = [], short_names(labels, 20)
    for rank, k in enumerate(order):
        style = {
            "color": LINE_COLOURS[(k if len(curves) <= MAX_NAMED else rank) % len(LINE_COLOURS)],
            "linestyle": DASHES[rank % len(DASHES)] if len(curves) > 1 else "-",
            "linewidth": 1.6,
            "zorder": 3,
            "label": f"{names[k]}: {measure} {areas[k]:.3f}",
            **look,
        }
        handles += ax.plot(*curves[k], **style)
    others = [k for k in range(len(curves)) if k not in set(order)]
    for k in others:
        plain = {"color": LIGHT, "linewidth": 0.8, "zorder": 1, "drawstyle": look.get("drawstyle")}
        (line,) = ax.plot(*curves[k], **plain)
    if others:
        line.set_label(f"{len(others)} other classes")
        handles.append(line)
        line.set_color(GREY if len(others) == 1 else LIGHT)
    return handles


class RankingCurves(Display):
    """Curves of one class or of each class against the rest, by falling threshold of the score."""

    labels: list[Any]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier, search, pipeline or LinearModel
        X : array-like, sparse matrix or data frame, shape (n, d)
            Test rows.
        y : array-like, shape (n,)
        positive : object, optional
            The class of the curve. By default the second of two; with more, each against the rest.
        sample_weight : array-like, shape (n,), optional
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the curves.

        Returns
        -------
        RocDisplay or PrecisionRecallDisplay
        """
        case = case_from_estimator(estimator, X, y, positive, sample_weight)
        return cls.from_case(case).plot(ax, **look)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        scores: Any,
        *,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the curve of scores.

        Parameters
        ----------
        y : array-like, shape (n,)
        scores : array-like, shape (n,) or (n, K)
            Larger for the second of two classes, or one column per class; any unit.
        classes : sequence, optional
            The sorted labels of the columns. By default those of y.
        positive, sample_weight, ax, **look
            As in ``from_estimator``.

        Returns
        -------
        RocDisplay or PrecisionRecallDisplay
        """
        case = case_from_scores(
            y, scores, classes=classes, positive=positive, sample_weight=sample_weight
        )
        return cls.from_case(case).plot(ax, **look)

    @classmethod
    @abstractmethod
    def from_case(cls, case: ClassCase) -> Self:
        """Return the curves of labels with scores, without drawing them."""

    @abstractmethod
    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        **look
            For ``Axes.plot`` of the curves.

        Returns
        -------
        self
        """

    def _describe(self, title: str, mean: str, x: tuple[str, str], y: tuple[str, str]) -> None:
        """Set the title and axis labels; an axis is a rate and, of one class, its meaning."""
        if len(self.labels) == 1:
            name = called(self.labels[0])
            x_label, y_label = (f"{rate} ({text.format(name)})" for rate, text in (x, y))
            describe(self.ax_, f"{title} of {name}", x_label, y_label)
        else:
            title = f"{title}s of {len(self.labels)} classes, one-vs-rest; mean {mean}"
            describe(self.ax_, title, x[0], y[0])


@dataclass(eq=False)
class RocDisplay(RankingCurves):
    """ROC curves: true positive rate against false positive rate.

    Parameters
    ----------
    labels : list
        The class of each curve: the positive one of two, or each against the rest.
    fpr, tpr, thresholds : list of ndarray
        For each class, as from ``sklearn.metrics.roc_curve`` with every threshold; the first
        threshold is infinite.
    areas : list of float
        ROC AUC of each curve.

    Attributes
    ----------
    lines_ : list of Line2D
        Lines of the classes named in the legend, in that order.
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from separable.plot import RocDisplay
    >>> display = RocDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.areas
    [0.75]
    """

    labels: list[Any]
    fpr: list[Floats]
    tpr: list[Floats]
    thresholds: list[Floats]
    areas: list[float]

    @classmethod
    def from_case(cls, case: ClassCase) -> Self:
        """Return the curves of labels with scores, without drawing them."""
        made = cls([], [], [], [], [])
        for index in scored_classes(case):
            thresholds, ours, others = ranked(case, index)
            tpr = np.append(0.0, ours / ours[-1])
            fpr = np.append(0.0, others / others[-1])
            made.labels.append(case.labels[index])
            made.tpr.append(tpr)
            made.fpr.append(fpr)
            made.thresholds.append(np.append(np.inf, thresholds))
            made.areas.append(float(np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2))
        return made

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw the curves; see `RankingCurves.plot`."""
        axes = self._open(ax, size=(6.8, 4.6))
        curves = list(zip(self.fpr, self.tpr, strict=True))
        self.lines_ = draw_curves(axes, curves, self.labels, self.areas, "AUC", look)
        (chance,) = axes.plot(
            [0, 1], [0, 1], color=GREY, linestyle=(0, (1, 2)), label="chance: AUC 0.500"
        )
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self._describe(
            "ROC curve",
            f"AUC {np.mean(self.areas):.3f}",
            ("false positive rate", "fraction of others predicted {}"),
            ("true positive rate", "fraction of {} found"),
        )
        add_legend(axes, [*self.lines_, chance])
        return self


@dataclass(eq=False)
class PrecisionRecallDisplay(RankingCurves):
    """Precision-recall curves.

    Parameters
    ----------
    labels : list
        The class of each curve: the positive one of two, or each against the rest.
    recall, precision, thresholds : list of ndarray
        For each class, from the highest threshold to the lowest; every score is a threshold.
    average_precision : list of float
        The area below each step curve: the sum of (R_i - R_i-1) P_i.
    prevalence : list of float
        The fraction of rows of each class: the precision of a classifier without skill.

    Attributes
    ----------
    lines_ : list of Line2D
        Lines of the classes named in the legend, in that order.
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from separable.plot import PrecisionRecallDisplay
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(display.average_precision[0], 3), display.prevalence
    (0.833, [0.5])
    """

    labels: list[Any]
    recall: list[Floats]
    precision: list[Floats]
    thresholds: list[Floats]
    average_precision: list[float]
    prevalence: list[float]

    @classmethod
    def from_case(cls, case: ClassCase) -> Self:
        """Return the curves of labels with scores, without drawing them."""
        made = cls([], [], [], [], [], [])
        for index in scored_classes(case):
            thresholds, ours, others = ranked(case, index)
            recall, precision = ours / ours[-1], ours / (ours + others)
            made.labels.append(case.labels[index])
            made.recall.append(recall)
            made.precision.append(precision)
            made.thresholds.append(thresholds)
            made.average_precision.append(float(np.diff(recall, prepend=0.0) @ precision))
            made.prevalence.append(float(ours[-1] / (ours[-1] + others[-1])))
        return made

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw the curves; see `RankingCurves.plot`."""
        axes = self._open(ax, size=(6.8, 4.6))
        curves = [
            (np.append(0.0, recall), np.append(precision[0], precision))
            for recall, precision in zip(self.recall, self.precision, strict=True)
        ]
        steps = {"drawstyle": "steps-pre", **look}
        scores = self.average_precision
        self.lines_ = draw_curves(axes, curves, self.labels, scores, "AP", steps)
        handles = list(self.lines_)
        if len(self.labels) == 1:
            label = f"no skill: {self.prevalence[0]:.3f}"
            line = axes.axhline(self.prevalence[0], color=GREY, linestyle=(0, (1, 2)), label=label)
            handles.append(line)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
        self._describe(
            "Precision-recall curve",
            f"average precision {np.mean(scores):.3f}",
            ("recall", "fraction of {} found"),
            ("precision", "fraction of predicted {} that is right"),
        )
        add_legend(axes, handles)
        return self
