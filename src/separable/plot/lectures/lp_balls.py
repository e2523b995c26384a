"""Balls of l_p penalties of two weights, and where they touch contours of the squared error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from separable.certified.estimators.lp_regression import LpRegression, power_of
from separable.fitting.targets import check_numbers
from separable.model.parameters import ParameterError
from separable.moments.regression.least_squares import LeastSquares
from separable.penalties.lp import POWERS
from separable.plot.style.panels import describe_panel, panels_for
from separable.plot.style.plane import check_covariance, ellipse, plane_points
from separable.plot.style.theme import BLUE, DARK, GREY, ORANGE, SKY, Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.typing import Floats


__all__ = ["LpBallsDisplay", "LpSolution", "ball"]

DEFAULT_POWERS = (0, "1/2", "2/3", 1, "4/3", "3/2", 2, "inf")
#: Radii of the drawn ellipses, as fractions of the largest visible one.
ELLIPSE_RADII = (0.15, 0.35, 0.6, 0.85)


class LpSolution(NamedTuple):
    """One panel: the power, the weights found, the ball on which they lie."""

    p: Any
    weights: Any
    size: float
    outline: Any


def ball(p: Any, size: float, n: int = 81) -> Floats:
    """Return points with |w_1|^p + |w_2|^p = size; for p = inf, with max |w_j| = size.

    The ball of p = 0 and size 1 is the two axes, which no line surrounds: it has no outline.

    Examples
    --------
    >>> ball(1, 2.0, n=3).round(9)[:5] + 0.0
    array([[ 2.,  0.],
           [ 1.,  1.],
           [ 0.,  2.],
           [ 0.,  2.],
           [-1.,  1.]])
    """
    if power_value(p) == 0 or size == 0:
        return np.empty((0, 2))
    turn = np.linspace(0, np.pi / 2, n)
    cosine, sine = np.maximum(np.cos(turn), 0.0), np.sin(turn)
    cosine[-1] = 0.0
    if power_value(p) == np.inf:
        radius = size / np.maximum(cosine, sine)
        first = np.stack([radius * cosine, radius * sine], axis=1)
    else:
        scale = size ** (1 / power_value(p))
        first = scale * np.stack([cosine, sine], axis=1) ** (2 / power_value(p))
    second = (first * [-1, 1])[::-1]
    return np.vstack([first, second, -first, -second])


def power_value(p: Any) -> float:
    """Return a power given as a number or as text such as "2/3".

    Examples
    --------
    >>> power_value("1/2"), power_value(2), power_value("inf")
    (0.5, 2.0, inf)
    """
    name = power_of(p)
    if name is None:
        raise ParameterError(f"There is no penalty of power {p!r}. There are: {DEFAULT_POWERS}.")
    return np.inf if name == "inf" else POWERS[name]


@dataclass(eq=False, repr=False)
class LpBallsDisplay(Display):
    """Least squares of two weights under each L_p penalty: the ball touches an ellipse.

    The squared error is a bowl about its minimum, with ellipses as contours; the penalised solution
    is where the ball of the penalty touches the lowest of them. Corners on the axes (p <= 1) give
    weights that are exactly 0.

    Parameters
    ----------
    minimum : ndarray of shape (2,)
        The weights without a penalty.
    bowl : ndarray of shape (2, 2)
        B of the error (w - minimum)'B (w - minimum) / 2.
    alpha : float
    solutions : list of LpSolution
        Found by ``LpRegression``.

    Attributes
    ----------
    axes_ : ndarray of Axes
        One a power.
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import LpBallsDisplay
    >>> display = LpBallsDisplay.from_parameters(powers=[1, 2])
    >>> for solution in display.solutions:
    ...     print(solution.p, solution.weights.round(3).tolist())
    1 [1.35, 0.0]
    2 [0.789, 0.332]
    """

    minimum: Floats
    bowl: Floats
    alpha: float
    solutions: list[LpSolution]
    axes_: Any = field(init=False)

    @classmethod
    def from_parameters(
        cls,
        minimum: Any = (2.0, 0.5),
        bowl: Any = ((1.0, 0.3), (0.3, 1.0)),
        *,
        alpha: float = 0.8,
        powers: Sequence[Any] = DEFAULT_POWERS,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the error (w - minimum)'B (w - minimum) / 2 with each penalty.

        Parameters
        ----------
        minimum : array-like of shape (2,)
        bowl : array-like of shape (2, 2)
            B, symmetric and positive definite.
        alpha : float, default 0.8
            Regularization parameter.
        powers : sequence
            Each as ``LpRegression`` takes it: 0, "1/2", "2/3", 1, "4/3", "3/2", 2, "inf".
        ax : Axes, optional

        Returns
        -------
        LpBallsDisplay
        """
        least = np.asarray(minimum, dtype=np.float64)
        if least.shape != (2,) or not np.isfinite(least).all():
            raise ValueError(f"minimum must be two finite numbers. Got {minimum!r}.")
        B = check_covariance(bowl, "bowl")
        X = np.sqrt(2.0) * np.linalg.cholesky(B).T  # two rows whose squared errors are the bowl
        solutions = [_solve(p, alpha, X, X @ least, False) for p in powers]
        return cls(least, B, float(alpha), solutions).plot(ax)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        alpha: float,
        powers: Sequence[Any] = DEFAULT_POWERS,
        ax: Axes | None = None,
    ) -> Self:
        """Draw what ``LpRegression`` finds on rows of two columns, with an intercept.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, 2)
        y : array-like of shape (n,)
        alpha : float
        powers : sequence
        ax : Axes, optional

        Returns
        -------
        LpBallsDisplay
        """
        points = plane_points(X, cls.__name__)
        numbers = check_numbers(y, len(points), cls.__name__)
        away = points - points.mean(axis=0)
        B = check_covariance(away.T @ away / len(away), "The covariance of X")
        least = np.asarray(LeastSquares().fit(points, numbers).coef_, dtype=np.float64)
        solutions = [_solve(p, alpha, points, numbers, True) for p in powers]
        return cls(least, B, float(alpha), solutions).plot(ax)

    def error(self, weights: Any) -> Floats:
        """Return (w - minimum)'B (w - minimum) / 2 of weights, (..., 2)."""
        away = np.asarray(weights) - self.minimum
        value: Floats = 0.5 * np.einsum("...i,ij,...j->...", away, self.bowl, away)
        return value

    def touching_ellipse(self, solution: LpSolution) -> Floats:
        """Return the contour of the error through a solution."""
        radius = float(np.sqrt(2 * self.error(solution.weights)))
        return ellipse(self.minimum, self._inverse(), radius)

    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.bowl), dtype=np.float64)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw one panel per power, in place of ``ax`` or in a new figure; return self."""
        count = len(self.solutions)
        self.figure_, self.axes_ = panels_for(
            ax, count, columns=4, size=(2.9, 3.05), shared_axes=True
        )
        self.ax_ = self.axes_[0]
        limit = 1.45 * max(np.abs([self.minimum, *(s.weights for s in self.solutions)]).max(), 1e-9)
        for axes, solution in zip(self.axes_, self.solutions, strict=True):
            self._draw(axes, solution, limit)
        if ax is None:
            self.figure_.suptitle(
                "L_p penalties: at the solution (●) the L_p ball (blue) touches a contour of the "
                f"squared\nerror around its minimum (✕); alpha = {self.alpha:g}",
                fontsize=11,
            )
        return self

    def _draw(self, ax: Axes, solution: LpSolution, limit: float) -> None:
        inverse = self._inverse()
        vertices = limit * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
        far = float(np.sqrt(2 * self.error(vertices).max()))
        for fraction in ELLIPSE_RADII:
            ax.plot(*ellipse(self.minimum, inverse, fraction * far).T, color=GREY, linewidth=0.7)
        for draw in (ax.axhline, ax.axvline):
            draw(0, color=GREY, linewidth=0.7)
        if power_value(solution.p) == 0 and solution.size == 1:
            for draw in (ax.axhline, ax.axvline):
                draw(0, color=BLUE, linewidth=3, alpha=0.7)
        elif len(solution.outline):
            ax.fill(*solution.outline.T, facecolor=SKY, edgecolor=BLUE, alpha=0.55, linewidth=1.8)
        ax.plot(*self.touching_ellipse(solution).T, color=ORANGE, linewidth=1.6)
        ax.plot(*self.minimum, "x", color=DARK, markersize=7, markeredgewidth=2)
        ax.plot(*solution.weights, "o", color=DARK, markersize=7)
        first, second = (f"{v:.2f}" if v else "0" for v in solution.weights)
        words = str(power_of(solution.p)).replace("inf", "∞")
        describe_panel(ax, f"p = {words}: w = ({first}, {second})", "$w_1$", "$w_2$")
        ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")


def _solve(p: Any, alpha: float, X: Floats, y: Floats, fit_intercept: bool) -> LpSolution:
    weights = LpRegression(p, alpha, fit_intercept=fit_intercept).fit(X, y).coef_
    power, sizes = power_value(p), np.abs(weights)
    if power == np.inf:
        size = float(sizes.max())
    elif power == 0:
        size = float(np.count_nonzero(sizes))
    else:
        size = float((sizes**power).sum())
    return LpSolution(p, np.array(weights), size, ball(p, size))
