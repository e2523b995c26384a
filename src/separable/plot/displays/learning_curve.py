"""Learning curve: score against the number of training rows, with a forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.plot.style.theme import (
    BLUE,
    DARK,
    GREY,
    ORANGE,
    Display,
    add_legend,
    describe,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separable.select import LearningCurve

__all__ = ["LearningCurveDisplay"]


@dataclass(eq=False)
class LearningCurveDisplay(Display):
    """Performance on held-out rows by the number of training rows, with a forecast.

    Parameters
    ----------
    curve : LearningCurve
        Of ``separable.select.learning_curve``.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LDA
    >>> from separable.plot import LearningCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(LDA(), X, y, sizes=[50, 100, 200, 390])
    >>> display.curve.metric
    '1 - error rate'
    """

    curve: LearningCurve

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **settings: Any
    ) -> Self:
        """Measure a learning curve and draw it.

        Parameters
        ----------
        estimator : estimator
        X : array-like, sparse matrix or data frame, shape (n, d)
        y : array-like, shape (n,)
        ax : Axes, optional
        **settings
            Passed to ``separable.select.learning_curve``: ``sizes``, ``repeats``, ``scoring``, ...

        Returns
        -------
        LearningCurveDisplay
        """
        from separable.select import learning_curve

        return cls(learning_curve(estimator, X, y, **settings)).plot(ax)

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, ax: Axes | None = None, **look: Any) -> Self:
        """Draw a learning curve.

        Parameters
        ----------
        curve : LearningCurve
        ax : Axes, optional
        **look
            Passed to ``plot``.

        Returns
        -------
        LearningCurveDisplay
        """
        return cls(curve).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, forecast: bool = True, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        forecast : bool, default True
            Draw the forecast at two and four times the rows.
        **look
            For ``Axes.errorbar`` of the measured points.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(7.8, 4.6))
        curve = self.curve
        axes.set_xscale("log")
        handles = [self._draw_measured(axes, look)]
        last, sizes = int(curve.sizes[-1]), curve.sizes.tolist()
        if forecast and np.isfinite(curve.forecast.mean).all():
            handles.append(self._draw_forecast(axes))
            sizes += curve.forecast.sizes.tolist()
        handles += self._clip(axes)
        if curve.baseline is not None:
            handles.append(self._draw_constant(axes, curve.baseline))
        if forecast:
            handles += self._draw_law(axes)
        _count_ticks(axes, sizes)
        better = "" if curve.greater_is_better else " (lower is better)"
        learner = shortened(curve.learner, 40)
        describe(
            axes,
            f"Learning curve of {learner}: {curve.metric} {curve.mean[-1]:.3g} with {last} rows",
            "training rows (log scale)",
            f"{curve.metric} on held-out rows{better}",
        )
        add_legend(axes, handles)
        return self

    def _draw_measured(self, axes: Any, look: dict[str, Any]) -> Any:
        curve = self.curve
        error = np.nan_to_num(curve.standard_error)
        style = {"color": BLUE, "marker": "o", "markersize": 4, "capsize": 2, **look}
        repeats = curve.scores.shape[1]
        label = f"measured, ± standard error\nof {repeats} repetition{'s' * (repeats != 1)}"
        return axes.errorbar(curve.sizes, curve.mean, error, label=label, **style)

    def _clip(self, axes: Any) -> list[Any]:
        """Show MSE0 - MSE from -MSE0 on: smaller sizes may be far below; arrows point to them."""
        curve = self.curve
        if curve.metric != "MSE0 - MSE" or curve.constant_errors is None:
            return []
        floor = -float(np.mean(curve.constant_errors))
        tops = [*(curve.mean + np.nan_to_num(curve.standard_error)), *curve.forecast.high, 0.0]
        high = float(np.nanmax(tops))
        below = curve.mean < floor
        if not below.any():
            return []
        axes.set_ylim(floor - 0.05 * (high - floor), high + 0.05 * (high - floor))
        look = {"linestyle": "none", "marker": "v", "color": BLUE, "clip_on": False}
        return list(
            axes.plot(curve.sizes[below], np.full(below.sum(), floor), label="below", **look)
        )

    def _draw_constant(self, axes: Any, baseline: float) -> Any:
        """Draw the best constant prediction; only name it if it would flatten the curve."""
        low, high = axes.get_ylim()
        label = f"best constant: {baseline:.3g}"
        if baseline < low - (high - low):
            return axes.plot([], [], linestyle="none", label=f"{label} (below)")[0]
        return axes.axhline(baseline, color=GREY, linestyle=(0, (1, 2)), label=label)

    def _draw_forecast(self, axes: Any) -> Any:
        curve, ahead = self.curve, self.curve.forecast
        sizes = np.append(curve.sizes[-1], ahead.sizes)
        band = axes.fill_between(
            sizes,
            np.append(curve.mean[-1], ahead.low),
            np.append(curve.mean[-1], ahead.high),
            color=ORANGE,
            alpha=0.2,
            linewidth=0,
            label=f"forecast, {ahead.level:.0%} interval",
        )
        axes.errorbar(
            ahead.sizes,
            ahead.mean,
            np.abs([ahead.mean - ahead.low, ahead.high - ahead.mean]),
            fmt="D",
            color=ORANGE,
            markersize=4,
            capsize=2,
        )
        return band

    def _draw_law(self, axes: Any) -> list[Any]:
        """Draw the power law within the current limits."""
        curve = self.curve
        fitted = curve.sizes[curve.mean > axes.get_ylim()[0]]
        sizes = np.geomspace(min(fitted, default=curve.sizes[-1]), curve.forecast.sizes[-1], 100)
        law = curve.curve_at(sizes)
        if not np.isfinite(law).all():
            return []
        axes.set_ylim(axes.get_ylim())
        look = {"color": DARK, "linewidth": 1.0, "linestyle": "--"}
        return list(axes.plot(sizes, law, label="power law fitted", **look))


def _count_ticks(axes: Any, sizes: list[int]) -> None:
    """Label the axis with sizes instead of powers of ten, as far as they fit."""
    from matplotlib.ticker import NullLocator

    kept: list[int] = []
    for size in sorted(set(sizes), reverse=True):
        if not kept or kept[-1] / size >= (max(sizes) / min(sizes)) ** 0.11:
            kept.append(size)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(kept, [f"{size:,}".replace(",", " ") for size in kept])
