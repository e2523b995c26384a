"""Precision-recall curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.plot.displays.one_vs_rest import (
    case_from_estimator,
    case_from_scores,
    ranked,
    scored_classes,
)
from separable.plot.style.curves import draw_curves
from separable.plot.style.theme import GREY, Display, add_legend, called, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.model.metrics.metric_case import ClassCase
    from separable.typing import Floats


__all__ = ["PrecisionRecallDisplay"]


@dataclass(eq=False)
class PrecisionRecallDisplay(Display):
    """Share of rows taken for a class that are of it, against the share of the class that is found.

    Parameters
    ----------
    labels : list
        The class of each curve: the positive one of two, or each of several against the rest.
    recall, precision, thresholds : list of ndarray
        For each class, from the highest threshold to the lowest; every score is one.
    average_precision : list of float
        The area below each, in steps: the sum of (R_i - R_i-1) P_i.
    shares : list of float
        How many of all rows are of each class: the precision of taking every row for it.

    Attributes
    ----------
    lines_ : list of Line2D
        Of the classes that have a name in the legend, in that order.
    ax_, figure_
        What was drawn on.

    Examples
    --------
    >>> from separable.plot import PrecisionRecallDisplay
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(display.average_precision[0], 3), display.shares
    (0.833, [0.5])
    """

    labels: list[Any]
    recall: list[Floats]
    precision: list[Floats]
    thresholds: list[Floats]
    average_precision: list[float]
    shares: list[float]

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
            Rows that it has not learned from.
        y : array-like, shape (n,)
        positive : object, optional
            The class of the curve. By default the second of two; of more, each against the rest.
        sample_weight : array-like, shape (n,), optional
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the curves.

        Returns
        -------
        PrecisionRecallDisplay
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
            Larger for the second of two classes, or one column a class; any unit.
        classes : sequence, optional
            The sorted labels of the columns. By default those of y.
        positive, sample_weight, ax, **look
            As of ``from_estimator``.

        Returns
        -------
        PrecisionRecallDisplay
        """
        case = case_from_scores(
            y, scores, classes=classes, positive=positive, sample_weight=sample_weight
        )
        return cls.from_case(case).plot(ax, **look)

    @classmethod
    def from_case(cls, case: ClassCase) -> Self:
        """Return the curves of labels beside scores, not drawn."""
        made = cls([], [], [], [], [], [])
        for index in scored_classes(case):
            thresholds, ours, others = ranked(case, index)
            recall, precision = ours / ours[-1], ours / (ours + others)
            made.labels.append(case.labels[index])
            made.recall.append(recall)
            made.precision.append(precision)
            made.thresholds.append(thresholds)
            made.average_precision.append(float(np.diff(recall, prepend=0.0) @ precision))
            made.shares.append(float(ours[-1] / (ours[-1] + others[-1])))
        return made

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **look
            For ``Axes.plot`` of the curves.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(6.8, 4.6))
        curves = [
            (np.append(0.0, recall), np.append(precision[0], precision))
            for recall, precision in zip(self.recall, self.precision, strict=True)
        ]
        steps = {"drawstyle": "steps-pre", **look}
        scores = self.average_precision
        self.lines_ = draw_curves(axes, curves, self.labels, scores, "AP", steps)
        one = len(self.labels) == 1
        handles = list(self.lines_)
        if one:
            label = f"no skill: {self.shares[0]:.3f}"
            line = axes.axhline(self.shares[0], color=GREY, linestyle=(0, (1, 2)), label=label)
            handles.append(line)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
        name = called(self.labels[0]) if one else ""
        describe(
            axes,
            f"Precision-recall curve of {name}"
            if one
            else f"Precision-recall curves of {len(self.labels)} classes, one-vs-rest; mean "
            f"average precision {np.mean(scores):.3f}",
            "recall" + f" (share of {name} found)" * one,
            "precision" + f" (share of predicted {name} that is right)" * one,
        )
        add_legend(axes, handles)
        return self
