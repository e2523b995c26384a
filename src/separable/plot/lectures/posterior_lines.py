"""Lines sampled from the posterior of Bayesian regression, with the predictive band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.fitting.targets import check_numbers
from separable.model.parameters import COUNT, POSITIVE, ParameterError
from separable.plot.style.fitted import like_given, names_of_columns
from separable.plot.style.points import names_of, plane_points, span
from separable.plot.style.theme import BLUE, DARK, ORANGE, SKY, Display, add_legend, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separable.moments.regression.bayesian_regression import BayesianRegression
    from separable.typing import Floats


__all__ = ["PosteriorLinesDisplay"]


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
    >>> line = BayesianRegression(alpha=1.0, noise_precision=25.0).fit(x, x[:, 0])
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
        reach: float = 0.5,
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
        reach : float, default 0.5
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
            ("reach", reach, POSITIVE),
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
        grid = np.linspace(*span(x, reach), 400)
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
