"""Curves of numeric columns: the contribution of each value, over a histogram of training rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.model.explain.effects import CurveEffect, curve_effects
from separable.plot.style.fitted_models import linear_model
from separable.plot.style.panels import describe_panel, legend_of_panels, panels_for
from separable.plot.style.theme import (
    DARK,
    DASHES,
    GREY,
    LIGHT,
    LINE_COLOURS,
    Display,
    called,
    short_names,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = ["CurvesDisplay"]

#: Default number of curves, and the most scores of a panel.
MOST_CURVES, MOST_SCORES = 9, 7
#: Fraction of the height of a panel for the histogram.
HISTOGRAM_HEIGHT = 0.25
#: Quantiles of the training rows between which a curve is drawn: outliers would hide the rest.
OUTER = 0.005


@dataclass(eq=False, repr=False)
class CurvesDisplay(Display):
    """Curves of the numeric columns of a model with ``curves``, the largest effect first.

    A curve is the contribution of a column to the score or the prediction, shifted so that its mean
    over the training rows is 0. The bars below are the training rows. The band is
    two standard errors wide on either side, of the posterior of a ridge penalty with the estimated
    smoothing levels; models of `train`, `TableRegressor` and `TableClassifier` with a ridge penalty
    and one score have it.

    Parameters
    ----------
    names : list of str
        Raw columns.
    knots : list of ndarray, shape (n,)
    values : list of ndarray, shape (k, n)
        Contributions at the knots, one row for each score.
    rows : list of ndarray, shape (n,)
        Training rows at each knot.
    labels : list of str
        Names of the scores.
    meaning : str
        What a contribution raises.
    errors : list of ndarray, shape (n,), or None
        Standard errors of the contributions, for a band of two of them; None: not known.

    Attributes
    ----------
    axes_ : ndarray of Axes
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from separable import Ridge, TableEncoder, TableRegressor
    >>> from separable.plot import CurvesDisplay
    >>> age = np.linspace(18, 90, 400)
    >>> model = TableRegressor(Ridge(), TableEncoder(curves=True)).fit(
    ...     {"age": age}, np.abs(age - 45)
    ... )
    >>> display = CurvesDisplay.from_estimator(model)
    >>> display.names, display.knots[0].shape, display.values[0].shape
    (['age'], (32,), (1, 32))
    """

    names: list[str]
    knots: list[Floats]
    values: list[Floats]
    rows: list[Floats]
    labels: list[str]
    meaning: str
    errors: list[Floats | None] = field(default_factory=list)
    axes_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, columns: Sequence[str] | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the curves of a model whose encoder is a `TableEncoder` with curves.

        Parameters
        ----------
        estimator : LinearModel or fitted learner of tables
        columns : sequence of str, optional
            Raw columns; by default the nine of the largest effects.
        ax : Axes, optional

        Returns
        -------
        CurvesDisplay
        """
        model = linear_model(estimator)
        curves = curve_effects(model)
        names = list(columns) if columns is not None else _largest(curves)
        odd = [name for name in names if name not in curves]
        if odd or not names:
            known = ", ".join(map(repr, list(curves)[:8])) or "none"
            what = f"Column {odd[0]!r} has no curve" if odd else "The model has no curves"
            raise ValueError(
                f"{what}. Curves: {known}. Train with curves='yes', or fit a "
                "TableEncoder(curves=True)."
            )
        drawn = [curves[name] for name in names]
        made = cls(
            names,
            [each.knots for each in drawn],
            [each.values for each in drawn],
            [each.rows for each in drawn],
            *_words(model),
            [each.errors for each in drawn],
        )
        return made.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves, in place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(ax, len(self.names), size=(3.4, 2.8))
        self.ax_ = self.axes_[0]
        handles: list[Any] = []
        low, high = self._limits()
        parts = zip(self.axes_, self.names, self.knots, self.values, self.rows, strict=True)
        for panel, name, knots, values, rows in parts:
            _draw_rows(panel, knots, rows)
            handles = _draw_curves(panel, knots, values, self.labels)
            panel.set(xlim=_inner(knots, rows), ylim=(low, high))
            describe_panel(panel, shortened(name), shortened(name), self.meaning)
        for panel, knots, values, errors in zip(
            self.axes_, self.knots, self.values, self.errors, strict=False
        ):
            if errors is not None:
                low, high = values[0] - 2 * errors, values[0] + 2 * errors
                panel.fill_between(knots, low, high, color=DARK, alpha=0.15, linewidth=0, zorder=2)
        if len(self.labels) > 1:
            legend_of_panels(self.axes_, handles, whole=ax is None)
        return self

    def _limits(self) -> tuple[float, float]:
        """Return the scale of contributions, the same in all panels, with room for the rows."""
        bands = [np.zeros(1) if each is None else 2 * each for each in self.errors]
        bands += [np.zeros(1)] * (len(self.values) - len(bands))
        low = min(float((v - e).min()) for v, e in zip(self.values, bands, strict=True))
        high = max(float((v + e).max()) for v, e in zip(self.values, bands, strict=True))
        span = (high - low) or 1.0
        return low - 1.2 * HISTOGRAM_HEIGHT / (1 - HISTOGRAM_HEIGHT) * span, high + 0.05 * span


def _largest(curves: dict[str, CurveEffect]) -> list[str]:
    """Return the columns of the largest mean absolute contributions, largest first."""
    return sorted(curves, key=lambda name: -curves[name].size)[:MOST_CURVES]


def _words(model: LinearModel) -> tuple[list[str], str]:
    """Return the names of the drawn scores, and what a contribution raises."""
    if model.classes is None:
        labels = (
            ["prediction"]
            if model.n_scores == 1
            else [f"target {k}" for k in range(model.n_scores)]
        )
        return labels[:MOST_SCORES], "prediction"
    names = short_names(map(called, model.classes.tolist()))
    if model.n_scores == 1:
        return [f"for {names[-1]}"], f"score for {names[-1]}"
    return names[:MOST_SCORES], "score of the class"


def _draw_rows(panel: Any, knots: Floats, rows: Floats) -> None:
    """Draw the density of rows around each knot as bars in the lower part of a panel."""
    edges = np.concatenate([knots[:1], (knots[1:] + knots[:-1]) / 2, knots[-1:]])
    density = rows / np.diff(edges)
    heights = HISTOGRAM_HEIGHT * density / density.max()
    panel.bar(
        edges[:-1], heights, np.diff(edges), align="edge", color=LIGHT, edgecolor="white",
        linewidth=0.3, transform=panel.get_xaxis_transform(), zorder=1,
    )  # fmt: skip


def _draw_curves(panel: Any, knots: Floats, values: Floats, labels: list[str]) -> list[Any]:
    panel.axhline(0.0, color=GREY, linewidth=0.8, zorder=2)
    drawn = []
    for k, (label, curve) in enumerate(zip(labels, values, strict=False)):
        colour = DARK if len(labels) == 1 else LINE_COLOURS[k % len(LINE_COLOURS)]
        style = DASHES[k // len(LINE_COLOURS) % len(DASHES)]
        drawn += panel.plot(knots, curve, style, color=colour, label=label, zorder=3)
    return drawn


def _inner(knots: Floats, rows: Floats) -> tuple[float, float]:
    """Return the knots between which nearly all rows are."""
    share = np.cumsum(rows) / rows.sum()
    first = int(np.searchsorted(share, OUTER))
    last = min(int(np.searchsorted(share, 1.0 - OUTER)), len(knots) - 1)
    return float(knots[max(first - 1, 0)]), float(knots[last if last > first else -1])
