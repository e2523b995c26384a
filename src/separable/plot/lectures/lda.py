"""Linear discriminant analysis of two columns: classes, their ellipses, the borders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.fitting.targets import check_labels
from separable.model.parameters import POSITIVE, ParameterError
from separable.plot.style.clipping import borders, box_around, class_scores
from separable.plot.style.display import Display
from separable.plot.style.ellipse import ellipse
from separable.plot.style.points import (
    check_fitted_to,
    class_handles,
    draw_classes,
    names_of,
    plane_points,
)
from separable.plot.style.theme import DARK, add_legend, class_style, describe, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.moments.discriminant.lda import LDA
    from separable.typing import Floats


__all__ = ["LdaDisplay"]


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
