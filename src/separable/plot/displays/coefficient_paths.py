"""Regularization path: weights against the regularization parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.model.words import feature_name, label_value
from separable.plot.style.theme import (
    DARK,
    DASHES,
    LIGHT,
    LINE_COLOURS,
    Display,
    add_legend,
    describe,
    short_names,
    shortened,
    text_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.select import Path
    from separable.typing import Floats


__all__ = ["PathDisplay", "penalty_label", "penalty_positions", "simplicity"]

#: Maximum number of unnamed grey lines.
MAX_UNNAMED = 200
#: Maximum number of non-zero counts above the axes.
MAX_COUNTS = 8

#: Minimum ratio of the largest to the smallest value for a logarithmic axis.
MIN_LOG_RATIO = 20.0
#: The effect of a larger value of a parameter.
EFFECTS = {"C": "larger: less regularization", "alpha": "larger: more regularization"}


@dataclass(eq=False)
class PathDisplay(Display):
    """Weights against the regularization parameter; the largest are named, the others grey.

    Parameters
    ----------
    learner : str
    parameter : str
        The regularization parameter: "C" or "alpha".
    values : ndarray, shape (S,)
        Ascending.
    weights : ndarray, shape (S, d)
        Weights of one score, or their norm over several scores.
    nonzeros : ndarray of int, shape (S,)
        Number of columns with a non-zero weight.
    names : list of str
        Names of the columns in the legend.
    named : ndarray of int
        Indices of these columns, largest weight first.
    what : str
        The score of the weights, for the title.

    Attributes
    ----------
    lines_ : list of Line2D
        Of the columns that have a name.
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import Lasso
    >>> from separable.plot import PathDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> display = PathDisplay.from_estimator(Lasso(), X, y)
    >>> display.names[:3], display.nonzeros[[0, -1]]
    (['s5', 's1', 'bmi'], array([10,  0]))
    """

    learner: str
    parameter: str
    values: Floats
    weights: Floats
    nonzeros: NDArray[np.int64]
    names: list[str]
    named: NDArray[np.intp]
    what: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        top: int = 8,
        label: Any = None,
        ax: Axes | None = None,
        values: Any = None,
        **look: Any,
    ) -> Self:
        """Fit the path of an estimator and draw it.

        Parameters
        ----------
        estimator : estimator
            One that ``separable.select.path`` takes.
        X : array-like, sparse matrix or data frame, shape (n, d)
        y : array-like, shape (n,)
        top, label, ax, **look
            As in ``from_path``.
        values : int or sequence of float, optional
            The ``Cs`` or ``alphas`` of ``path``.

        Returns
        -------
        PathDisplay
        """
        from separable.data.rows import column_names
        from separable.select import path

        by = {"Cs" if hasattr(estimator, "C") else "alphas": values}
        result = path(estimator, X, y, **by)
        names = column_names(X)
        return cls.from_path(result, feature_names=names, top=top, label=label, ax=ax, **look)

    @classmethod
    def from_path(
        cls,
        path: Path,
        *,
        feature_names: Sequence[str] | None = None,
        top: int = 8,
        label: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : Path
            Of ``separable.select.path``.
        feature_names : sequence of str, optional
        top : int, default 8
            Number of columns with colour and name: those with the largest weights.
        label : object, optional
            Of three classes and more, the one whose weights are drawn. By default the length of
            the weights of each column, over all classes.
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the named lines.

        Returns
        -------
        PathDisplay
        """
        if not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be an int >= 1. Got {top!r}.")
        d = path.coefs.shape[2]
        if feature_names is not None and len(feature_names) != d:
            raise ValueError(
                f"feature_names has {len(feature_names)} names, and the path {d} columns."
            )
        weights, what = _weights_of(path, label)
        largest = np.abs(weights).max(axis=0)
        order = np.argsort(-largest, kind="stable")[:top]
        named = order[largest[order] > 0]
        ascending = np.argsort(path.values, kind="stable")
        made = cls(
            path.learner,
            path.parameter,
            path.values[ascending],
            weights[ascending],
            path.nonzeros[ascending],
            [feature_name(feature_names, int(j)) for j in named],
            named,
            what,
        )
        return made.plot(ax, **look)

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        **look
            For ``Axes.plot`` of the named lines.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(7.6, 4.8))
        positions = penalty_positions(axes, self.values)
        axes.axhline(0.0, color=DARK, linewidth=0.8)
        handles = self._draw_named(axes, positions, look) + self._draw_others(axes, positions)
        describe(
            axes,
            f"Regularization path of {self.learner}: {self.what}",
            penalty_label(self.parameter, self.values),
            "weight" if "norm" not in self.what else "norm of the weights",
        )
        self._write_counts(axes, positions)
        add_legend(axes, handles)
        return self

    def _draw_named(self, axes: Any, positions: Floats, look: dict[str, Any]) -> list[Any]:
        self.lines_ = []
        names = short_names(self.names)
        for rank, (j, name) in enumerate(zip(self.named, names, strict=True)):
            style = {
                "color": LINE_COLOURS[rank % len(LINE_COLOURS)],
                "linestyle": DASHES[(rank + rank // 8) % 4],
                "linewidth": 1.6,
                "label": name,
                "marker": "o" if len(positions) == 1 else None,
                **look,
            }
            self.lines_ += axes.plot(positions, self.weights[:, j], zorder=3, **style)
        last = self.weights[-1] if self.parameter == "C" else self.weights[0]
        order = np.argsort(-last[self.named], kind="stable")
        return [self.lines_[k] for k in order]

    def _draw_others(self, axes: Any, positions: Floats) -> list[Any]:
        """Draw the largest of the other weights in grey; all of them where they are few."""
        largest = np.abs(self.weights).max(axis=0)
        largest[self.named] = 0.0
        others = np.flatnonzero(largest)
        if not len(others):
            return []
        drawn = others[np.argsort(-largest[others], kind="stable")[:MAX_UNNAMED]]
        lines = axes.plot(positions, self.weights[:, drawn], color=LIGHT, linewidth=0.7, zorder=1)
        what = f"{len(others)} other columns"
        if len(drawn) < len(others):
            what = f"{len(drawn)} of {len(others)} other columns"
        lines[0].set_label(what if len(others) > 1 else "1 other column")
        return [lines[0]]

    def _write_counts(self, axes: Any, positions: Floats) -> None:
        """Write how many weights are not 0 above the axes."""
        every = np.unique(
            np.linspace(0, len(positions) - 1, min(MAX_COUNTS, len(positions))).astype(int)
        )
        upper = axes.secondary_xaxis("top")
        upper.minorticks_off()
        size = text_size(axes, 8.0)
        upper.set_xticks(positions[every], self.nonzeros[every].tolist(), fontsize=size)
        what = "columns" if "norm" in self.what else "weights"
        upper.set_xlabel(f"nonzero {what}", fontsize=size)
        upper.tick_params(length=2)
        upper.spines[:].set_visible(False)


def _weights_of(path: Path, label: Any) -> tuple[Floats, str]:
    k = path.coefs.shape[1]
    if k == 1:
        if label is not None:
            raise ValueError(
                "label selects one of three or more classes, but the path has one score."
            )
        return path.coefs[:, 0], "weights"
    if label is None:
        lengths: Floats = np.sqrt((path.coefs**2).sum(axis=1))
        return lengths, f"norm of the weights over {k} classes"
    known = [] if path.classes is None else path.classes.tolist()
    if label_value(label) not in known:
        raise ValueError(f"label={label!r} is not a class of the path. There are: {known[:8]}.")
    return path.coefs[:, known.index(label_value(label))], f"weights of {shortened(label)}"


def _last(name: str) -> str:
    """Return the name of a parameter without its step: C of ``linearsvm__C``."""
    return name.rpartition("__")[2]


def simplicity(name: str, values: Floats) -> Floats | None:
    """Return numbers that increase towards simpler models, or None if unknown."""
    from separable.select.grid_search import penalties_of

    return -values if _last(name) == "degree" else penalties_of({name: values})


def penalty_label(name: str, values: Floats) -> str:
    """Return the label of the axis of a parameter."""
    notes = [EFFECTS[_last(name)]] if _last(name) in EFFECTS else []
    if _is_logarithmic(values):
        notes.insert(0, "logarithmic")
    return shortened(name, 40) + (f" ({'; '.join(notes)})" if notes else "")


def penalty_positions(ax: Any, values: Floats) -> Floats:
    """Set up the horizontal axis for values, and return their positions.

    On a logarithmic axis, 0 is a step to the left of the smallest value and infinity a step to the
    right of the largest, each with its own tick.
    """
    if not _is_logarithmic(values):
        if (values == np.rint(values)).all():  # a degree has no halves
            ax.xaxis.get_major_locator().set_params(integer=True)
        return values
    ax.set_xscale("log")
    known = values[(values > 0) & np.isfinite(values)]
    low, high = known.min(), known.max()
    step = max((high / low) ** 0.08, 2.0)
    positions = np.where(values == 0, low / step, np.where(np.isinf(values), high * step, values))
    beside = {low / step: "0"} if (values == 0).any() else {}
    beside |= {high * step: "∞"} if np.isinf(values).any() else {}
    if beside:
        powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
        powers = powers[:: max(1, len(powers) // 6)]
        ticks = [*(10.0**powers), *beside]
        ax.set_xticks(ticks, [*(f"$10^{{{int(p)}}}$" for p in powers), *beside.values()])
        ax.minorticks_off()
    return positions


def _is_logarithmic(values: Floats) -> bool:
    known = values[(values > 0) & np.isfinite(values)]
    if len(known) < len(values) and len(known) and np.isinf(values).any():
        return True
    return bool(
        len(known) > 1 and (values >= 0).all() and known.max() / known.min() >= MIN_LOG_RATIO
    )
