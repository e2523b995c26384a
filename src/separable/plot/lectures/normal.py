"""Bivariate normal distribution, with its ellipses and marginals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.model.parameters import COUNT, ParameterError
from separable.plot.style.panels import subplot_spec
from separable.plot.style.plane import check_covariance, ellipse, names_of, plane_points, span
from separable.plot.style.theme import BLUE, DARK, GREY, ORANGE, Display, pyplot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.typing import Floats


__all__ = ["NormalDisplay"]


@dataclass(eq=False, repr=False)
class NormalDisplay(Display):
    """A normal distribution in the plane: points, ellipses, marginals with histograms.

    Its density is constant on the ellipses (z - m)'S^-1 (z - m) = r^2, which
    contain a fraction 1 - exp(-r^2 / 2) of all points: 39 % for r = 1 and 98.9 % for r = 3.

    Parameters
    ----------
    mean : ndarray of shape (2,)
    covariance : ndarray of shape (2, 2)
    points : ndarray of shape (n, 2)
        Drawn from the distribution, or what it was estimated from.
    ellipses : dict from float to ndarray
        The points of the ellipse of each radius r.
    names : tuple of str
        Of the two axes.

    Attributes
    ----------
    axes_ : ndarray of Axes
        The plane, the marginal above it, the marginal at its right.
    ax_ : Axes
        The plane.
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import NormalDisplay
    >>> display = NormalDisplay.from_parameters((0, 0), [[1, 0.6], [0.6, 2]], n=200)
    >>> sorted(display.ellipses), display.points.shape
    ([1.0, 2.0, 3.0], (200, 2))
    """

    mean: Floats
    covariance: Floats
    points: Floats
    ellipses: dict[float, Floats]
    names: tuple[str, ...] = ("x1", "x2")
    axes_: Any = field(init=False)

    @classmethod
    def from_parameters(
        cls,
        mean: Any = (0.0, 0.0),
        covariance: Any = ((1.0, 0.6), (0.6, 2.0)),
        *,
        n: int = 2000,
        sigmas: Sequence[float] = (1, 2, 3),
        random_state: Any = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw points of a normal distribution, and the distribution.

        Parameters
        ----------
        mean : array-like of shape (2,)
        covariance : array-like of shape (2, 2)
        n : int, default 2000
            How many points.
        sigmas : sequence of float, default (1, 2, 3)
            The radii of the ellipses.
        random_state : int, Generator or None, default 0
        ax : Axes, optional

        Returns
        -------
        NormalDisplay
        """
        centre = np.asarray(mean, dtype=np.float64)
        if centre.shape != (2,) or not np.isfinite(centre).all():
            raise ValueError(f"mean must be two finite numbers. Got {mean!r}.")
        if not COUNT.holds(n):
            raise ParameterError(f"n must be {COUNT.words}. Got {n!r} instead.")
        matrix = check_covariance(covariance, "covariance")
        points = np.random.default_rng(random_state).multivariate_normal(centre, matrix, n)
        return cls(centre, matrix, points, _ellipses(centre, matrix, sigmas)).plot(ax)

    @classmethod
    def from_data(
        cls, X: Any, *, sigmas: Sequence[float] = (1, 2, 3), ax: Axes | None = None
    ) -> Self:
        """Draw rows of two columns, and the normal with their mean and covariance (by n - 1).

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, 2)
        sigmas : sequence of float, default (1, 2, 3)
        ax : Axes, optional

        Returns
        -------
        NormalDisplay
        """
        points = plane_points(X, cls.__name__)
        if len(points) < 3:
            raise ValueError(f"NormalDisplay needs at least 3 rows of X. Got {len(points)}.")
        centre = points.mean(axis=0)
        matrix = check_covariance(np.cov(points.T), "The covariance of X")
        ellipses = _ellipses(centre, matrix, sigmas)
        return cls(centre, matrix, points, ellipses, names_of(X)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it, in place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = _three_axes(ax)
        self.ax_ = self.axes_[0]
        self._draw_plane(self.ax_)
        for column, axes in enumerate(self.axes_[1:]):
            self._draw_marginal(axes, column)
        return self

    def density(self, values: Floats, column: int) -> Floats:
        """Return the density of one coordinate alone, N(m_j, S_jj)."""
        variance = self.covariance[column, column]
        away = values - self.mean[column]
        height: Floats = np.exp(-(away**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
        return height

    def _draw_plane(self, ax: Axes) -> None:
        ax.plot(*self.points.T, ".", color=BLUE, markersize=5, alpha=0.4, markeredgewidth=0)
        for radius, line in self.ellipses.items():
            ax.plot(*line.T, color=ORANGE, linewidth=1.8)
            top = line[line[:, 1].argmax()]
            ax.annotate(
                f"{radius:g} sigma: {1 - np.exp(-(radius**2) / 2):.1%} inside",
                top,
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=DARK,
                bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8},
            )
        ax.plot(*self.mean, "+", color=ORANGE, markersize=10, markeredgewidth=2)
        every = np.vstack([self.points, *self.ellipses.values()])
        ax.set(xlim=span(every[:, 0]), ylim=span(every[:, 1]))
        ax.set(xlabel=self.names[0], ylabel=self.names[1])

    def _draw_marginal(self, ax: Axes, column: int) -> None:
        m, s = self.mean[column], np.sqrt(self.covariance[column, column])
        limits = self.ax_.get_xlim() if column == 0 else self.ax_.get_ylim()
        values = np.linspace(*limits, 300)
        across = "vertical" if column == 0 else "horizontal"
        ax.hist(
            self.points[:, column], bins=40, density=True, color=BLUE, alpha=0.35,
            orientation=across,  # type: ignore[arg-type]
        )  # fmt: skip
        curve = values, self.density(values, column)
        ax.plot(*(curve if column == 0 else curve[::-1]), color=ORANGE, linewidth=1.8)
        words = f"marginal of {self.names[column]}:\nN({m:.3g}, {s**2:.3g})"
        ax.text(0.98, 0.95, words, transform=ax.transAxes, ha="right", va="top", fontsize=8)
        if column == 0:
            ax.set_ylabel("density")
            ax.tick_params(labelbottom=False)
            ax.set_title(f"Normal with covariance {_matrix_words(self.covariance)}")
        else:
            ax.set_xlabel("density")
            ax.tick_params(labelleft=False)
        for side in ("top", "right"):
            ax.spines[side].set_color(GREY)
            ax.spines[side].set_visible(False)


def _ellipses(mean: Floats, covariance: Floats, sigmas: Sequence[float]) -> dict[float, Floats]:
    if not all(radius > 0 for radius in sigmas):
        raise ValueError(f"sigmas must be numbers above 0. Got {tuple(sigmas)!r}.")
    return {float(radius): ellipse(mean, covariance, radius) for radius in sigmas}


def _matrix_words(matrix: Floats) -> str:
    return "[" + ", ".join("[" + ", ".join(f"{v:.3g}" for v in row) + "]" for row in matrix) + "]"


def _three_axes(ax: Axes | None) -> tuple[Any, Any]:
    """Return the figure and axes for the plane, and above and at the right of it."""
    ratios: Any = {"width_ratios": (4, 1.3), "height_ratios": (1.3, 4)}
    if ax is None:
        figure: Any = pyplot().figure(figsize=(6.6, 6.6), layout="constrained")
        grid = figure.add_gridspec(2, 2, **ratios)
    else:
        figure = ax.figure
        grid = subplot_spec(ax).subgridspec(2, 2, **ratios)
    plane = figure.add_subplot(grid[1, 0])
    above = figure.add_subplot(grid[0, 0], sharex=plane)
    beside = figure.add_subplot(grid[1, 1], sharey=plane)
    return figure, np.array([plane, above, beside], dtype=object)
