"""Histogram of margins: signed distances of rows to the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from separable.geometry import margins
from separable.plot.style.fitted_models import best_of, class_codes, is_pipeline, linear_model
from separable.plot.style.plane import class_handles
from separable.plot.style.theme import (
    DARK,
    GREY,
    Display,
    add_legend,
    class_style,
    describe,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["MarginsDisplay"]

#: Maximum number of classes with their own histogram; more share one.
MAX_CLASSES = 8
#: Maximum number of bins chosen by a rule.
MAX_BINS = 60
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++", "ooo")


@dataclass(eq=False)
class MarginsDisplay(Display):
    """Margins of rows by class: below 0 are the rows on the wrong side.

    The margin of a row is y (w.x + b), with y = +-1; for three or more classes, the score of its
    class minus the best other one. See ``separable.geometry.margins``.

    Parameters
    ----------
    classes : ndarray
    codes : ndarray of int, shape (n,)
        The class of each row, as an index of ``classes``.
    margins : ndarray, shape (n,)
    unit : {"score", "distance"}
        Whether margins are scores, or divided by |w|: distances to the boundary.
    level : float or None
        The margin that is marked: 1 as a score.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separable import LinearSVM
    >>> from separable.plot import MarginsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = MarginsDisplay.from_estimator(LinearSVM().fit(X[:100], y[:100]), X[:100], y[:100])
    >>> int((display.margins < 0).sum())
    0
    """

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    margins: Floats
    unit: str
    level: float | None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        unit: Literal["score", "distance"] = "score",
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the margins of rows.

        Parameters
        ----------
        estimator : fitted linear classifier, search, pipeline or LinearModel
        X : array-like, sparse matrix or data frame, shape (n, d)
        y : array-like, shape (n,)
        unit : {"score", "distance"}, default "score"
            Distances are in the units of the columns that the linear model sees.
        ax : Axes, optional
        **look
            Passed to ``plot``.

        Returns
        -------
        MarginsDisplay
        """
        if unit not in ("score", "distance"):
            raise ValueError(f"unit must be 'score' or 'distance'. Got {unit!r}.")
        fitted = best_of(estimator)
        if is_pipeline(fitted):
            X = fitted[:-1].transform(X)
        model = linear_model(fitted)
        result = margins(model, X, y)
        assert model.classes is not None
        codes = class_codes(y, len(result.margins), model.classes, cls.__name__)
        if unit == "score":
            return cls(model.classes, codes, result.margins, unit, 1.0).plot(ax, **look)
        length = float(np.linalg.norm(model.weights))
        level = 1.0 / length if len(model.classes) == 2 and length > 0 else None
        return cls(model.classes, codes, result.distances, unit, level).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, bins: Any = "auto", **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        bins : int, sequence of float or str, default "auto"
            As in ``numpy.histogram_bin_edges``. A rule such as "auto" sets the width; one edge is
            at 0, so that no bin has rows of both sides.
        **look
            For ``Axes.stairs``.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(7.4, 4.4))
        known = self.margins[np.isfinite(self.margins)]  # without a boundary they are infinite
        edges = np.histogram_bin_edges(known, bins)
        if isinstance(bins, str):
            if len(edges) > MAX_BINS + 1:
                edges = np.histogram_bin_edges(known, MAX_BINS)
            edges = _from_zero(edges)
        handles = self._draw_histograms(axes, edges, look)
        zero = axes.axvline(0.0, color=DARK, linewidth=1.6, label="boundary")
        handles.append(zero)
        if self.level is not None and min(edges[0], 0.0) <= self.level <= edges[-1]:
            label = f"margin: score = {1:g}"
            handles.append(axes.axvline(self.level, color=DARK, linestyle="--", label=label))
        describe(axes, self._title(), self._x_label(), "rows")
        add_legend(axes, handles)
        return self

    def _draw_histograms(self, axes: Any, edges: Floats, look: dict[str, Any]) -> list[Any]:
        if len(self.classes) > MAX_CLASSES:
            counts, _ = np.histogram(self.margins, edges)
            style = {"fill": True, "color": GREY, "alpha": 0.6, **look}
            return [axes.stairs(counts, edges, label=f"{len(self.classes)} classes", **style)]
        drawn = []
        for k, short in enumerate(short_names(self.classes.tolist())):
            of_class = self.margins[self.codes == k]
            if not len(of_class):
                continue
            colour = class_style(k)["color"]
            counts, _ = np.histogram(of_class, edges)
            axes.stairs(counts, edges, fill=True, color=colour, alpha=0.25)
            style = {"edgecolor": colour, "linewidth": 1.4, "hatch": HATCHES[k % 8], **look}
            name = f"{short} ({len(of_class)})"
            drawn.append(axes.stairs(counts, edges, label=name, **style))
        return class_handles(drawn)

    def _title(self) -> str:
        n, wrong = len(self.margins), int(np.count_nonzero(self.margins <= 0))
        return (
            f"Margins: {wrong} of {n} row{'s' * (n != 1)} misclassified, smallest "
            f"{self.margins.min():.3g}"
        )

    def _x_label(self) -> str:
        if self.unit == "distance":
            return (
                "signed distance to the boundary, in units of the columns (below 0: misclassified)"
            )
        if len(self.classes) > 2:
            return "margin: score of the true class minus the best other (below 0: misclassified)"
        return "functional margin y (w.x + b) (below 0: misclassified)"


def _from_zero(edges: Floats) -> Floats:
    """Return edges of bins of equal width, one of them at 0 if 0 is in the range."""
    width = float(edges[1] - edges[0])
    if not edges[0] < 0.0 < edges[-1] or not width > 0.0:
        return edges
    whole: Floats = width * np.arange(np.floor(edges[0] / width), np.ceil(edges[-1] / width) + 1)
    return whole
