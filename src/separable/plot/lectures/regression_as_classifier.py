"""Regression as a classifier: its boundary moves with far points, and middle classes are masked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.certified.estimators.logistic_regression import LogisticRegression
from separable.fitting.targets import check_labels
from separable.moments.discriminant.lda import LDA
from separable.moments.discriminant.least_squares_classifier import LeastSquaresClassifier
from separable.plot.style.panels import describe_panel, legend_below, legend_of_panels, panels_for
from separable.plot.style.plane import (
    box_around,
    class_handles,
    class_scores,
    draw_boundary,
    draw_classes,
    names_of,
    plane_points,
    span,
    two_classes,
)
from separable.plot.style.theme import DARK, GREY, Display, class_style, short_names, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["MaskedClassDisplay", "RegressionAsClassifierDisplay"]

LINES = {"least squares": "-", "logistic regression": "--"}

TITLES = {
    "least squares": "Least squares: one linear score per class",
    "LDA": "LDA: one discriminant per class",
}


@dataclass(eq=False, repr=False)
class RegressionAsClassifierDisplay(Display):
    """Least squares as a classifier, before and after points come that are right by far.

    Such points have large residuals, which turn the boundary of least squares until it cuts into a
    class; the boundary of logistic regression stays.

    Parameters
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
    classes : ndarray of shape (2,)
    far : ndarray of bool, shape (n,)
        The rows that only the second panel has.
    models : dict from str to list of fitted learners
        For each learner the fit without and with the far rows.
    names : tuple of str

    Attributes
    ----------
    axes_ : ndarray of Axes
        Without and with the far rows.
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import RegressionAsClassifierDisplay
    >>> display = RegressionAsClassifierDisplay.from_example()
    >>> display.wrong("least squares"), display.wrong("logistic regression")
    ([1, 12], [1, 1])
    """

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    far: NDArray[np.bool_]
    models: dict[str, list[Any]]
    names: tuple[str, ...] = ("x1", "x2")
    axes_: Any = field(init=False)

    @classmethod
    def from_data(cls, X: Any, y: Any, far: Any, *, ax: Axes | None = None) -> Self:
        """Fit both learners without and with the far rows, and draw all four.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, 2)
        y : array-like of shape (n,)
            Two classes.
        far : array-like of bool, shape (n,)
            Which rows come later.
        ax : Axes, optional

        Returns
        -------
        RegressionAsClassifierDisplay
        """
        points = plane_points(X, cls.__name__)
        labels, classes = two_classes(y, len(points), cls.__name__)
        later = np.asarray(far)
        if later.dtype != np.bool_ or later.shape != (len(points),) or not later.any():
            raise ValueError(
                f"far must say of each of the {len(points)} rows whether it comes later, True of "
                f"some. Got {far!r}."
            )
        parts = [~later, np.ones(len(points), dtype=bool)]
        models: dict[str, list[Any]] = {
            "least squares": [LeastSquaresClassifier().fit(points[p], labels[p]) for p in parts],
            "logistic regression": [LogisticRegression().fit(points[p], labels[p]) for p in parts],
        }
        return cls(points, labels, classes, later, models, names_of(X)).plot(ax)

    @classmethod
    def from_example(cls, *, random_state: Any = 3, ax: Axes | None = None) -> Self:
        """Draw two clouds, and 25 points of one class far away on its side.

        Parameters
        ----------
        random_state : int, Generator or None, default 3
        ax : Axes, optional

        Returns
        -------
        RegressionAsClassifierDisplay
        """
        rng = np.random.default_rng(random_state)
        left = rng.normal(size=(60, 2)) * 0.7 + [-1.2, 1.0]
        right = rng.normal(size=(60, 2)) * 0.7 + [1.2, -1.0]
        far = rng.normal(size=(25, 2)) * 0.6 + [6.5, -7.5]
        y = np.repeat(["left", "right"], [60, 85])
        return cls.from_data(np.vstack([left, right, far]), y, np.arange(145) >= 120, ax=ax)

    def wrong(self, learner: str) -> list[int]:
        """Return how many rows a learner has wrong, without and with the far ones."""
        return [
            int((model.predict(self.X[part]) != self.y[part]).sum())
            for model, part in zip(self.models[learner], self._parts(), strict=True)
        ]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw two panels, in place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(ax, 2, size=(4.6, 4.6), shared_axes=True)
        self.ax_ = self.axes_[0]
        box = box_around(self.X)
        titles = "Two clouds", f"{int(self.far.sum())} more points, far away and correct"
        for panel, axes in enumerate(self.axes_):
            part = self._parts()[panel]
            handles = draw_classes(axes, self.X[part], self.y[part], self.classes, alpha=0.6)
            for name, models in self.models.items():
                w, b = models[panel].coef_[0], float(models[panel].intercept_[0])
                label = f"{name}: {self.wrong(name)[panel]} of {part.sum()} wrong"
                look = {"linestyle": LINES[name], "color": DARK, "label": label}
                handles.append(draw_boundary(axes, w, b, box, **look))
            describe_panel(axes, titles[panel], *self.names)
            legend_below(axes, handles, columns=2)
        return self

    def _parts(self) -> list[NDArray[np.bool_]]:
        return [~self.far, np.ones(len(self.far), dtype=bool)]


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
        The first of these axes.
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
        """Draw two panels, in place of ``ax`` or in a new figure; return self."""
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
