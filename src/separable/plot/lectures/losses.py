"""Losses against the margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable._core import native
from separable.model.parameters import ParameterError
from separable.online.base_sgd import LOSSES
from separable.plot.style.theme import (
    AMBER,
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SKY,
    Display,
    add_legend,
    describe,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.typing import Floats


__all__ = ["LossesDisplay"]

#: What is 1 for a mistake; a score of 0 is one.
ZERO_ONE = "zero_one"
#: The formula of each in the margin m = y s, its colour and line.
LOOKS: dict[str, tuple[str, str, Any]] = {
    ZERO_ONE: ("0-1: 1 if m ≤ 0", BLACK, "-"),
    "perceptron": ("perceptron: max(0, -m)", GREEN, "-"),
    "hinge": ("hinge: max(0, 1 - m)", BLUE, "-"),
    "squared_hinge": ("squared hinge: max(0, 1 - m)²", BLUE, "--"),
    "log_loss": ("logistic: log(1 + exp(-m))", ORANGE, "-"),
    "sigmoid_mse": ("(y - sigma)²: (1 - sigma(m))²", PINK, "-"),
    "squared_error": ("squared error: (1 - m)² / 2", AMBER, "--"),
    "huber": ("Huber, of 1 - m", SKY, "-."),
    "epsilon_insensitive": ("ε-insensitive, of 1 - m", GREY, ":"),
    "modified_huber": ("modified Huber", GREEN, "--"),
    "squared_epsilon_insensitive": ("squared ε-insensitive, of 1 - m", GREY, "--"),
}
SHOWN = (
    ZERO_ONE, "perceptron", "hinge", "squared_hinge", "log_loss", "sigmoid_mse", "squared_error",
)  # fmt: skip


@dataclass(eq=False, repr=False)
class LossesDisplay(Display):
    """What a row costs, by its margin m = y (w.x + b), under several losses.

    Left of 0 a row is on the wrong side. The values are those that ``SGDClassifier`` descends on.

    Parameters
    ----------
    margins : ndarray of shape (m,)
    values : dict from str to ndarray of shape (m,)
        Of each loss by its name.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import LossesDisplay
    >>> display = LossesDisplay.from_names(["hinge", "sigmoid_mse"], margins=[-1, 0, 2])
    >>> display.values["hinge"].tolist(), display.values["sigmoid_mse"][1:2]
    ([2.0, 1.0, 0.0], array([0.25]))
    """

    margins: Floats
    values: dict[str, Floats]

    @classmethod
    def from_names(
        cls,
        losses: Sequence[str] = SHOWN,
        *,
        margins: Any = None,
        epsilon: float = 0.1,
        ax: Axes | None = None,
    ) -> Self:
        """Draw losses by their names.

        Parameters
        ----------
        losses : sequence of str
            Names of ``SGDClassifier``'s losses, and "zero_one".
        margins : array-like of shape (m,), optional
            Default: from -3 to 3.
        epsilon : float, default 0.1
            Of "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".
        ax : Axes, optional

        Returns
        -------
        LossesDisplay
        """
        unknown = [name for name in losses if name != ZERO_ONE and name not in LOSSES]
        if unknown:
            raise ParameterError(
                f"The loss {unknown[0]!r} is not known. There are: "
                f"{', '.join([ZERO_ONE, *LOSSES])}."
            )
        grid = np.linspace(-3, 3, 601) if margins is None else np.array(margins, dtype=np.float64)
        if grid.ndim != 1 or not np.isfinite(grid).all():
            raise ValueError(f"margins must be a list of finite numbers. Got {margins!r}.")
        return cls(grid, {name: _values(name, grid, epsilon) for name in losses}).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it on ``ax`` or in a new figure; return self."""
        ax = self._open(ax, size=(8.2, 4.6))
        for name, values in self.values.items():
            words, colour, line = LOOKS.get(name, (name, GREY, "-"))
            x, y = self._step() if name == ZERO_ONE else (self.margins, values)
            wide = 2.6 if name == ZERO_ONE else 1.9
            ax.plot(x, y, line, color=colour, linewidth=wide, label=words)
        ax.axvline(0, color=GREY, linewidth=0.8)
        low, high = float(self.margins.min()), float(self.margins.max())
        ax.set(xlim=(low, high), ylim=(-0.1, 4.2))
        margin = "misclassified  ←  0  →  correct\nmargin m = y (w.x + b)"
        describe(ax, "Loss functions of the margin", margin, "loss")
        add_legend(ax)
        return self

    def _step(self) -> tuple[Floats, Floats]:
        """Return the ends of the two parts of the 0-1 loss: it falls at 0, whatever the margins."""
        low, high = float(self.margins.min()), float(self.margins.max())
        step = min(max(0.0, low), high)
        return np.array([low, step, step, high]), np.array([1.0, 1.0, 0.0, 0.0])


def _values(name: str, margins: Floats, epsilon: float) -> Floats:
    """Return the loss of rows of the positive class with these scores."""
    if name == ZERO_ONE:
        return (margins <= 0).astype(np.float64)
    values = np.empty(len(margins))
    native.write_loss(name, epsilon, margins, np.ones(len(margins)), gradient=False, out=values)
    return values
