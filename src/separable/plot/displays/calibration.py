"""Calibration curve: of the rows predicted at 70 %, about 70 % should be of the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from separable.plot.displays.ranking_curves import case_from_estimator, case_from_scores
from separable.plot.style.theme import (
    BLUE,
    GREY,
    LIGHT,
    Display,
    add_legend,
    called,
    describe,
    text_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.model.metrics.metric_case import ClassCase
    from separable.typing import Floats


__all__ = ["CalibrationDisplay", "wilson"]

#: The normal quantile of intervals of 95 %.
NORMAL_QUANTILE = 1.959963984540054


@dataclass(eq=False)
class CalibrationDisplay(Display):
    """Observed frequency of a class by predicted probability, with counts and intervals.

    Parameters
    ----------
    label : object
        The class of the probabilities.
    probability : ndarray, shape (B,)
        The mean probability in each non-empty bin.
    fraction : ndarray, shape (B,)
        The fraction of these rows that are of the class.
    low, high : ndarray, shape (B,)
        The 95 % interval of the fraction, by Wilson's formula.
    counts : ndarray of int, shape (B,)
        The number of rows in each bin.
    edges : ndarray
        The edges of all bins.
    brier : float
        The Brier score: mean squared distance of the probabilities from 0 and 1.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from separable.plot import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], bins=2)
    >>> display.probability.round(2), display.fraction
    (array([0.15, 0.85]), array([0., 1.]))
    """

    label: Any
    probability: Floats
    fraction: Floats
    low: Floats
    high: Floats
    counts: NDArray[np.int64]
    edges: Floats
    brier: float

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        bins: int = 10,
        strategy: Literal["uniform", "quantile"] = "uniform",
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the calibration curve of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier, search, pipeline or LinearModel
            It has ``predict_proba``.
        X : array-like, sparse matrix or data frame, shape (n, d)
            Test rows.
        y : array-like, shape (n,)
        positive : object, optional
            The class. By default the second of two; required with more.
        bins : int, default 10
        strategy : {"uniform", "quantile"}, default "uniform"
            Bins of the same width, or of the same number of rows.
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the curve.

        Returns
        -------
        CalibrationDisplay
        """
        case = case_from_estimator(estimator, X, y, positive)
        return cls.from_case(case, bins, strategy).plot(ax, **look)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        probabilities: Any,
        *,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        bins: int = 10,
        strategy: Literal["uniform", "quantile"] = "uniform",
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the calibration curve of probabilities.

        Parameters
        ----------
        y : array-like, shape (n,)
        probabilities : array-like, shape (n,) or (n, K)
            Of the second of two classes, or one column per class.
        classes : sequence, optional
            The sorted labels of the columns. By default those of y.
        positive, bins, strategy, ax, **look
            As in ``from_estimator``.

        Returns
        -------
        CalibrationDisplay
        """
        case = case_from_scores(
            y, probabilities, classes=classes, positive=positive, probabilities=True
        )
        return cls.from_case(case, bins, strategy).plot(ax, **look)

    @classmethod
    def from_case(cls, case: ClassCase, bins: int, strategy: str) -> Self:
        """Return the calibration curve of the positive class, without drawing it."""
        if not isinstance(bins, int | np.integer) or bins < 1:
            raise ValueError(f"bins must be an int >= 1. Got {bins!r}.")
        if case.positive is None:
            raise ValueError(
                f"There are {case.n_known} classes, and the curve shows one. Choose it, for "
                f"example positive={case.labels[0]!r}."
            )
        if case.probabilities is None:
            raise ValueError(
                "The model gives no probabilities. Use a logistic model, or LinearSVM with "
                "probability=True."
            )
        chances = case.probabilities[:, case.positive]
        y_true = case.y_true == case.positive
        edges = _edges(chances, int(bins), strategy)
        bin_index = np.clip(np.searchsorted(edges, chances, side="right") - 1, 0, len(edges) - 2)
        counts = np.bincount(bin_index, minlength=len(edges) - 1)
        mask = counts > 0
        n = counts[mask]
        fraction = np.bincount(bin_index, y_true, len(counts))[mask] / n
        return cls(
            case.labels[case.positive],
            np.bincount(bin_index, chances, len(counts))[mask] / n,
            fraction,
            *wilson(fraction, n),
            n,
            edges,
            float(np.mean((chances - y_true) ** 2)),
        )

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        **look
            For ``Axes.plot`` of the curve.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(6.8, 5.2))
        (ideal,) = axes.plot(
            [0, 1], [0, 1], color=GREY, linestyle=(0, (1, 2)), label="perfect calibration"
        )
        bars = axes.vlines(
            self.probability, self.low, self.high, color=BLUE, alpha=0.5, label="95 % interval"
        )
        style = {"color": BLUE, "marker": "o", "markersize": 4, "zorder": 3, **look}
        (line,) = axes.plot(self.probability, self.fraction, label="this model", **style)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self._draw_counts(axes)
        name = called(self.label)
        describe(
            axes,
            f"Calibration curve of {name} (Brier score {self.brier:.3f})",
            f"mean predicted probability of {name}",
            f"fraction of {name}",
        )
        add_legend(axes, [line, bars, ideal])
        return self

    def _draw_counts(self, axes: Any) -> None:
        """Draw the number of rows per bin, in a strip above."""
        strip = axes.inset_axes((0.0, 1.03, 1.0, 0.14), sharex=axes)
        bin_index = np.clip(
            np.searchsorted(self.edges, self.probability, side="right") - 1, 0, len(self.edges) - 2
        )
        widths = np.diff(self.edges)[bin_index]
        strip.bar(
            self.edges[bin_index], self.counts, widths, align="edge", color=LIGHT, edgecolor="white"
        )
        strip.tick_params(labelbottom=False, bottom=False, labelsize=text_size(axes, 8.0))
        strip.spines[["top", "right"]].set_visible(False)
        strip.locator_params(axis="y", nbins=2)
        strip.set_ylabel("rows", fontsize=text_size(axes, 9.0))


def _edges(chances: Floats, bins: int, strategy: str) -> Floats:
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, bins + 1)
    if strategy != "quantile":
        raise ValueError(f"strategy must be 'uniform' or 'quantile'. Got {strategy!r}.")
    inner = np.quantile(chances, np.linspace(0, 1, bins + 1)[1:-1])
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def wilson(fraction: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the 95 % intervals of fractions of n rows."""
    middle = (fraction + NORMAL_QUANTILE**2 / (2 * n)) / (1 + NORMAL_QUANTILE**2 / n)
    half = (
        NORMAL_QUANTILE
        / (1 + NORMAL_QUANTILE**2 / n)
        * np.sqrt(fraction * (1 - fraction) / n + NORMAL_QUANTILE**2 / (4 * n**2))
    )
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
