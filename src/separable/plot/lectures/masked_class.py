"""Regression used as a classifier of three classes: the one in the middle is never chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.fitting.targets import check_labels
from separable.moments.discriminant.lda import LDA
from separable.moments.discriminant.least_squares_classifier import LeastSquaresClassifier
from separable.plot.style.clipping import class_scores
from separable.plot.style.display import Display
from separable.plot.style.panels import describe_panel, legend_of_panels, panels_for
from separable.plot.style.points import class_handles, names_of, plane_points, span
from separable.plot.style.theme import GREY, class_style, short_names, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["MaskedClassDisplay"]

TITLES = {
    "least squares": "Least squares: one linear score per class",
    "LDA": "LDA: one discriminant per class",
}


@dataclass(eq=False, repr=False)
class MaskedClassDisplay(Display):
    """Classes on a line, by least squares and by LDA: each class has a line, the highest wins.

    The line of a class in the middle is flat under least squares, for its rows are 1 between rows
    that are 0, so that one of the others is always higher: the class is masked. The discriminants
    of LDA have no such trouble.

    Parameters
    ----------
    X : ndarray of shape (n,)
    y : ndarray of shape (n,)
    classes : ndarray of shape (K,)
    models : dict from str to fitted learner
    name : str

    Attributes
    ----------
    axes_ : ndarray of Axes
    ax_ : Axes
        The first.
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from separable.plot import MaskedClassDisplay
    >>> X, y = np.arange(30.0)[:, None], np.repeat(["a", "b", "c"], 10)
    >>> display = MaskedClassDisplay.from_data(X, y)
    >>> display.never_chosen("least squares"), display.never_chosen("LDA")
    (['b'], [])
    """

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    models: dict[str, Any]
    name: str = "x"
    axes_: Any = field(init=False)

    @classmethod
    def from_data(cls, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Fit both learners and draw them.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, 1)
        y : array-like of shape (n,)
            Three classes or more.
        ax : Axes, optional

        Returns
        -------
        MaskedClassDisplay
        """
        points = plane_points(X, cls.__name__, 1)
        labels = check_labels(y, len(points), cls.__name__)
        classes = np.unique(labels)
        if len(classes) < 3:
            raise ValueError(
                f"MaskedClassDisplay draws three classes or more. Got {len(classes)}: "
                f"{classes.tolist()}."
            )
        models = {"least squares": LeastSquaresClassifier(), "LDA": LDA()}
        for model in models.values():
            model.fit(points, labels)
        return cls(points[:, 0], labels, classes, models, names_of(X, 1)[0]).plot(ax)

    def never_chosen(self, learner: str) -> list[Any]:
        """Return the classes that a learner predicts for no row."""
        chosen = self.models[learner].predict(self.X[:, None])
        return [label for label in self.classes.tolist() if label not in chosen]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw two panels, in the place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(ax, 2, columns=2, size=(4.7, 3.9))
        self.ax_ = self.axes_[0]
        for axes, learner in zip(self.axes_, self.models, strict=True):
            self._draw(axes, learner)
        handles = class_handles(self.ax_.get_legend_handles_labels()[0])
        legend_of_panels(self.axes_, handles, whole=ax is None)
        return self

    def _draw(self, ax: Axes, learner: str) -> None:
        model = self.models[learner]
        weights, intercept = class_scores(model)
        grid = np.linspace(*span(self.X, 0.05), 300)
        scores = grid[:, None] * weights[:, 0] + intercept
        low, high = span(scores, 0.05)
        rug = low - 0.12 * (high - low)
        names = short_names(self.classes.tolist(), 20)
        for k, label in enumerate(self.classes):
            look = class_style(k)
            own = self.X[self.y == label]
            ax.plot(grid, scores[:, k], color=look["color"], linewidth=2, label=f"class {names[k]}")
            ax.plot(own, np.full(len(own), rug), linestyle="", markersize=5, alpha=0.6, **look)
        ax.plot(grid, scores.max(axis=1), color=GREY, linewidth=6, alpha=0.25, zorder=0)
        missing = self.never_chosen(learner)
        remark = "every class is chosen"
        if missing:
            remark = shortened(f"never chosen: {', '.join(map(str, missing))}", 44)
        describe_panel(
            ax, f"{TITLES[learner]}\n{remark}", self.name, "score (the highest, grey, decides)"
        )
        ax.set_ylim(rug - 0.08 * (high - low), high)
