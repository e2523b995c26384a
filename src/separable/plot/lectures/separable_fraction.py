"""Fraction of random labellings that are linearly separable, by the number of columns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.geometry import separability
from separable.model.parameters import COUNT, ParameterError
from separable.plot.style.theme import GREY, Display, add_legend, class_style, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["SeparableShareDisplay", "cover_fraction"]

#: d / n at which sets are drawn, for each n.
DEFAULT_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def cover_fraction(n: int, d: int) -> float:
    """Return the fraction of the labellings of n points in d columns that a hyperplane separates.

    Of n points in general position, 2 (C(n-1, 0) + ... + C(n-1, d)) of the 2^n labellings can be
    separated with an intercept (Cover, 1965, "Geometrical and statistical properties of systems of
    linear inequalities").

    Examples
    --------
    >>> cover_fraction(4, 2) * 16  # four points in the plane: all labellings but the two of XOR
    14.0
    >>> cover_fraction(22, 10)
    0.5
    """
    return float(Fraction(2 * sum(comb(n - 1, k) for k in range(min(d, n - 1) + 1)), 2**n))


@dataclass(eq=False, repr=False)
class SeparableShareDisplay(Display):
    """The fraction of sets with random labels that are separable, against d / n.

    With enough columns anything can be separated, labels by a coin too: separable data say nothing
    of a separable problem. Lines are Cover's count, points are simulated sets that
    ``separability`` decided. At d + 1 = n / 2 the fraction is one half, and the step there is the
    steeper the more rows there are.

    Parameters
    ----------
    n_rows, n_columns : ndarray of int, shape (m,)
        Of each simulated point.
    fractions : ndarray of shape (m,)
    repeats : int
        Sets of each point.
    undecided : int
        Sets without a verdict; they are not counted.

    Attributes
    ----------
    expected : ndarray of shape (m,)
        Cover's fraction at each point.
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import SeparableShareDisplay
    >>> display = SeparableShareDisplay.from_simulation(n_rows=(8,), ratios=(0.25, 0.5), repeats=10)
    >>> display.n_columns.tolist(), display.expected.tolist()
    ([2, 4], [0.2265625, 0.7734375])
    """

    n_rows: NDArray[np.int64]
    n_columns: NDArray[np.int64]
    fractions: Floats
    repeats: int
    undecided: int = 0

    @property
    def expected(self) -> Floats:
        """Cover's fraction at each simulated point."""
        pairs = zip(self.n_rows.tolist(), self.n_columns.tolist(), strict=True)
        return np.array([cover_fraction(n, d) for n, d in pairs])

    @classmethod
    def from_simulation(
        cls,
        n_rows: Sequence[int] = (10, 20, 40),
        *,
        ratios: Sequence[float] = DEFAULT_RATIOS,
        repeats: int = 40,
        random_state: Any = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Simulate sets of normal columns with random labels, and decide whether each is separable.

        Parameters
        ----------
        n_rows : sequence of int, default (10, 20, 40)
        ratios : sequence of float
            d / n; d is rounded, and at least 1.
        repeats : int, default 40
            Sets for each n and d.
        random_state : int, Generator or None, default 0
        ax : Axes, optional

        Returns
        -------
        SeparableShareDisplay
        """
        for name, value in (("repeats", repeats), *(("n_rows", n) for n in n_rows)):
            if not COUNT.holds(value):
                raise ParameterError(f"{name} must be {COUNT.words}. Got {value!r} instead.")
        rng = np.random.default_rng(random_state)
        # of few rows several ratios are the same number of columns
        pairs = list(dict.fromkeys((n, max(1, round(n * r))) for n in n_rows for r in ratios))
        verdicts = [[_is_separable(n, d, rng) for _ in range(repeats)] for n, d in pairs]
        decided = [[each for each in sets if each is not None] for sets in verdicts]
        fractions = [np.mean(sets) if sets else np.nan for sets in decided]
        undecided = repeats * len(pairs) - sum(map(len, decided))
        sizes = np.array(pairs, dtype=np.int64)
        return cls(sizes[:, 0], sizes[:, 1], np.array(fractions), int(repeats), undecided).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it on ``ax`` or in a new figure; return self."""
        ax, ratios = self._open(ax, size=(7.8, 4.4)), self.n_columns / self.n_rows
        for k, n in enumerate(np.unique(self.n_rows).tolist()):
            look, own = class_style(k), self.n_rows == n
            d = np.arange(1, n)
            line = [cover_fraction(n, int(each)) for each in d]
            ax.plot(
                d / n, line, color=look["color"], linewidth=1.6, label=f"n = {n}: Cover's count"
            )
            fraction = self.fractions[own]
            ax.errorbar(
                self.n_columns[own] / n, fraction,
                yerr=np.sqrt(fraction * (1 - fraction) / self.repeats),
                linestyle="", markersize=6, capsize=2, label=f"n = {n}: simulated", **look,
            )  # fmt: skip
        ax.axvline(0.5, color=GREY, linestyle="--", linewidth=1, label="d = n / 2")
        ax.set(xlim=(0, max(1.0, 1.05 * float(ratios.max()))), ylim=(-0.03, 1.03))
        remark = f", {self.undecided} undecided" if self.undecided else ""
        title = (
            f"Cover's theorem: separable random labellings ({self.repeats} simulations per "
            f"point{remark})"
        )
        y_label = "fraction of random labellings that are separable"
        describe(ax, title, "columns per row, d / n", y_label)
        add_legend(ax)
        return self


def _is_separable(n: int, d: int, rng: np.random.Generator) -> bool | None:
    """Return whether one random set is separable; None where that is not decided."""
    X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
    if y.min() == y.max():
        return True  # a hyperplane with all rows on one side
    verdict: bool | None = separability(X, y).separable
    return verdict
