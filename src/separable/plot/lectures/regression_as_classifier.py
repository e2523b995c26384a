"""Regression used as a classifier: points that are too right pull its boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.certified.estimators.logistic_regression import LogisticRegression
from separable.moments.discriminant.least_squares_classifier import LeastSquaresClassifier
from separable.plot.style.clipping import box_around
from separable.plot.style.display import Display
from separable.plot.style.panels import describe_panel, legend_below, panels_for
from separable.plot.style.points import (
    draw_boundary,
    draw_classes,
    names_of,
    plane_points,
    two_classes,
)
from separable.plot.style.theme import DARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["RegressionAsClassifierDisplay"]

LINES = {"least squares": "-", "logistic regression": "--"}


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
        The first.
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
        """Draw two panels, in the place of ``ax`` or in a new figure; return self."""
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
