"""Polynomials of several degrees through the same points, with and without ridge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from separable.features.polynomial_encoder import PolynomialEncoder
from separable.fitting.targets import check_numbers
from separable.model.parameters import COUNT, POSITIVE, ParameterError
from separable.moments.regression.least_squares import LeastSquares
from separable.moments.regression.ridge import Ridge
from separable.plot.style.panels import describe_panel, legend_of_panels, panels_for
from separable.plot.style.points import names_of, plane_points, span
from separable.plot.style.theme import BLUE, DARK, GREY, ORANGE, Display

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from separable.typing import Floats


__all__ = ["PolynomialFit", "PolynomialFitsDisplay"]


class PolynomialFit(NamedTuple):
    """One polynomial: its values on the grid, its training error, the length of its weights."""

    values: Any
    training_mse: float
    weight_length: float


#: Least squares as the wider line, so that both are seen where they are the same.
PLAIN: dict[str, Any] = {"color": ORANGE, "linewidth": 3.4}
RIDGE: dict[str, Any] = {"color": BLUE, "linewidth": 1.5}


@dataclass(eq=False, repr=False)
class PolynomialFitsDisplay(Display):
    """Polynomials of several degrees, by least squares and by ridge.

    Of high degree, least squares follows the noise with huge weights; ridge, for a little more
    training error, does not. Powers are of x brought to [-1, 1].

    Parameters
    ----------
    X, y : ndarray of shape (n,)
    grid : ndarray of shape (m,)
    plain, ridge : dict from int to PolynomialFit
        By degree.
    alpha : float
    truth : ndarray of shape (m,), optional
    names : (str, str)

    Attributes
    ----------
    axes_ : ndarray of Axes
        One a degree.
    ax_ : Axes
        The first.
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from separable.plot import PolynomialFitsDisplay
    >>> x = np.linspace(0, 3, 15)[:, None]
    >>> y = np.sin(2 * x[:, 0]) + np.random.default_rng(0).normal(0, 0.2, 15)
    >>> display = PolynomialFitsDisplay.from_data(x, y, degrees=(1, 10))
    >>> display.ridge[10].weight_length < 0.1 * display.plain[10].weight_length
    True
    """

    X: Floats
    y: Floats
    grid: Floats
    plain: dict[int, PolynomialFit]
    ridge: dict[int, PolynomialFit]
    alpha: float
    truth: Floats | None = None
    names: tuple[str, str] = ("x", "y")
    axes_: Any = field(init=False)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        degrees: Sequence[int] = (1, 3, 12),
        alpha: float = 0.01,
        truth: Callable[[Floats], Any] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Fit and draw polynomials.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, 1)
        y : array-like of shape (n,)
            Numbers.
        degrees : sequence of int, default (1, 3, 12)
        alpha : float, default 0.01
            Penalty level of ridge regression.
        truth : callable, optional
            The function that the points come from, to be drawn dashed; called with an array of
            places.
        ax : Axes, optional

        Returns
        -------
        PolynomialFitsDisplay
        """
        if not len(degrees) or not all(COUNT.holds(degree) for degree in degrees):
            raise ParameterError(f"degrees must be ints >= 1. Got {degrees!r} instead.")
        if not POSITIVE.holds(alpha):
            raise ParameterError(f"alpha must be {POSITIVE.words}. Got {alpha!r} instead.")
        x = plane_points(X, cls.__name__, 1)[:, 0]
        numbers = check_numbers(y, len(x), cls.__name__)
        grid = np.linspace(*span(x, 0.04), 400)
        fits = [
            {int(degree): _fit(learner, x, numbers, grid, int(degree)) for degree in degrees}
            for learner in (LeastSquares(), Ridge(alpha))
        ]
        true = None if truth is None else np.asarray(truth(grid), dtype=np.float64)
        (name,) = names_of(X, 1)
        display = cls(x, numbers, grid, fits[0], fits[1], float(alpha), true, (name, "y"))
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a panel a degree, in the place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(
            ax, len(self.plain), size=(3.6, 3.9), shared_axes=True
        )
        self.ax_ = self.axes_[0]
        low, high = span(self.y, 0.45)
        for axes, degree in zip(self.axes_, self.plain, strict=True):
            if self.truth is not None:
                axes.plot(self.grid, self.truth, "--", color=GREY, linewidth=1.3)
            axes.plot(self.X, self.y, "o", color=DARK, markersize=4.5)
            for fit, look in ((self.plain[degree], PLAIN), (self.ridge[degree], RIDGE)):
                axes.plot(self.grid, fit.values, **look)
            axes.set_ylim(low, high)
            describe_panel(axes, f"degree {degree}\n|w|: {self._lengths(degree)}", *self.names)
        legend_of_panels(self.axes_, self._handles(), whole=ax is None)
        return self

    def _lengths(self, degree: int) -> str:
        return (
            f"{self.plain[degree].weight_length:.3g}, ridge {self.ridge[degree].weight_length:.3g}"
        )

    def _handles(self) -> list[Any]:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], **PLAIN, label="least squares"),
            Line2D([], [], **RIDGE, label=f"ridge, alpha = {self.alpha:g}"),
            Line2D([], [], color=DARK, marker="o", ls="", markersize=4.5, label="data"),
        ]
        if self.truth is not None:
            handles.append(Line2D([], [], color=GREY, ls="--", label="the true function"))
        return handles


def _fit(learner: Any, x: Floats, y: Floats, grid: Floats, degree: int) -> PolynomialFit:
    """Fit to powers of x brought to [-1, 1]."""
    low, high = float(x.min()), float(x.max())
    encoder = PolynomialEncoder(degree)

    def powers(values: Floats) -> Any:
        scaled = (values - (low + high) / 2) * (2 / ((high - low) or 1.0))
        return encoder.fit_transform(scaled[:, None])

    fitted = learner.fit(powers(x), y)
    mse = float(np.mean((fitted.predict(powers(x)) - y) ** 2))
    length = float(np.linalg.norm(fitted.coef_))
    return PolynomialFit(fitted.predict(powers(grid)), mse, length)
