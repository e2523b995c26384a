"""Linear discriminant analysis of one or two columns: densities, ellipses and boundaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.fitting.targets import check_labels
from separable.model.parameters import COUNT, POSITIVE, ParameterError
from separable.moments.discriminant.lda import LDA
from separable.plot.style.plane import (
    borders,
    borders_on_line,
    box_around,
    check_fitted_to,
    class_handles,
    class_scores,
    draw_classes,
    ellipse,
    names_of,
    plane_points,
    span,
)
from separable.plot.style.theme import DARK, Display, add_legend, class_style, describe, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["Lda1dDisplay", "LdaDisplay"]


@dataclass(eq=False, repr=False)
class LdaDisplay(Display):
    """Discriminant analysis of two columns: classes, their ellipses, and the borders.

    The ellipses are those of the one covariance that all classes share, about the mean of each.
    The border of two classes is drawn where no third class is more probable.

    Parameters
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
    classes : ndarray of shape (K,)
    ellipses : ndarray of shape (K, m, 2)
        (z - mu_k)'Sigma^-1 (z - mu_k) = sigmas^2.
    borders : dict from (int, int) to ndarray of shape (2, 2)
        The two ends of the border of each pair of classes, by their places in ``classes``.
    sigmas : float
    names : tuple of str

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separable import LDA
    >>> from separable.plot import LdaDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LdaDisplay.from_estimator(LDA().fit(X[:, :2], y), X[:, :2], y)
    >>> sorted(display.borders)
    [(0, 1), (0, 2), (1, 2)]
    """

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    ellipses: Floats
    borders: dict[tuple[int, int], Floats]
    sigmas: float = 3.0
    names: tuple[str, ...] = ("x1", "x2")

    @classmethod
    def from_estimator(
        cls, estimator: LDA, X: Any, y: Any, *, sigmas: float = 3.0, ax: Axes | None = None
    ) -> Self:
        """Draw a fitted LDA of two columns, and rows.

        Parameters
        ----------
        estimator : LDA
            Fitted to two columns.
        X : array-like, sparse matrix or numeric data frame of shape (n, 2)
        y : array-like of shape (n,)
        sigmas : float, default 3.0
            The radius of the ellipses, in deviations.
        ax : Axes, optional

        Returns
        -------
        LdaDisplay
        """
        if not POSITIVE.holds(sigmas):
            raise ParameterError(f"sigmas must be {POSITIVE.words}. Got {sigmas!r} instead.")
        check_fitted_to(estimator, 2, cls.__name__, ("means_", "covariance_"))
        points = plane_points(X, cls.__name__)
        labels = check_labels(y, len(points), cls.__name__)
        covariance = estimator.covariance_
        rings = np.stack([ellipse(mean, covariance, sigmas) for mean in estimator.means_])
        every = np.vstack([points, *rings])
        segments = dict(borders(*class_scores(estimator), box_around(every)))
        classes = estimator.classes_
        return cls(points, labels, classes, rings, segments, float(sigmas), names_of(X)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it on ``ax`` or in a new figure; return self."""
        self._open(ax, size=(7.4, 5.2))
        handles = draw_classes(self.ax_, self.X, self.y, self.classes, markersize=4, alpha=0.6)
        for handle, name in zip(handles, short_names(self.classes.tolist()), strict=True):
            handle.set_label(f"class {name}")
        handles = class_handles(handles)
        for k, ring in enumerate(self.ellipses):
            words = f"{self.sigmas:g}-sigma ellipse, the same for all" if k == 0 else None
            (line,) = self.ax_.plot(*ring.T, color=class_style(k)["color"], linewidth=1.6)
            if words:
                handles += self.ax_.plot([], [], color=DARK, linewidth=1.6, label=words)
            self.ax_.plot(
                *ring[:-1].mean(axis=0), "+", color="white", markersize=13, markeredgewidth=5
            )
            self.ax_.plot(
                *ring[:-1].mean(axis=0), "+", color=line.get_color(), markersize=11,
                markeredgewidth=2.5,
            )  # fmt: skip
        for ends in self.borders.values():
            (border,) = self.ax_.plot(*ends.T, "--", color=DARK, linewidth=1.8)
        if self.borders:
            border.set_label("boundary: equal probability")
            handles.append(border)
        box = box_around(np.vstack([self.X, *self.ellipses]))
        self.ax_.set(xlim=box[:, 0], ylim=box[:, 1])
        describe(self.ax_, "LDA: a shared covariance gives linear boundaries", *self.names)
        add_legend(self.ax_, handles)
        return self


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """Classes on a line that are normal with one deviation.

    Parameters
    ----------
    means : ndarray of shape (K,)
    deviation : float
    priors : ndarray of shape (K,)

    Examples
    --------
    >>> import numpy as np
    >>> classes = GaussianClasses(np.array([-1.0, 2.0]), 3.0, np.array([0.5, 0.5]))
    >>> classes.boundaries()  # (mu_1 + mu_2) / 2, whatever the deviation is
    array([0.5])
    """

    means: Floats
    deviation: float
    priors: Floats

    def densities(self, x: Floats) -> Floats:
        """Return pi_k f_k(x) of each class, (K, len(x))."""
        away = (x - self.means[:, None]) / self.deviation
        height: Floats = np.exp(-(away**2) / 2) / (np.sqrt(2 * np.pi) * self.deviation)
        return self.priors[:, None] * height

    def boundaries(self) -> Floats:
        """Return where the largest delta_k = x mu_k / s^2 - mu_k^2 / (2 s^2) + log pi_k changes."""
        s2 = self.deviation**2
        offsets = np.log(self.priors) - self.means**2 / (2 * s2)
        return borders_on_line((self.means / s2)[:, None], offsets)


@dataclass(eq=False, repr=False)
class Lda1dDisplay(Display):
    """Discriminant analysis of one column: the classes' densities, and the boundary between them.

    Drawn are the rows as histograms, pi_k f_k(x) of each class as estimated, and the boundary where
    they cross; where the true classes are known, their boundary is dashed.

    Parameters
    ----------
    X : ndarray of shape (n,)
    y : ndarray of shape (n,)
    classes : ndarray of shape (K,)
    estimated : GaussianClasses
    boundaries : ndarray
        Of the fitted LDA.
    true : GaussianClasses, optional
    name : str
        Of the column.

    Attributes
    ----------
    true_boundaries : ndarray
        Empty where the true classes are not known.
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from separable.plot import Lda1dDisplay
    >>> display = Lda1dDisplay.from_parameters((-1.25, 1.25), 1.0, n=20)
    >>> display.true_boundaries.tolist()
    [0.0]
    >>> bool(abs(display.boundaries[0]) < 0.5)
    True
    """

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    estimated: GaussianClasses
    boundaries: Floats
    true: GaussianClasses | None = None
    name: str = "x"

    @property
    def true_boundaries(self) -> Floats:
        """Where the best of the true classes changes."""
        return np.empty(0) if self.true is None else self.true.boundaries()

    @classmethod
    def from_estimator(
        cls,
        estimator: LDA,
        X: Any,
        y: Any,
        *,
        true_means: Any = None,
        true_deviation: float | None = None,
        true_priors: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted LDA of one column, and the rows.

        Parameters
        ----------
        estimator : LDA
            Fitted to one column.
        X : array-like, sparse matrix or numeric data frame of shape (n, 1)
        y : array-like of shape (n,)
        true_means : array-like of shape (K,), optional
            In the order of ``classes_``; with ``true_deviation`` the true boundary is drawn, too.
        true_deviation : float, optional
        true_priors : array-like of shape (K,), optional
            Default: all the same.
        ax : Axes, optional

        Returns
        -------
        Lda1dDisplay
        """
        check_fitted_to(estimator, 1, cls.__name__, ("means_", "covariance_", "priors_"))
        points = plane_points(X, cls.__name__, 1)[:, 0]
        labels = check_labels(y, len(points), cls.__name__)
        estimated = GaussianClasses(
            estimator.means_[:, 0], float(np.sqrt(estimator.covariance_[0, 0])), estimator.priors_
        )
        true = None
        if true_means is not None or true_deviation is not None:
            true = _true_classes(true_means, true_deviation, true_priors, len(estimated.means))
        boundaries = borders_on_line(*class_scores(estimator))
        classes = estimator.classes_
        (name,) = names_of(X, 1)
        return cls(points, labels, classes, estimated, boundaries, true, name).plot(ax)

    @classmethod
    def from_parameters(
        cls,
        means: Any = (-1.25, 1.25),
        deviation: float = 1.0,
        *,
        priors: Any = None,
        n: int = 40,
        random_state: Any = 0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw rows of known classes, fit ``LDA`` to them, and draw both.

        Parameters
        ----------
        means : array-like of shape (K,)
        deviation : float
        priors : array-like of shape (K,), optional
            Default: all the same.
        n : int, default 40
            Rows in all; class k has the fraction given by its prior, and at least two.
        random_state : int, Generator or None, default 0
        ax : Axes, optional

        Returns
        -------
        Lda1dDisplay
        """
        centres = np.asarray(means, dtype=np.float64)
        true = _true_classes(centres, deviation, priors, centres.size)
        if not COUNT.holds(n):
            raise ParameterError(f"n must be {COUNT.words}. Got {n!r} instead.")
        y = np.repeat(
            np.arange(1, centres.size + 1), np.maximum(2, np.round(n * true.priors)).astype(int)
        )
        X = np.random.default_rng(random_state).normal(centres[y - 1], deviation)[:, None]
        return cls.from_estimator(
            LDA().fit(X, y), X, y,
            true_means=centres, true_deviation=deviation, true_priors=priors, ax=ax,
        )  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it on ``ax`` or in a new figure; return self."""
        self._open(ax, size=(7.4, 4.4))
        low, high = span(self.X, 0.25)
        x = np.linspace(low, high, 400)
        self._draw_rows()
        for k, height in enumerate(self.estimated.densities(x)):
            words = f"class {self.classes[k]}: estimated density"
            self.ax_.plot(x, height, color=class_style(k)["color"], linewidth=2, label=words)
        if self.true is not None:
            for k, height in enumerate(self.true.densities(x)):
                self.ax_.plot(x, height, ":", color=class_style(k)["color"], linewidth=1.2)
            self.ax_.plot([], [], ":", color=DARK, linewidth=1.2, label="true densities")
        self._draw_boundaries()
        self.ax_.set(xlim=(low, high), ylim=(0, None))
        title = "LDA: the boundary is where the densities cross"
        describe(self.ax_, title, self.name, "prior times density")
        add_legend(self.ax_)
        return self

    def _draw_rows(self) -> None:
        """Draw each class as a histogram whose area is its fraction of the rows."""
        edges: Any = np.linspace(*span(self.X, 0), int(np.clip(2 * np.sqrt(len(self.X)), 6, 30)))
        density = np.full(len(self.X), 1 / (len(self.X) * (edges[1] - edges[0])))
        for k, label in enumerate(self.classes):
            own = self.y == label
            self.ax_.hist(
                self.X[own], edges, weights=density[own], color=class_style(k)["color"], alpha=0.25
            )

    def _draw_boundaries(self) -> None:
        for many, line, what in (
            (self.boundaries, "-", "estimated boundary"),
            (self.true_boundaries, "--", "true boundary"),
        ):
            for index, x in enumerate(many):
                label = f"{what}: {', '.join(f'{v:.3g}' for v in many)}" if index == 0 else None
                self.ax_.axvline(x, color=DARK, linestyle=line, linewidth=1.6, label=label)


def _true_classes(means: Any, deviation: Any, priors: Any, count: int) -> GaussianClasses:
    centres = np.asarray([] if means is None else means, dtype=np.float64)
    if centres.shape != (count,) or count < 2 or not np.isfinite(centres).all():
        raise ValueError(f"The true means must be {max(2, count)} finite numbers. Got {means!r}.")
    if not POSITIVE.holds(deviation):
        raise ValueError(f"The true deviation must be {POSITIVE.words}. Got {deviation!r}.")
    probabilities = (
        np.full(count, 1 / count) if priors is None else np.asarray(priors, dtype=np.float64)
    )
    if (
        probabilities.shape != (count,)
        or not (probabilities > 0).all()
        or not np.isclose(probabilities.sum(), 1)
    ):
        raise ValueError(
            f"The true priors must be {count} numbers above 0 with sum 1. Got {priors!r}."
        )
    return GaussianClasses(centres, float(deviation), probabilities)
