"""Rows in three dimensions with the plane between two classes."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable.model.predict.inputs import model_rows
from separable.plot.displays.boundary_scene import (
    View,
    columns_view,
    length,
    normal_view,
    pair_of,
    scores_of_pair,
)
from separable.plot.style.fitted_models import class_codes, linear_model, names_of_columns
from separable.plot.style.plane import box_around, plane_in_box, scatter_classes
from separable.plot.style.theme import (
    DARK,
    GREY,
    Display,
    add_legend,
    describe,
    is_narrow,
    short_names,
    shortened,
    text_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["Planes3dDisplay"]


@dataclass(eq=False)
class Planes3dDisplay(Display):
    """Rows as points of three dimensions, with the plane w.x + b = 0 and the margins beside it.

    Three columns are drawn as they are. More are drawn along w and the two directions of largest
    remaining spread, where the plane drawn is the true boundary, too.

    Parameters
    ----------
    learner : str
    classes : ndarray, shape (2,)
    view : View
        The three directions.
    points : ndarray, shape (n, 3)
    codes : ndarray of int, shape (n,), or None
        The class of each row, as a place among ``classes``.
    weights : ndarray, shape (3,)
        Of the points drawn; a score above 0 is ``classes[1]``.
    intercept : float
    margin : float or None
        The margins drawn are at a score of +-margin.

    Attributes
    ----------
    planes : dict of float to ndarray, shape (m, 3)
        The corners of the plane of each score that is in the picture.
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separable import LinearSVM
    >>> from separable.plot import Planes3dDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[:100, :3], y[:100]
    >>> display = Planes3dDisplay.from_estimator(LinearSVM().fit(X, y), X, y)
    >>> sorted(display.planes)
    [-1.0, 0.0, 1.0]
    """

    learner: str
    classes: NDArray[Any]
    view: View
    points: Floats
    codes: NDArray[np.int32] | None
    weights: Floats
    intercept: float
    margin: float | None
    #: Length of w in the picture, as a fraction of the longest side.
    arrow_length: ClassVar[float] = 0.3
    #: Ranges of columns that differ by at most this factor are drawn in equal units.
    near_units: ClassVar[float] = 4.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        margin: float | None = 1.0,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the plane of a fitted linear classifier.

        Parameters
        ----------
        estimator : fitted linear classifier, search or LinearModel
        X : array-like, sparse matrix or data frame, shape (n, d), d >= 3
        y : array-like, shape (n,), optional
        classes : two classes, optional
            Needed where there are more than two.
        margin : float or None, default 1.0
        ax : Axes3D, optional
            By default a new figure.
        **look
            Passed to ``plot``.

        Returns
        -------
        Planes3dDisplay
        """
        model = linear_model(estimator)
        if model.classes is None:
            raise ValueError(
                f"{model.learner} predicts numbers, which have no boundary between classes. Use a "
                "classifier."
            )
        if model.n_features < 3:
            raise ValueError(
                f"A picture in three dimensions needs at least three features, and the model has "
                f"{model.n_features}. Use BoundaryDisplay."
            )
        if len(model.classes) > 2 and classes is None:
            raise ValueError(
                f"{len(model.classes)} classes have many planes. Name two of them, for example "
                f"classes={tuple(model.classes[:2].tolist())!r}."
            )
        weights, intercept, shown = scores_of_pair(model, classes)
        matrix = model_rows(model, X).to_matrix()
        codes = None
        if y is not None:
            codes = class_codes(y, matrix.shape[0], model.classes, cls.__name__)
            first, second = pair_of(model.classes, classes) or (0, 1)
            rows = (codes == first) | (codes == second)
            matrix, codes = matrix[rows], (codes[rows] == second).astype(np.int32)
        if not matrix.shape[0]:
            raise ValueError("There is no row to draw.")
        w, b = weights[0], float(intercept[0])
        if not w.any():
            raise ValueError("All weights are 0: there is no plane to draw.")
        if model.n_features == 3:
            view = columns_view(names_of_columns(X, model, 3))
        else:
            view = normal_view(matrix, w, b, model.feature_names, 3)
            w, b = np.array([length(w), 0.0, 0.0]), 0.0
        points = view.coordinates(matrix)
        made = cls(model.learner, shown, view, points, codes, w, b, margin)
        return made.plot(ax, **look)

    @property
    def box(self) -> Floats:
        """Low and high corners of what is drawn, (2, 3)."""
        if len(self.view.centre) == 3:
            return box_around(self.points)
        zero = np.append(0.0, self.points[0, 1:])
        return box_around(np.vstack([self.points, zero]))

    @property
    def planes(self) -> dict[float, Floats]:
        """The corners of the plane of each score that is in the picture."""
        levels = [0.0] if self.margin is None else [0.0, self.margin, -self.margin]
        result = {s: plane_in_box(self.weights, self.intercept - s, self.box) for s in levels}
        return {level: vertices for level, vertices in result.items() if vertices is not None}

    def plot(
        self,
        ax: Axes | None = None,
        *,
        elev: float = 20.0,
        azim: float | None = None,
        legend: bool = True,
        scatter_kwargs: dict[str, Any] | None = None,
        plane_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes3D, optional
            By default a new figure.
        elev, azim : float, optional
            From where to look, in degrees. By default so that the plane is seen almost from its
            edge, with the classes on either side.
        legend : bool, default True
        scatter_kwargs, plane_kwargs : dict, optional
            For ``Axes3D.scatter`` of the rows and ``Poly3DCollection`` of the plane.

        Returns
        -------
        self
        """
        if ax is not None and ax.name != "3d":
            raise ValueError(
                "Planes3dDisplay needs axes in three dimensions: "
                'figure.add_subplot(projection="3d").'
            )
        axes = self._open(ax, size=(6.8, 5.6), projection="3d")
        look = {"depthshade": False, "s": 34, **(scatter_kwargs or {})}
        handles = scatter_classes(axes, self.points, self.codes, self.classes, look)
        handles += self._draw_planes(axes, plane_kwargs or {})
        self._draw_normal(axes)
        for side, low, high in zip("xyz", *self.box, strict=True):
            getattr(axes, f"set_{side}lim")(low, high)
        axes.view_init(elev=elev, azim=self._side_view() if azim is None else azim)
        sides = self.box[1] - self.box[0]
        axes.set_box_aspect(sides / self._sides, zoom=1.05)
        axes.locator_params(nbins=5)
        describe(axes, self._title())
        for side, label in zip("xyz", self.view.labels, strict=True):
            words = textwrap.fill(shortened(label, 80), 30)
            pad = text_size(axes, 4 + 6 * (1 + words.count("\n"))) - 6 * is_narrow(axes)
            getattr(axes, f"set_{side}label")(words, fontsize=text_size(axes), labelpad=pad)
        axes.tick_params(pad=0)
        if legend:
            location = None if is_narrow(axes) else "upper left"  # which the cube leaves empty
            if location is None:  # only drawing says how far labels of three axes reach down
                axes.figure.figure.draw_without_rendering()
            add_legend(axes, handles, loc=location)
        return self

    def _draw_planes(self, axes: Any, plane_kwargs: dict[str, Any]) -> list[Any]:
        from matplotlib.colors import to_rgba
        from mpl_toolkits.mplot3d.art3d import (  # type: ignore[import-untyped]
            Poly3DCollection,
        )

        handles = []
        for level, vertices in self.planes.items():
            look: dict[str, Any] = {
                "facecolor": to_rgba(GREY, 0.3 if level == 0 else 0.0),
                "edgecolor": DARK if level == 0 else GREY,
                "linewidth": 1.2 if level == 0 else 0.8,
                "linestyle": "-" if level == 0 else "--",
                **plane_kwargs,
            }
            plane = Poly3DCollection([vertices], **look)
            axes.add_collection3d(plane)
            if level >= 0:
                handles.append(_patch(look, level))
        return handles

    @property
    def normal(self) -> Floats:
        """Foot and tip of w as an arrow from the plane, (2, 3)."""
        corners = self.planes.get(0.0)
        if corners is None:
            foot = self.box.mean(axis=0)
        else:  # beside the rows
            far = np.linalg.norm((corners - self.points.mean(axis=0)) / self._sides, axis=1)
            foot = (corners.mean(axis=0) + corners[far.argmax()]) / 2
        length = self.arrow_length / np.linalg.norm(self.weights / self._sides)
        return np.array([foot, foot + length * self.weights])

    @property
    def _sides(self) -> Floats:
        """One range for all axes, or one each where the ranges are far apart."""
        sides = self.box[1] - self.box[0]
        return np.full(3, sides.max()) if sides.max() <= self.near_units * sides.min() else sides

    def _draw_normal(self, axes: Any) -> None:
        """Draw w, in the units of the columns at a right angle to the plane."""
        foot, tip = self.normal
        axes.quiver(*foot, *(tip - foot), color=DARK, linewidth=2.0, arrow_length_ratio=0.25)
        axes.text(*tip, " w", fontsize=text_size(axes, 13.0), style="italic", color=DARK)

    def _side_view(self) -> float:
        """Return the azimuth from which the plane is seen almost from its edge."""
        normal = self.weights * self._sides  # as the picture shows it
        return float(np.degrees(np.arctan2(normal[1], normal[0]))) - 90.0 + 15.0

    def _title(self) -> str:
        names = " and ".join(short_names(self.classes.tolist(), 20))
        what = f"{self.learner}: plane between {names}"
        if self.codes is None:
            return what
        n = len(self.points)
        wrong = np.count_nonzero((self.points @ self.weights + self.intercept > 0) != self.codes)
        return f"{what}; {wrong} of {n} row{'s' * (n != 1)} misclassified"


def _patch(look: dict[str, Any], level: float) -> Any:
    from matplotlib.patches import Patch

    label = "boundary: score = 0" if level == 0 else f"margins: score = ±{level:g}"
    return Patch(**{**look, "label": label})
