"""Confusion matrix: true classes against predicted ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from separable.plot.style.fitted_models import best_of
from separable.plot.style.theme import (
    DARK,
    GREY,
    Display,
    describe,
    limits_of,
    short_names,
    text_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["ConfusionMatrixDisplay"]

#: Maximum classes with numbers in the cells, and with names on the axes.
MAX_NUMBERED, MAX_NAMED = 16, 25


@dataclass(eq=False)
class ConfusionMatrixDisplay(Display):
    """Number of rows by true class (down) and predicted class (across).

    Colours are fractions of the rows of a true class, so rare classes are visible too.

    Parameters
    ----------
    labels : ndarray, shape (K,)
    confusion : ndarray, shape (K, K)
        Rows, or their weight, by true and predicted class.

    Attributes
    ----------
    accuracy, constant : float
        The accuracy, and that of always predicting the most common class.
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from separable.plot import ConfusionMatrixDisplay
    >>> display = ConfusionMatrixDisplay.from_predictions(["a", "b", "b"], ["a", "b", "a"])
    >>> display.confusion.tolist(), round(display.accuracy, 3)
    ([[1, 0], [1, 1]], 0.667)
    """

    labels: NDArray[Any]
    confusion: NDArray[Any]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the confusion matrix of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier, search, pipeline or LinearModel
        X : array-like, sparse matrix or data frame, shape (n, d)
            Test rows.
        y : array-like, shape (n,)
        sample_weight : array-like, shape (n,), optional
        ax : Axes, optional
        **look
            Passed to ``plot``.

        Returns
        -------
        ConfusionMatrixDisplay
        """
        fitted = best_of(estimator)
        predicted = np.asarray(fitted.predict(X))
        known = getattr(fitted, "classes_", getattr(fitted, "classes", None))
        if known is None:
            raise ValueError(
                f"{type(fitted).__name__} predicts numbers. A confusion matrix needs a classifier."
            )
        labels = np.union1d(known, np.asarray(y))
        return cls.from_predictions(
            y, predicted, labels=labels.tolist(), sample_weight=sample_weight, ax=ax, **look
        )

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        predicted: Any,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the confusion matrix of predictions.

        Parameters
        ----------
        y, predicted : array-like, shape (n,)
        labels : sequence, optional
            All classes, in the order to draw. By default those of y and the predictions, sorted.
        sample_weight : array-like, shape (n,), optional
        ax : Axes, optional
        **look
            Passed to ``plot``.

        Returns
        -------
        ConfusionMatrixDisplay
        """
        from separable.fitting.targets import check_labels, check_sample_weight

        shapes = np.shape(y), np.shape(predicted)
        if len(shapes[0]) != 1 or shapes[0] != shapes[1] or not shapes[0][0]:
            raise ValueError(
                "y and predicted must be one label a row, of at least one row. Got shapes "
                f"{shapes[0]} and {shapes[1]}."
            )
        y_true, predictions = (
            check_labels(each, len(each), cls.__name__) for each in (y, predicted)
        )
        every = np.union1d(y_true, predictions)
        known = every if labels is None else np.asarray(labels)
        strange = np.setdiff1d(every, known)
        if len(strange):
            raise ValueError(f"labels has no {strange[0].tolist()!r}, which y or predicted holds.")
        weight = None if sample_weight is None else check_sample_weight(sample_weight, y_true)
        order = np.argsort(known, kind="stable")
        down, across = (
            order[np.searchsorted(known, each, sorter=order)] for each in (y_true, predictions)
        )
        k = len(known)
        counts = np.bincount(down * k + across, weight, k * k).reshape(k, k)
        return cls(known, counts).plot(ax, **look)

    @property
    def accuracy(self) -> float:
        """The accuracy."""
        return float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def constant(self) -> float:
        """The accuracy of always predicting the most common class."""
        return float(self.confusion.sum(axis=1).max() / self.confusion.sum())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        normalize: Literal["true", "pred", "all"] | None = None,
        values: bool | None = None,
        cmap: Any = "Blues",
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure.
        normalize : "true", "pred" or "all", optional
            Write fractions of the true class, of the predicted class, or of all rows, instead of
            counts.
        values : bool, optional
            Whether to write numbers. By default up to 16 classes.
        cmap : str or Colormap, default "Blues"

        Returns
        -------
        self
        """
        if normalize not in (None, "true", "pred", "all"):
            raise ValueError(f"normalize must be 'true', 'pred', 'all' or None. Got {normalize!r}.")
        k = len(self.labels)
        side = float(np.clip(3.6 + 0.32 * k, 4.4, 8.0))
        axes = self._open(ax, size=(side + 1.2, side))
        fractions = _fractions(self.confusion, "true")
        image = axes.imshow(fractions, cmap=cmap, vmin=0.0, vmax=1.0, aspect="auto")
        self._name_classes(axes)
        describe(
            axes,
            f"Confusion matrix: accuracy {self.accuracy:.1%} on {_amount(self.confusion.sum())} "
            f"rows (most common class: {self.constant:.1%})",
            "predicted class",
            "true class",
        )
        axes.spines[:].set_visible(False)
        if values if values is not None else k <= MAX_NUMBERED:
            self._write(axes, fractions, normalize)
        self._name_classes(axes)
        size, limits = text_size(axes, 9.0), limits_of(axes)
        bar = axes.figure.colorbar(image, ax=axes, fraction=0.045, pad=0.03)
        bar.set_label("fraction of the true class", fontsize=size)
        bar.ax.tick_params(labelsize=size)
        bar.outline.set_visible(False)
        if axes.figure.get_layout_engine() is None:
            _fit_inside(axes, bar.ax, limits)
        return self

    def _write(self, axes: Any, fractions: Floats, normalize: str | None) -> None:
        written = self.confusion if normalize is None else _fractions(self.confusion, normalize)
        cell = axes.get_window_extent().height / axes.figure.figure.dpi * 72 / len(self.labels)
        longest = max(len(_amount(value)) for value in written.flat) if normalize is None else 4
        size = float(np.clip(min(0.4 * cell, 1.3 * cell / longest), 4.0, 11.0))
        for i, j in np.ndindex(*written.shape):
            text = f"{written[i, j]:.2f}" if normalize else _amount(written[i, j])
            colour = "white" if fractions[i, j] > 0.55 else DARK if written[i, j] else GREY
            axes.text(j, i, text, ha="center", va="center", color=colour, fontsize=size)

    def _name_classes(self, axes: Any) -> None:
        k = len(self.labels)
        every = np.arange(0, k, -(-k // MAX_NAMED))
        names = short_names((self.labels[index].tolist() for index in every), 16)
        size = text_size(axes, float(np.clip(130.0 / len(every), 6.0, 9.0)))
        flat = max(map(len, names)) <= 3
        turned = {} if flat else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(every, names, fontsize=size, **turned)
        axes.set_yticks(every, names, fontsize=size)
        axes.tick_params(length=0)


def _fit_inside(axes: Any, bar: Any, limits: tuple[float, float, float, float]) -> None:
    """Move axes and colour bar so that all labels fit."""
    whole, around = axes.figure.figure.bbox, axes.get_tightbbox()
    left, low = max(0.0, limits[0] - around.x0), max(0.0, limits[1] - around.y0)
    right, up = max(0.0, bar.get_tightbbox().x1 - limits[2]), max(0.0, around.y1 - limits[3])
    for each, wide in ((axes, left + right), (bar, 0.0)):
        box = each.get_position()
        x = box.x0 + (left if each is axes else -right) / whole.width
        y, high = box.y0 + low / whole.height, box.height - (low + up) / whole.height
        each.set_position((x, y, box.width - wide / whole.width, high))


def _fractions(confusion: NDArray[Any], of: str) -> Floats:
    """Return counts as fractions; 0 for an empty sum."""
    axis = {"true": 1, "pred": 0, "all": None}[of]
    whole = confusion.sum(axis=axis, keepdims=True)
    fractions: Floats = np.divide(
        confusion, whole, out=np.zeros(confusion.shape), where=np.asarray(whole) > 0
    )
    return fractions


def _amount(value: Any) -> str:
    return f"{value:,.0f}".replace(",", " ") if float(value).is_integer() else f"{value:.4g}"
