"""Heat maps of interactions: the contribution of each combination of the values of two columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.model.explain.effects import pair_effects
from separable.plot.style.fitted_models import linear_model
from separable.plot.style.panels import describe_panel, panels_for
from separable.plot.style.theme import Display, called, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = ["InteractionsDisplay"]

#: Default number of heat maps, and the letters of the name of a level.
MOST_PAIRS, LETTERS = 6, 12


@dataclass(eq=False, repr=False)
class InteractionsDisplay(Display):
    """Heat maps of the interactions of a model, the largest effect first.

    A cell is the contribution of a pair of columns to the score or the prediction, beside those of
    the two columns alone.

    Parameters
    ----------
    pairs : list of (str, str)
        Raw columns: of the horizontal and of the vertical axis.
    positions : list of (ndarray or list of str, ndarray or list of str)
        Knots of a number, or levels, on both axes.
    values : list of ndarray, shape (m, n)
        Contributions: m positions of the first column, n of the second.
    meaning : str
        What a contribution raises.

    Attributes
    ----------
    axes_ : ndarray of Axes
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> import numpy as np
    >>> from separable import Ridge, TableEncoder, TableRegressor
    >>> from separable.plot import InteractionsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = {"x": rng.uniform(size=400), "z": rng.uniform(size=400)}
    >>> encoder = TableEncoder(curves=True, interactions=[("x", "z")])
    >>> model = TableRegressor(Ridge(), encoder).fit(X, X["x"] * X["z"])
    >>> display = InteractionsDisplay.from_estimator(model)
    >>> display.pairs, display.values[0].shape == tuple(map(len, display.positions[0]))
    ([('x', 'z')], True)
    """

    pairs: list[tuple[str, str]]
    positions: list[tuple[Any, Any]]
    values: list[Floats]
    meaning: str
    axes_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        pairs: Sequence[tuple[str, str]] | None = None,
        label: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw interactions of a model whose encoder is a `TableEncoder` with interactions.

        Parameters
        ----------
        estimator : LinearModel or fitted learner of tables
        pairs : sequence of (str, str), optional
            Pairs of raw columns; by default the six of the largest effects.
        label : object, optional
            The class whose score is drawn, of three or more; by default the last.
        ax : Axes, optional

        Returns
        -------
        InteractionsDisplay
        """
        model = linear_model(estimator)
        k, meaning = _score(model, label)
        known = {
            columns: (effect.positions, effect.values[k])
            for columns, effect in pair_effects(model).items()
        }
        largest = sorted(known, key=lambda columns: -float(np.std(known[columns][1])))
        names = [(a, b) for a, b in pairs] if pairs is not None else largest[:MOST_PAIRS]
        odd = [name for name in names if name not in known]
        if odd or not names:
            what = f"Pair {odd[0]!r} is no interaction" if odd else "The model has no interactions"
            raise ValueError(
                f"{what}. Interactions: {', '.join(map(repr, list(known)[:8])) or 'none'}. Train "
                "with interactions=10, or fit a TableEncoder(curves=True, interactions=...)."
            )
        positions, values = zip(*(known[name] for name in names), strict=True)
        return cls(names, list(positions), list(values), meaning).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the heat maps, in place of ``ax`` or in a new figure; return self."""
        self.figure_, self.axes_ = panels_for(ax, len(self.pairs), size=(3.4, 3.0), extra=0.9)
        self.ax_ = self.axes_[0]
        limit = max(float(np.abs(each).max()) for each in self.values) or 1.0
        parts = zip(self.axes_, self.pairs, self.positions, self.values, strict=True)
        for panel, (x, y), (first, second), values in parts:
            both = not isinstance(first, list) and not isinstance(second, list)
            drawn = panel.pcolormesh(
                _places(first), _places(second), values.T, cmap="RdBu_r", vmin=-limit, vmax=limit,
                shading="gouraud" if both else "nearest", rasterized=True,
            )  # fmt: skip
            describe_panel(panel, f"{shortened(x)} and {shortened(y)}", shortened(x), shortened(y))
            panel.yaxis.labelpad = 2.0
            for axis, places in ((panel.xaxis, first), (panel.yaxis, second)):
                if isinstance(places, list):
                    axis.set_ticks(range(len(places)), [shortened(e, LETTERS) for e in places])
        bar: Any = self.figure_.colorbar(drawn, ax=list(self.axes_), fraction=0.05, aspect=30)
        bar.set_label(self.meaning, fontsize=8, labelpad=1.0)
        bar.ax.tick_params(labelsize=7, pad=1.5)
        return self


def _score(model: LinearModel, label: Any) -> tuple[int, str]:
    """Return the index of the drawn score, and what it means."""
    if model.classes is None:
        return 0, "prediction"
    classes = model.classes.tolist()
    if label is not None and label not in classes:
        raise ValueError(f"label={label!r} is no class. Classes: {classes[:8]}.")
    shown = classes[-1] if label is None or model.n_scores == 1 else label
    return (classes.index(shown) if model.n_scores > 1 else 0), f"score for {called(shown)}"


def _places(positions: Any) -> Floats:
    """Return where positions are on an axis."""
    if isinstance(positions, list):
        return np.arange(len(positions), dtype=np.float64)
    return np.asarray(positions, dtype=np.float64)
