"""ROC curves: true positive rate against false positive rate."""

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


__all__ = ["RocDisplay"]


@dataclass(eq=False)
class RocDisplay(Display):
    """Rows of a class that are found, against rows of others that are taken for it.

    Parameters
    ----------
    labels : list
        The class of each curve: the positive one of two, or each of several against the rest.
    fpr, tpr, thresholds : list of ndarray
        For each class, as of ``sklearn.metrics.roc_curve`` with every threshold: the share of
        others and of the class with a score at or above the threshold; first one that none reaches.
    areas : list of float
        ROC AUC of each.

    Attributes
    ----------
    lines_ : list of Line2D
        Of the classes that have a name in the legend, in that order.
    ax_, figure_
        What was drawn on.

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
        RocDisplay
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
        RocDisplay
        """
        case = case_from_scores(
            y, scores, classes=classes, positive=positive, sample_weight=sample_weight
        )
        return cls.from_case(case).plot(ax, **look)

    @classmethod
    def from_case(cls, case: ClassCase) -> Self:
        """Return the curves of labels beside scores, not drawn."""
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
        curves = list(zip(self.fpr, self.tpr, strict=True))
        self.lines_ = draw_curves(axes, curves, self.labels, self.areas, "AUC", look)
        (chance,) = axes.plot(
            [0, 1], [0, 1], color=GREY, linestyle=(0, (1, 2)), label="chance: AUC 0.500"
        )
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        one = len(self.labels) == 1
        name = called(self.labels[0]) if one else ""
        describe(
            axes,
            f"ROC curve of {name}"
            if one
            else f"ROC curves of {len(self.labels)} classes, one-vs-rest; mean AUC "
            f"{np.mean(self.areas):.3f}",
            "false positive rate" + f" (share of others predicted {name})" * one,
            "true positive rate" + f" (share of {name} found)" * one,
        )
        add_legend(axes, [*self.lines_, chance])
        return self
