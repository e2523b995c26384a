"""Solutions of the perceptron by initial weights, order of rows and step size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from separable.online.perceptron import Perceptron
from separable.plot.style.panels import describe_panel, legend_below, panels_for
from separable.plot.style.plane import (
    box_around,
    draw_boundary,
    draw_classes,
    names_of,
    plane_points,
    two_classes,
)
from separable.plot.style.theme import AMBER, BLACK, GREEN, PINK, SKY, Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["PerceptronSolution", "StartAndOrderDisplay"]

LINES = (
    {"color": BLACK, "linestyle": "-"},
    {"color": GREEN, "linestyle": "--"},
    {"color": PINK, "linestyle": "-."},
    {"color": AMBER, "linestyle": ":"},
    {"color": SKY, "linestyle": (0, (5, 1, 1, 1, 1, 1))},
)
TITLES = {
    "start": "Start: same rows, same order",
    "order": "Order: start at 0, shuffled rows",
    "step": "Step: from {start}, same order",
}


class PerceptronSolution(NamedTuple):
    """Result of one run: its setting in words, its weights, updates and margin."""

    words: str
    coef: Any
    intercept: float
    updates: int
    margin: float


@dataclass(eq=False, repr=False)
class StartAndOrderDisplay(Display):
    """Perceptrons on the same rows that differ in start, order of rows, or step.

    All of them separate the rows, and each ends at another boundary. From a start at 0 the step
    changes nothing but the length of the weights, so steps are compared from another start.

    Parameters
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
    classes : ndarray of shape (2,)
    solutions : dict from str to list of PerceptronSolution
        Of "start", "order" and "step".
    names : tuple of str

    Attributes
    ----------
    axes_ : ndarray of Axes
        One for each of them.
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import StartAndOrderDisplay
    >>> X, y = [[0, 0], [0, 1], [3, 3], [4, 2]], [0, 0, 1, 1]
    >>> display = StartAndOrderDisplay.from_data(X, y, seeds=(0, 1))
    >>> [solution.words for solution in display.solutions["order"]]
    ['seed 0', 'seed 1']
    """

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    solutions: dict[str, list[PerceptronSolution]]
    names: tuple[str, ...] = ("x1", "x2")
    axes_: Any = field(init=False)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        starts: Any = None,
        seeds: Sequence[int] = (0, 1, 2, 3),
        steps: Sequence[float] = (0.1, 1.0, 10.0),
        max_iter: int = 10_000,
        ax: Axes | None = None,
    ) -> Self:
        """Run ``Perceptron`` with each start, order and step, and draw what it found.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, 2)
        y : array-like of shape (n,)
            Two classes.
        starts : array-like of shape (s, 3), optional
            Each (w_1, w_2, b). Default: 0, and three directions as long as the longest row.
        seeds : sequence of int, default (0, 1, 2, 3)
            Of the shuffles.
        steps : sequence of float, default (0.1, 1.0, 10.0)
            Values of ``eta0``, from the last start.
        max_iter : int, default 10000
            The most epochs of each run.
        ax : Axes, optional

        Returns
        -------
        StartAndOrderDisplay
        """
        points = plane_points(X, cls.__name__)
        labels, classes = two_classes(y, len(points), cls.__name__)
        begin = _starts(starts, points)

        def run(words: str, start: Any = (0, 0, 0), **how: Any) -> PerceptronSolution:
            learner = Perceptron(max_iter=max_iter, **{"shuffle": False, **how})
            learner.fit(points, labels, coef_init=[start[:2]], intercept_init=start[2:])
            return _solution(words, learner, points, labels == classes[1])

        predictions = {
            "start": [run(f"w = ({s[0]:.2g}, {s[1]:.2g})", s) for s in begin],
            "order": [run(f"seed {k}", shuffle=True, random_state=k) for k in seeds],
            "step": [run(f"eta0 = {eta:g}", begin[-1], eta0=eta) for eta in steps],
        }
        return cls(points, labels, classes, predictions, names_of(X)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw three panels, in place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(
            ax, len(self.solutions), size=(3.6, 4.4), shared_axes=True
        )
        self.ax_ = self.axes_[0]
        box = box_around(self.X)
        for axes, (what, solutions) in zip(self.axes_, self.solutions.items(), strict=True):
            draw_classes(axes, self.X, self.y, self.classes)
            lines = [self._draw(axes, index, each, box) for index, each in enumerate(solutions)]
            describe_panel(axes, TITLES[what].format(start=self._last_start()), *self.names)
            legend_below(axes, lines)
        if ax is None:
            self.figure_.suptitle("The perceptron solution depends on start, order and step size")
        return self

    def _last_start(self) -> str:
        """Return the start in words from which the step sizes are compared."""
        starts = self.solutions.get("start")
        return starts[-1].words if starts else "the same start"

    @staticmethod
    def _draw(ax: Axes, index: int, solution: PerceptronSolution, box: Floats) -> Any:
        label = f"{solution.words}: {solution.updates} updates, margin {solution.margin:.2g}"
        look: Any = {"linewidth": 2, "label": label, **LINES[index % len(LINES)]}
        return draw_boundary(ax, solution.coef, solution.intercept, box, **look)


def _starts(starts: Any, points: Floats) -> Floats:
    if starts is None:
        length = float(np.sqrt((points**2).sum(axis=1).max()))
        turn = np.deg2rad([60.0, 180.0, 300.0])
        away = length * np.stack([np.cos(turn), np.sin(turn), np.zeros(3)], axis=1)
        return np.vstack([np.zeros(3), away.round(6) + 0.0])
    given = np.asarray(starts, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != 3 or not len(given) or not np.isfinite(given).all():
        raise ValueError(
            f"starts must be rows of three finite numbers, w_1, w_2 and b. Got {starts!r}."
        )
    return given


def _solution(
    words: str, learner: Any, X: Floats, positive: NDArray[np.bool_]
) -> PerceptronSolution:
    w, b = learner.coef_[0], float(learner.intercept_[0])
    length = float(np.linalg.norm(w))
    margins = np.where(positive, 1.0, -1.0) * (X @ w + b)
    margin = float(margins.min()) / length if length else 0.0
    return PerceptronSolution(words, np.array(w), b, int(learner.evidence_["updates"]), margin)
