"""How far rows are from the boundary, on the right side or the wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from separable.plot.boundary import class_handles
from separable.plot.display import Display
from separable.plot.fitted import best_of, class_codes, linear_model
from separable.plot.style import DARK, GREY, add_legend, class_style, describe, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["MarginsDisplay"]

#: Classes that have a histogram each; more share one.
CLASSES = 8
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++", "ooo")


@dataclass(eq=False)
class MarginsDisplay(Display):
    """Margins of rows by class: below 0 are the rows on the wrong side.

    The margin of a row is y (w.x + b), with y = +-1; of three classes and more, the score of its
    class less the best other.

    Parameters
    ----------
    classes : ndarray
    codes : ndarray of int, shape (n,)
        The class of each row, as a place among ``classes``.
    margins : ndarray, shape (n,)
    unit : {"score", "distance"}
        Whether margins are scores, or divided by |w|: distances to the boundary.
    level : float or None
        The margin that is marked: 1 as a score.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.

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
        estimator : fitted classifier, search, pipeline or LinearModel
            It has ``decision_function``.
        X : array-like, sparse matrix or data frame, shape (n, d)
        y : array-like, shape (n,)
        unit : {"score", "distance"}, default "score"
            Distances, which are in the units of the columns, need a linear model.
        ax : Axes, optional
        **look
            As of ``plot``.

        Returns
        -------
        MarginsDisplay
        """
        if unit not in ("score", "distance"):
            raise ValueError(f"unit must be 'score' or 'distance'. Got {unit!r}.")
        fitted = best_of(estimator)
        classes = getattr(fitted, "classes_", getattr(fitted, "classes", None))
        if classes is None or not hasattr(fitted, "decision_function"):
            raise ValueError(
                f"{type(fitted).__name__} has no scores of classes. Margins need a classifier with "
                "decision_function."
            )
        scores = np.asarray(fitted.decision_function(X), dtype=np.float64)
        codes = class_codes(y, len(scores), np.asarray(classes), cls.__name__)
        if not len(scores):
            raise ValueError("X has no rows. A picture of margins needs at least one.")
        found, rivals = _margins(scores, codes)
        level = 1.0
        if unit == "distance":
            lengths = _lengths(linear_model(fitted).weights, codes, rivals)
            found = found / lengths
            level = 1.0 / float(lengths[0]) if scores.ndim == 1 else np.nan
        shown = None if np.isnan(level) else level
        return cls(np.asarray(classes), codes, found, unit, shown).plot(ax, **look)

    def plot(self, ax: Axes | None = None, *, bins: Any = "auto", **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        bins : int, sequence of float or str, default "auto"
            As of ``numpy.histogram_bin_edges``.
        **look
            For ``Axes.stairs``.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(7.4, 4.4))
        edges = np.histogram_bin_edges(self.margins, bins)
        if len(edges) > 61 and bins == "auto":
            edges = np.histogram_bin_edges(self.margins, 60)
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
        if len(self.classes) > CLASSES:
            counts, _ = np.histogram(self.margins, edges)
            style = {"fill": True, "color": GREY, "alpha": 0.6, **look}
            return [axes.stairs(counts, edges, label=f"{len(self.classes)} classes", **style)]
        drawn = []
        for k, label in enumerate(self.classes.tolist()):
            of_class = self.margins[self.codes == k]
            if not len(of_class):
                continue
            colour = class_style(k)["color"]
            counts, _ = np.histogram(of_class, edges)
            axes.stairs(counts, edges, fill=True, color=colour, alpha=0.25)
            style = {"edgecolor": colour, "linewidth": 1.4, "hatch": HATCHES[k % 8], **look}
            name = f"{shortened(label)} ({len(of_class)})"
            drawn.append(axes.stairs(counts, edges, label=name, **style))
        return class_handles(drawn)

    def _title(self) -> str:
        n, wrong = len(self.margins), int(np.count_nonzero(self.margins <= 0))
        return (
            f"Margins: {wrong} of {n} row{'s' * (n != 1)} on the wrong side, smallest "
            f"{self.margins.min():.3g}"
        )

    def _x_label(self) -> str:
        if self.unit == "distance":
            return "distance to the boundary in units of the columns (below 0: wrong side)"
        if len(self.classes) > 2:
            return "margin: score of the true class less the best other (below 0: wrong side)"
        return "margin: score towards the true class, y (w.x + b) (below 0: wrong side)"


def _margins(scores: Floats, codes: NDArray[np.int32]) -> tuple[Floats, NDArray[np.intp]]:
    """Return the margin of each row, and the class that comes closest."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores), 1 - codes.astype(np.intp)
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, codes] = -np.inf
    rivals = others.argmax(axis=1)
    return scores[rows, codes] - others[rows, rivals], rivals


def _lengths(weights: Floats, codes: NDArray[np.int32], rivals: NDArray[np.intp]) -> Floats:
    """Return |w| of the boundary that each row's margin is to."""
    if len(weights) == 1:
        return np.full(len(codes), np.linalg.norm(weights))
    gram = weights @ weights.T
    squares = gram.diagonal()[codes] + gram.diagonal()[rivals] - 2 * gram[codes, rivals]
    lengths: Floats = np.sqrt(np.maximum(squares, 0.0))
    return lengths
