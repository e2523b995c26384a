"""Weights as images: of models whose columns are pixels."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.plot.style.display import Display
from separable.plot.style.fitted import linear_model
from separable.plot.style.panels import panels_for
from separable.plot.style.theme import short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separable.typing import Floats


__all__ = ["WeightImagesDisplay"]

#: Width of an image among several, and height of its title, in inches.
WIDTH, TITLE = 1.7, 0.25
#: Titles from this length on use a smaller font.
LONG = 16


@dataclass(eq=False, repr=False)
class WeightImagesDisplay(Display):
    """The weights of a model whose columns are the pixels of an image, one image a class.

    Red speaks for the class, blue against it, white says nothing; all images have one scale, the
    same on both sides of 0.

    Parameters
    ----------
    images : ndarray of shape (k, height, width)
    titles : tuple of str
        What each image is of.
    of_classes : bool, default True
        Whether weights speak for and against classes; False: they raise or lower a prediction.

    Attributes
    ----------
    limit : float
        The largest weight in size; colours go from -limit to limit.
    axes_ : ndarray of Axes
    ax_ : Axes
        The first.
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separable import LDA
    >>> from separable.plot import WeightImagesDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LDA(shrinkage=0.1).fit(X, y)
    >>> display = WeightImagesDisplay.from_estimator(model, (8, 8))
    >>> display.images.shape, display.titles[:2]
    ((10, 8, 8), ('0', '1'))
    """

    images: Floats
    titles: tuple[str, ...]
    of_classes: bool = True
    axes_: Any = field(init=False)

    @property
    def limit(self) -> float:
        """The largest weight in size."""
        return float(np.abs(self.images).max()) or 1.0

    @classmethod
    def from_estimator(
        cls, estimator: Any, shape: tuple[int, int], *, columns: int = 5, ax: Axes | None = None
    ) -> Self:
        """Draw the weights of a fitted linear model.

        Parameters
        ----------
        estimator : fitted linear learner, search, pipeline or LinearModel
        shape : (int, int)
            Height and width; columns of X are pixels row by row.
        columns : int, default 5
            Images side by side.
        ax : Axes, optional

        Returns
        -------
        WeightImagesDisplay
        """
        model = linear_model(estimator)
        weights = np.asarray(model.weights, dtype=np.float64)
        height, width = shape
        if height * width != weights.shape[1]:
            raise ValueError(
                f"shape={tuple(shape)} has {height * width} pixels, but the model has "
                f"{weights.shape[1]} columns. Give the height and width of the images."
            )
        images = weights.reshape(len(weights), height, width)
        made = cls(images, _titles(model.classes, len(images)), model.classes is not None)
        return made.plot(ax, columns=columns)

    def plot(self, ax: Axes | None = None, *, columns: int = 5) -> Self:
        """Draw the images, in the place of ``ax`` or in a new figure; return self."""
        count, (height, width) = len(self.images), self.images.shape[1:]
        wide = WIDTH if count > 2 else 2 * WIDTH / count
        size = wide, float(np.clip(wide * height / width, 0.5, 2 * wide)) + TITLE
        self.figure_, self.axes_ = panels_for(ax, count, columns=columns, size=size, extra=1.2)
        self.ax_ = self.axes_[0]
        for panel, image, title in zip(self.axes_, self.images, self._short_titles(), strict=True):
            drawn = panel.imshow(image, cmap="RdBu_r", vmin=-self.limit, vmax=self.limit)
            panel.set_title(title, fontsize=10 if len(title) < LONG else 8)
            panel.set(xticks=[], yticks=[])
        bar: Any = self.figure_.colorbar(drawn, ax=list(self.axes_), fraction=0.05, aspect=30)
        bar.set_label("weight of the pixel", fontsize=9)
        bar.ax.tick_params(labelsize=8.5)
        if ax is None:
            width = int(15 * self.figure_.figure.get_size_inches()[0])
            self.figure_.suptitle(textwrap.fill(self._words(), width), fontsize=11)
        return self

    def _short_titles(self) -> list[str]:
        return short_names(self.titles, 2 * LONG if len(self.images) == 1 else LONG)

    def _words(self) -> str:
        if self.of_classes:
            return "Weights as images (red: for the class, blue: against it)"
        return "Weights as images (red raises the prediction, blue lowers it)"


def _titles(classes: Any, count: int) -> tuple[str, ...]:
    if classes is None:
        return ("weights",) if count == 1 else tuple(f"target {k}" for k in range(count))
    labels = [str(label) for label in np.asarray(classes).tolist()]
    return (f"{labels[1]} against {labels[0]}",) if count == 1 else tuple(labels)
