"""Largest weights as signed bars with names, and weights of pixels as images."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable.model.predict.inputs import model_rows
from separable.model.words import feature_name, label_value
from separable.plot.style.fitted_models import class_codes, linear_model
from separable.plot.style.panels import panels_for
from separable.plot.style.theme import (
    BLUE,
    DARK,
    ORANGE,
    Display,
    called,
    describe,
    short_names,
    text_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.model.linear_model import LinearModel
    from separable.typing import Floats


__all__ = ["WeightImagesDisplay", "WeightsDisplay"]

#: Default number of bars of one score, of several together, and of scores.
MAX_BARS, MAX_BARS_TOGETHER, MAX_SCORES = 20, 36, 8

#: Width of an image among several, and height of its title, in inches.
IMAGE_WIDTH, TITLE_HEIGHT = 1.7, 0.25
#: Titles from this length on use a smaller font.
LONG_TITLE = 16


@dataclass(eq=False)
class WeightsDisplay(Display):
    """The weights with the largest magnitudes, as signed bars.

    Parameters
    ----------
    learner : str
    classes : ndarray or None
        Classes of the model; None in regression.
    scores : list of int
        Indices of the drawn scores; two classes have one score, more have one per class.
    features : list of ndarray of int
        The columns drawn for each score, from the largest weight to the smallest.
    names : list of list of str
        Their names.
    weights : list of ndarray
        Their weights.
    n_nonzero, n_features : int
        Number of columns with a non-zero weight, and of all columns.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last plot.

    Examples
    --------
    >>> from separable import LinearModel
    >>> from separable.plot import WeightsDisplay
    >>> spam = LinearModel([[4, -2]], [-3], ["ham", "spam"], "score", ["free", "meeting"])
    >>> display = WeightsDisplay.from_estimator(spam)
    >>> display.names, display.weights
    ([['free', 'meeting']], [array([ 4., -2.])])
    """

    learner: str
    classes: NDArray[Any] | None
    scores: list[int]
    features: list[NDArray[np.intp]]
    names: list[list[str]]
    weights: list[Floats]
    n_nonzero: int
    n_features: int

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        top: int | None = None,
        classes: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw the largest weights of a fitted linear learner.

        Parameters
        ----------
        estimator : fitted linear learner, search, pipeline or LinearModel
        top : int, optional
            Number of bars per score. By default 20, fewer if there are several scores.
        classes : sequence, optional
            The classes to draw, for three or more. By default the first eight.
        feature_names : sequence of str, optional
            Names of the columns, instead of the model's own.
        ax : Axes, optional
        **look
            For ``Axes.barh``.

        Returns
        -------
        WeightsDisplay
        """
        model = linear_model(estimator)
        names = model.feature_names if feature_names is None else feature_names
        if names is not None and len(names) != model.n_features:
            raise ValueError(
                f"feature_names has {len(names)} names, and the model {model.n_features} features."
            )
        scores = _scores_to_draw(model, classes)
        if top is None:
            top = MAX_BARS if len(scores) == 1 else max(3, MAX_BARS_TOGETHER // len(scores))
        if not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be an int >= 1. Got {top!r}.")
        features = [_strongest(model.weights[k], int(top)) for k in scores]
        made = cls(
            model.learner,
            model.classes,
            scores,
            features,
            [[feature_name(names, int(j)) for j in indices] for indices in features],
            [model.weights[k][indices] for k, indices in zip(scores, features, strict=True)],
            int(np.count_nonzero(model.weights.any(axis=0))),
            model.n_features,
        )
        return made.plot(ax, **look)

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure, as high as its bars need.
        **look
            For ``Axes.barh``.

        Returns
        -------
        self
        """
        count = sum(max(len(values), 1) for values in self.weights) + len(self.weights) - 1
        axes = self._open(ax, size=(7.2, float(np.clip(1.4 + 0.23 * count, 2.6, 12.0))))
        positions, names, middles, at = [], [], [], 0.0
        for values, words in zip(self.weights, self.names, strict=True):
            rows = at + np.arange(len(values))
            self._draw_bars(axes, rows, values, look)
            positions += rows.tolist()
            names += short_names(words)
            middles.append(at + (len(values) - 1) / 2)
            at += max(len(values), 1) + 1
        axes.axvline(0.0, color=DARK, linewidth=0.8)
        axes.set_ylim(at - 1.3, -0.7)
        height = axes.get_window_extent().height / axes.figure.figure.dpi * 72
        size = float(np.clip(0.65 * height / max(count, 1), 3.0, text_size(axes, 9.0)))
        axes.set_yticks(positions, names, fontsize=size)
        to = "prediction" if self.classes is None else "score"
        what = f"weight: change of the {to} per unit of the feature"
        describe(axes, self._title(), f"{self._signs()}\n{what}", "")
        axes.tick_params(axis="y", length=0, labelsize=size)
        if len(self.scores) > 1:
            self._name_scores(axes, middles)
        return self

    def _draw_bars(self, axes: Any, rows: Any, values: Floats, look: dict[str, Any]) -> None:
        colours = [ORANGE if w > 0 else BLUE for w in values]
        bars = axes.barh(rows, values, **{"color": colours, "height": 0.75, **look})
        for bar, w in zip(bars, values, strict=True):
            bar.set_hatch("" if w > 0 else "////")
            bar.set_edgecolor("white")
            bar.set_linewidth(0.0)

    def _title(self) -> str:
        drawn = sum(map(len, self.weights))
        is_sparse = self.n_nonzero < self.n_features
        columns = f"{self.n_nonzero} columns" + f" not 0, of {self.n_features}" * is_sparse
        if not drawn:
            return f"{self.learner}: all {self.n_features} weights are 0"
        if self.classes is not None and len(self.classes) > 2:
            k, n = len(self.scores), len(self.classes)
            which = f"{n} classes" if k == n else f"{k} of {n} classes"
            return f"{self.learner}: largest weights of {which} ({columns})"
        what = (
            f" that {'are' if self.n_nonzero > 1 else 'is'} not 0 (of {self.n_features})"
            * is_sparse
        )
        which = f"the {drawn} largest of {self.n_nonzero}"
        if drawn == self.n_nonzero:
            which = f"all {drawn}" if drawn > 1 else "the one"
        return f"{self.learner}: {which} weight{'s' * (self.n_nonzero > 1)}{what}"

    def _name_scores(self, axes: Any, middles: list[float]) -> None:
        """Label each group of bars with its class."""
        names = [f"target {k}" for k in self.scores]
        if self.classes is not None:
            names = short_names(self.classes.tolist(), 16)
            names = [names[k] for k in self.scores]
        for name, middle in zip(names, middles, strict=True):
            axes.annotate(
                name,
                (1.01, middle),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=text_size(axes, 9.0),
                fontweight="bold",
            )

    def _signs(self) -> str:
        """Explain the meaning of bars to the left and to the right."""
        if self.classes is None:
            left, right = "lowers the prediction", "raises it"
        elif len(self.classes) > 2:
            left, right = "against the class", "for the class"
        else:
            names = short_names(map(called, self.classes[[0, -1]].tolist()), 20)
            left, right = (f"for {name}" for name in names)
        return f"◀ {left}      {right} ▶"


def _scores_to_draw(model: LinearModel, classes: Sequence[Any] | None) -> list[int]:
    if classes is None:
        return list(range(min(model.n_scores, MAX_SCORES)))
    if model.classes is None or model.n_scores == 1:
        raise ValueError("classes selects among the scores of three or more classes.")
    known = model.classes.tolist()
    wanted = [label_value(label) for label in classes]
    strange = [label for label in wanted if label not in known]
    if strange or not wanted:
        what = f"{strange[0]!r} is not a class of the model" if strange else "classes is empty"
        raise ValueError(f"{what}. There are: {', '.join(map(repr, known[:8]))}.")
    return [known.index(label) for label in wanted]


def _strongest(w: Floats, top: int) -> NDArray[np.intp]:
    """Return the columns of the weights with the largest magnitudes, largest weight first."""
    far = np.flatnonzero(w)
    if len(far) > top:
        far = far[np.argsort(-np.abs(w[far]), kind="stable")[:top]]
    return far[np.argsort(-w[far], kind="stable")]


@dataclass(eq=False, repr=False)
class WeightImagesDisplay(Display):
    """The weights of a model of images, one image per class; its columns are pixels.

    Red speaks for the class, blue against it, white is 0; all images have one symmetric scale.
    Given rows, an outline shows the mean image of each class.

    Parameters
    ----------
    images : ndarray of shape (k, height, width)
    titles : tuple of str
        Titles of the images.
    of_classes : bool, default True
        Whether the model is a classifier.
    means : ndarray of shape (k, height, width), optional
        The mean image of each class.

    Attributes
    ----------
    limit : float
        Colours go from -limit to limit: the magnitude that one weight in 100 exceeds, so that a
        few large weights do not wash out the others.
    axes_ : ndarray of Axes
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separable import LDA
    >>> from separable.plot import WeightImagesDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LDA(shrinkage=0.1).fit(X, y)
    >>> display = WeightImagesDisplay.from_estimator(model, (8, 8), X, y)
    >>> display.images.shape, display.titles[:2]
    ((10, 8, 8), ('0', '1'))
    """

    images: Floats
    titles: tuple[str, ...]
    of_classes: bool = True
    means: Floats | None = None
    #: The fraction of the weights in the range of the colours.
    shown_fraction: ClassVar[float] = 0.99
    axes_: Any = field(init=False)

    @property
    def limit(self) -> float:
        """The magnitude that at most one weight in 100 exceeds, the largest if that is 0."""
        magnitudes = np.abs(self.images)
        most = float(np.quantile(magnitudes, self.shown_fraction, method="higher"))
        return most or float(magnitudes.max()) or 1.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        shape: tuple[int, int],
        X: Any = None,
        y: Any = None,
        *,
        columns: int = 5,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the weights of a fitted linear model.

        Parameters
        ----------
        estimator : fitted linear learner, search, pipeline or LinearModel
        shape : (int, int)
            Height and width; columns of X are pixels row by row.
        X, y : array-like, shape (n, height * width) and (n,), optional
            Rows, of which the mean image of each class is outlined.
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
        means = None if X is None else _mean_images(model, X, y).reshape(images.shape)
        titles = _titles(model.classes, len(images))
        made = cls(images, titles, model.classes is not None, means)
        return made.plot(ax, columns=columns)

    def plot(self, ax: Axes | None = None, *, columns: int = 5) -> Self:
        """Draw the images, in place of ``ax`` or in a new figure; return self."""
        count, (height, width) = len(self.images), self.images.shape[1:]
        wide = IMAGE_WIDTH if count > 2 else 2 * IMAGE_WIDTH / count
        size = wide, float(np.clip(wide * height / width, 0.5, 2 * wide)) + TITLE_HEIGHT
        self.figure_, self.axes_ = panels_for(ax, count, columns=columns, size=size, extra=1.2)
        self.ax_ = self.axes_[0]
        for panel, image, title in zip(self.axes_, self.images, self._short_titles(), strict=True):
            drawn = panel.imshow(image, cmap="RdBu_r", vmin=-self.limit, vmax=self.limit)
            panel.set_title(title, fontsize=10 if len(title) < LONG_TITLE else 8)
            panel.set(xticks=[], yticks=[])
        for panel, mean in zip(self.axes_, [] if self.means is None else self.means, strict=False):
            half = float(mean.max() + mean.min()) / 2
            panel.contour(mean, levels=[half], colors=DARK, linewidths=1.4)
        over = "both" if np.abs(self.images).max() > self.limit else "neither"
        bar: Any = self.figure_.colorbar(
            drawn, ax=list(self.axes_), fraction=0.05, aspect=30, extend=over
        )
        bar.set_label("weight of the pixel", fontsize=9)
        bar.ax.tick_params(labelsize=8.5)
        if ax is None:
            width = int(15 * self.figure_.figure.get_size_inches()[0])
            self.figure_.suptitle(textwrap.fill(self._words(), width), fontsize=11)
        return self

    def _short_titles(self) -> list[str]:
        return short_names(self.titles, 2 * LONG_TITLE if len(self.images) == 1 else LONG_TITLE)

    def _words(self) -> str:
        if self.of_classes:
            outlined = "" if self.means is None else "; outlined: its mean image"
            return f"Weights as images (red: for the class, blue: against it{outlined})"
        return "Weights as images (red raises the prediction, blue lowers it)"


def _mean_images(model: LinearModel, X: Any, y: Any) -> Floats:
    """Return the mean row of each class; of two classes that of the second."""
    if model.classes is None or y is None:
        raise ValueError("Mean images need y, the classes of the rows, and a classifier.")
    rows = model_rows(model, X).to_matrix()
    codes = class_codes(y, rows.shape[0], model.classes, "WeightImagesDisplay")
    indicators = np.equal.outer(np.arange(len(model.classes)), codes).astype(np.float64)
    sums: Floats = np.asarray((rows.T @ indicators.T).T)
    means: Floats = sums / np.maximum(indicators.sum(axis=1), 1)[:, None]
    return means[1:] if model.n_scores == 1 else means


def _titles(classes: Any, count: int) -> tuple[str, ...]:
    if classes is None:
        return ("weights",) if count == 1 else tuple(f"target {k}" for k in range(count))
    labels = [str(label) for label in np.asarray(classes).tolist()]
    return (f"{labels[1]} against {labels[0]}",) if count == 1 else tuple(labels)
