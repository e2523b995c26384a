"""Decision boundary between classes, with margins and support vectors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.plot.displays.boundary_scene import Scene, pair_of, scene_of
from separable.plot.style.fitted_models import best_of, class_codes, is_pipeline
from separable.plot.style.plane import (
    borders,
    box_around,
    line_in_box,
    marker_area,
    regions,
    scatter_classes,
)
from separable.plot.style.theme import (
    DARK,
    GREY,
    Display,
    add_legend,
    class_style,
    describe,
    short_names,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["BoundaryDisplay"]

#: Points per side of the grid for curved boundaries.
GRID_POINTS = 400
#: Newton steps from the grid to the curve; gradients are differences over this part of a cell.
NEWTON_STEPS, DIFFERENCE_STEP = 3, 0.01
MIN_SQUARE = 1e-300
#: Relative tolerance of scores on the margin.
MARGIN_TOLERANCE = 1e-3
#: Maximum characters of an axis label, over several lines.
MAX_LABEL_WIDTH = 80


@dataclass(eq=False)
class BoundaryDisplay(Display):
    """The boundary between classes, the margins beside it and the rows on them.

    Two columns are drawn as they are. More are projected to the plane of w and the direction of
    largest remaining spread, which shows the true boundary; three classes to the plane of the
    differences of their weights, which also does. A pipeline of more than two
    columns is drawn in the space that its last step sees. A pipeline of two columns, or a model
    that is not linear in them, for example one of squares and products, is drawn in their plane.

    Parameters
    ----------
    scene : Scene
        The plane and its scores.
    codes : ndarray of int, shape (n,), or None
        The class of each row, as an index of ``classes``.
    margin : float or None
        The margins drawn are at a score of +-margin.

    Attributes
    ----------
    points : ndarray, shape (n, 2)
        The rows in the plane.
    classes : ndarray
    lines : list of ndarray, shape (m, 2)
        The boundary in the plane, piece by piece; straight pieces have exact ends.
    margin_lines : list of ndarray, shape (m, 2)
    support : ndarray of bool, shape (n,)
        The rows on or inside the margin.
    wrong : int or None
        Number of misclassified rows.
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separable import LinearSVM
    >>> from separable.plot import BoundaryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = LinearSVM(loss="hinge").fit(X[50:], y[50:])
    >>> display = BoundaryDisplay.from_estimator(svm, X[50:], y[50:])
    >>> display.wrong, len(display.lines)
    (1, 1)
    """

    scene: Scene
    codes: NDArray[np.int32] | None
    margin: float | None
    box: Floats = field(init=False)
    lines: list[Floats] = field(init=False)
    margin_lines: list[Floats] = field(init=False)
    support: NDArray[np.bool_] = field(init=False)
    wrong: int | None = field(init=False)

    def __post_init__(self) -> None:
        scene = self.scene
        scores = scene.score(scene.points)
        if scores.shape[1] > 1 or not scene.has_margins:
            self.margin = None
        self.box = self._box()
        self.lines = self._lines()
        self.margin_lines = [] if self.margin is None else self._margin_lines(self.margin)
        self.support = self._support(scores)
        self.wrong = None
        if self.codes is not None:
            predicted = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
            self.wrong = int(np.count_nonzero(predicted != self.codes))

    @property
    def points(self) -> Floats:
        """The rows in the plane, (n, 2)."""
        return self.scene.points

    @property
    def classes(self) -> NDArray[Any]:
        """The classes that are drawn."""
        return self.scene.classes

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
        """Draw the boundary of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier, search, pipeline or LinearModel
        X : array-like, sparse matrix or data frame, shape (n, d)
            The rows to draw. Sparse rows stay sparse.
        y : array-like, shape (n,), optional
            Their classes.
        classes : two classes, optional
            Draw only these two, and their rows. Needed for more than three classes with more than
            two features.
        margin : float or None, default 1.0
            Draw the lines where the score is +-margin, and mark the rows on and between them.
            None: do not.
        ax : Axes, optional
            By default a new figure.
        **look
            Passed to ``plot``.

        Returns
        -------
        BoundaryDisplay
        """
        if margin is not None and not (0 < margin < np.inf):
            raise ValueError(f"margin must be a finite number > 0 or None. Got {margin!r}.")
        scene = scene_of(estimator, X, classes)
        codes = None
        if y is not None:
            scene, codes = _with_labels(scene, _classes_of(estimator, scene), y, classes)
        made = cls(scene, codes, None if margin is None else float(margin))
        return made.plot(ax, **look)

    def points_in_space(self, points: Any = None) -> Floats:
        """Return points of the picture in the space of the columns (of a pipeline's last step).

        Parameters
        ----------
        points : array-like, shape (m, 2), optional
            By default those of the boundary.

        Returns
        -------
        ndarray, shape (m, d)
        """
        if points is None:
            points = np.concatenate(self.lines) if self.lines else np.empty((0, 2))
        return self.scene.view.in_space(np.asarray(points, dtype=np.float64).reshape(-1, 2))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        regions: bool = True,
        legend: bool = True,
        scatter_kwargs: dict[str, Any] | None = None,
        line_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        regions : bool, default True
            Shade the region of each class.
        legend : bool, default True
        scatter_kwargs, line_kwargs : dict, optional
            For ``Axes.scatter`` of the rows and ``Axes.plot`` of the boundary.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(7.6, 4.8))
        if regions:
            self._shade(axes)
        handles = scatter_classes(axes, self.points, self.codes, self.classes, scatter_kwargs or {})
        handles += self._draw_lines(axes, line_kwargs or {}) + self._mark_support(axes)
        axes.set_xlim(*self.box[:, 0])
        axes.set_ylim(*self.box[:, 1])
        describe(
            axes,
            self._title(),
            *(shortened(label, MAX_LABEL_WIDTH) for label in self.scene.view.labels),
        )
        if legend:
            add_legend(axes, handles)
        return self

    # ------------------------------------------------------------------ what is computed

    def _box(self) -> Floats:
        scene, points = self.scene, self.points
        if scene.weights is None or len(scene.view.centre) <= 2 or len(scene.weights) > 1:
            return box_around(points)
        wide = np.ptp(points[:, 0])
        marks = [0.0]
        if self.margin is not None:
            far = self.margin / scene.weights[0, 0]
            marks += [far, -far] if far <= max(wide, np.abs(points[:, 0]).max()) else []
        middle = points[:1, 1].repeat(len(marks))
        return box_around(np.vstack([points, np.column_stack([marks, middle])]))

    def _lines(self) -> list[Floats]:
        scene = self.scene
        if scene.weights is None or scene.intercept is None:
            return self._level_lines(0.0)
        if len(scene.weights) == 1:
            result = line_in_box(scene.weights[0], float(scene.intercept[0]), self.box)
            return [] if result is None else [result]
        return [piece for _, piece in borders(*self._all_scores(), self.box)]

    def _all_scores(self) -> tuple[Floats, Floats]:
        """Return weights and intercepts with one score per class, also for two classes."""
        weights, intercept = self.scene.weights, self.scene.intercept
        assert weights is not None
        assert intercept is not None
        if len(weights) > 1:
            return weights, intercept
        return np.vstack([np.zeros(2), weights]), np.append(0.0, intercept)

    def _margin_lines(self, margin: float) -> list[Floats]:
        scene = self.scene
        if scene.weights is None or scene.intercept is None:
            return self._level_lines(margin) + self._level_lines(-margin)
        w, b = scene.weights[0], float(scene.intercept[0])
        result = [line_in_box(w, b + level, self.box) for level in (margin, -margin)]
        return [piece for piece in result if piece is not None]

    def _level_lines(self, level: float) -> list[Floats]:
        """Return level lines of curved scores; with several classes, of the lead over others."""
        from contourpy import contour_generator

        x, y, leads = self._grid_leads()
        result: list[Any] = []
        for lead in leads:
            result += contour_generator(x, y, lead).lines(level)
        return [self._onto(line, level) for line in result] if len(leads) == 1 else result

    def _onto(self, line: Floats, level: float) -> Floats:
        """Move points from the level line of the grid to that of the score.

        Newton steps along the gradient; a point stays unless its score comes nearer.
        """
        score, cell = self.scene.score, np.ptp(self.box, axis=0) / GRID_POINTS
        points, off = line, score(line)[:, 0] - level
        for _ in range(NEWTON_STEPS):
            sides = [
                score(points + side)[:, 0] - score(points - side)[:, 0]
                for side in np.diag(DIFFERENCE_STEP * cell)
            ]
            gradient = np.stack(sides, axis=1) / (2 * DIFFERENCE_STEP)  # by cell
            steep = np.maximum((gradient**2).sum(axis=1), MIN_SQUARE)
            moved = points - np.clip((off / steep)[:, None] * gradient, -1.0, 1.0) * cell
            left = score(moved)[:, 0] - level
            nearer = np.abs(left) < np.abs(off)
            points = np.where(nearer[:, None], moved, points)
            off = np.where(nearer, left, off)
        return points

    def _grid_leads(self) -> tuple[Floats, Floats, list[Floats]]:
        """Return a grid and the lead of each class on it; for two classes the score."""
        x, y = (np.linspace(low, high, GRID_POINTS) for low, high in self.box.T)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        scores = self.scene.score(grid)
        if scores.shape[1] == 1:
            return x, y, [scores[:, 0].reshape(GRID_POINTS, GRID_POINTS)]
        leads = []
        for k in range(scores.shape[1]):
            others = np.delete(scores, k, axis=1).max(axis=1)
            leads.append((scores[:, k] - others).reshape(GRID_POINTS, GRID_POINTS))
        return x, y, leads

    def _support(self, scores: Floats) -> NDArray[np.bool_]:
        if self.margin is None:
            return np.zeros(len(scores), dtype=np.bool_)
        sides = np.sign(scores[:, 0]) if self.codes is None else 2.0 * self.codes - 1
        near: NDArray[np.bool_] = sides * scores[:, 0] <= self.margin * (1 + MARGIN_TOLERANCE)
        return near

    # ------------------------------------------------------------------ what is drawn

    def _shade(self, ax: Any) -> None:
        scene = self.scene
        if scene.weights is None or scene.intercept is None:
            x, y, leads = self._grid_leads()
            if len(leads) == 1:
                leads = [-leads[0], leads[0]]
            for k, lead in enumerate(leads):
                if lead.max() > 0:
                    colour = class_style(k)["color"]
                    ax.contourf(x, y, lead, [0, np.inf], colors=[colour], alpha=0.1, zorder=0)
            return
        for k, part in enumerate(regions(*self._all_scores(), self.box)):
            if len(part) > 2:
                ax.fill(*part.T, color=class_style(k)["color"], alpha=0.1, linewidth=0, zorder=0)

    def _draw_lines(self, ax: Any, line_kwargs: dict[str, Any]) -> list[Any]:
        from matplotlib.lines import Line2D

        look = {"color": DARK, "linewidth": 1.8, "zorder": 3, **line_kwargs}
        for line in self.lines:
            ax.plot(*line.T, **look)
        thin = {**look, "linewidth": 1.1, "linestyle": "--"}
        for line in self.margin_lines:
            ax.plot(*line.T, **thin)
        what = "boundary: score = 0" if len(self.classes) == 2 else "boundary: two scores equal"
        outside = "" if self.lines else "\n(outside the picture)"
        handles = [Line2D([], [], **look, label=what + outside)]
        if self.margin_lines:
            handles.append(Line2D([], [], **thin, label=f"margin: score = ±{self.margin:g}"))
        return handles

    def _mark_support(self, ax: Any) -> list[Any]:
        if not self.support.any():
            return []
        count = int(np.count_nonzero(self.support))
        side = 3.2 * marker_area(ax, len(self.points))
        ring = ax.scatter(
            *self.points[self.support].T,
            s=side,
            facecolors="none",
            edgecolors=GREY if count > 200 else DARK,
            linewidths=0.4 if count > 200 else 0.8,
            zorder=2.5 if count <= 200 else 1.5,
            rasterized=count > 2000,
            label=f"on or inside the margin ({count})",
        )
        return [ring]

    def _title(self) -> str:
        what = f"{self.scene.learner}: boundary"
        if len(self.classes) == 2:
            what += " between " + " and ".join(short_names(self.classes.tolist(), 20))
        else:
            what = f"{what[:-1]}ies between {len(self.classes)} classes"
        if self.wrong is None:
            return what
        n = len(self.points)
        return f"{what}; {self.wrong} of {n} row{'s' * (n != 1)} misclassified"


def _classes_of(estimator: Any, scene: Scene) -> NDArray[Any]:
    """Return all classes of an estimator."""
    fitted = best_of(estimator)
    last = fitted[-1] if is_pipeline(fitted) else fitted
    result = getattr(last, "classes_", getattr(last, "classes", scene.classes))
    return np.asarray(result)


def _with_labels(
    scene: Scene, known: NDArray[Any], y: Any, pair: Sequence[Any] | None
) -> tuple[Scene, NDArray[np.int32]]:
    """Return the scene with the rows of its classes, and the class indices."""
    codes = class_codes(y, len(scene.points), known, "BoundaryDisplay")
    chosen = pair_of(known, pair)
    if chosen is None:
        return scene, codes
    rows = np.isin(codes, chosen)
    if not rows.any():
        raise ValueError(f"No row of y is {pair[0]!r} or {pair[1]!r}.")  # type: ignore[index]
    ours = (codes[rows] == chosen[1]).astype(np.int32)
    return replace(scene, points=scene.points[rows]), ours
