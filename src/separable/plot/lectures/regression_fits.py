"""Fits of one column: polynomials of several degrees, and lines from the Bayesian posterior."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from separable.features.polynomial_encoder import PolynomialEncoder
from separable.fitting.targets import check_numbers
from separable.model.parameters import COUNT, POSITIVE, ParameterError
from separable.moments.regression.least_squares import LeastSquares
from separable.moments.regression.ridge import Ridge
from separable.plot.style.fitted_models import like_given, names_of_columns
from separable.plot.style.panels import describe_panel, legend_of_panels, panels_for
from separable.plot.style.plane import names_of, plane_points, span
from separable.plot.style.theme import BLUE, DARK, GREY, ORANGE, SKY, Display, add_legend, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from separable.moments.regression.bayesian_regression import BayesianRegression
    from separable.typing import Floats


__all__ = [
    "PolynomialFit",
    "PolynomialFitsDisplay",
    "PosteriorLinesDisplay",
]


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
    true_values : ndarray of shape (m,), optional
    names : (str, str)

    Attributes
    ----------
    axes_ : ndarray of Axes
        One a degree.
    ax_ : Axes
        The first of these axes.
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
    true_values: Floats | None = None
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
        true_function: Callable[[Floats], Any] | None = None,
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
        true_function : callable, optional
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
        true = None if true_function is None else np.asarray(true_function(grid), dtype=np.float64)
        (name,) = names_of(X, 1)
        display = cls(x, numbers, grid, fits[0], fits[1], float(alpha), true, (name, "y"))
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw one panel per degree, in place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(
            ax, len(self.plain), size=(3.6, 3.9), shared_axes=True
        )
        self.ax_ = self.axes_[0]
        low, high = span(self.y, 0.45)
        for axes, degree in zip(self.axes_, self.plain, strict=True):
            if self.true_values is not None:
                axes.plot(self.grid, self.true_values, "--", color=GREY, linewidth=1.3)
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
        if self.true_values is not None:
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


@dataclass(eq=False, repr=False)
class PosteriorLinesDisplay(Display):
    """Bayesian regression of one column: lines from the posterior, and where new points fall.

    Each thin line is one draw of weights and intercept; the band is the mean of the predictive
    distribution plus and minus ``deviations`` of it, noise included.

    Parameters
    ----------
    X, y : ndarray of shape (n,)
    grid : ndarray of shape (m,)
    lines : ndarray of shape (k, m)
    mean, std : ndarray of shape (m,)
        Of the predictive distribution.
    deviations : float
    names : (str, str)

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from separable import BayesianRegression
    >>> from separable.plot import PosteriorLinesDisplay
    >>> x = np.linspace(0, 1, 8)[:, None]
    >>> line = BayesianRegression(weight_precision=1.0, noise_precision=25.0).fit(x, x[:, 0])
    >>> display = PosteriorLinesDisplay.from_estimator(line, x, x[:, 0], n_lines=10)
    >>> display.lines.shape, bool(display.std[0] > display.std[200])
    ((10, 400), True)
    """

    X: Floats
    y: Floats
    grid: Floats
    lines: Floats
    mean: Floats
    std: Floats
    deviations: float = 2.0
    names: tuple[str, str] = ("x", "y")

    @classmethod
    def from_estimator(
        cls,
        estimator: BayesianRegression,
        X: Any,
        y: Any,
        *,
        encoder: Any = None,
        n_lines: int = 25,
        deviations: float = 2.0,
        extension: float = 0.5,
        random_state: Any = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted ``BayesianRegression`` of one column.

        Parameters
        ----------
        estimator : BayesianRegression
            Fitted to X, or to what ``encoder`` makes of X.
        X : array-like, sparse matrix or numeric data frame of shape (n, 1)
        y : array-like of shape (n,)
        encoder : fitted encoder, optional
            For example a ``PolynomialEncoder``: lines become curves.
        n_lines : int, default 25
            How many draws of the posterior.
        deviations : float, default 2.0
            Half the width of the band.
        extension : float, default 0.5
            How far the picture extends beyond the rows, as a fraction of their range.
        random_state : int, RandomState or None, default 0
        ax : Axes, optional

        Returns
        -------
        PosteriorLinesDisplay
        """
        for name, value, wanted in (
            ("n_lines", n_lines, COUNT),
            ("deviations", deviations, POSITIVE),
            ("extension", extension, POSITIVE),
        ):
            if not wanted.holds(value):
                raise ParameterError(f"{name} must be {wanted.words}. Got {value!r} instead.")
        if not hasattr(estimator, "sample_posterior"):
            raise TypeError(
                f"{cls.__name__} draws from the posterior of a BayesianRegression. Got "
                f"{type(estimator).__name__}, which has none."
            )
        x = plane_points(X, cls.__name__, 1)[:, 0]
        numbers = check_numbers(y, len(x), cls.__name__)
        grid = np.linspace(*span(x, extension), 400)
        given = like_given(X, grid[:, None], names_of_columns(X, None, 1))
        rows = grid[:, None] if encoder is None else encoder.transform(given)
        weights, intercepts = estimator.sample_posterior(n_lines, random_state)
        lines = weights @ rows.T + intercepts[:, None]
        mean, std = estimator.predict(given if encoder is None else rows, return_std=True)
        (name,) = names_of(X, 1)
        names = name, "y"
        return cls(x, numbers, grid, lines, mean, std, float(deviations), names).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it on ``ax`` or in a new figure; return self."""
        ax = self._open(ax, size=(7.6, 4.4))
        half = self.deviations * self.std
        band = f"predictive mean ± {self.deviations:g} standard deviations"
        ax.fill_between(
            self.grid, self.mean - half, self.mean + half, color=SKY, alpha=0.3, lw=0, label=band
        )
        for index, line in enumerate(self.lines):
            words = f"{len(self.lines)} posterior samples" if index == 0 else None
            ax.plot(self.grid, line, color=BLUE, linewidth=0.7, alpha=0.5, label=words)
        ax.plot(self.grid, self.mean, color=ORANGE, linewidth=2.2, label="posterior mean")
        ax.plot(self.X, self.y, "o", color=DARK, markersize=4.5, label="data")
        ax.set_xlim(self.grid[0], self.grid[-1])
        describe(ax, "Bayesian regression: less uncertainty near the data", *self.names)
        add_legend(ax)
        return self
