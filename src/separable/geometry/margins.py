"""Margins: signed distances of rows to the decision boundary of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.targets import check_labels, find_classes
from separable.model.linear_model import LinearModel
from separable.model.predict.inputs import model_rows
from separable.model.predict.scores import linear_scores
from separable.model.words import number, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["Margins", "margins"]

#: Tolerance for rows on the margin 1, because solvers stop this close to it.
MARGIN_TOLERANCE = 1e-6
#: Maximum number of classes named in a message.
MAX_NAMED = 8


@dataclass(frozen=True, eq=False)
class Margins:
    """Functional and geometric margins of rows; negative if misclassified.

    Parameters
    ----------
    margins : ndarray, shape (n,)
        Functional margins: y (w.x + b) with y = -1, +1; for three or more classes, the score of
        the row's class minus the largest other score.
    distances : ndarray, shape (n,)
        Geometric margins, in the units of the columns: margins / |w|; for three or more classes,
        the minimum over other classes k of (score of y minus score of k) / |w_y - w_k|. Infinite if
        two classes have the same weights, so that there is no boundary between them.
    """

    margins: Floats
    distances: Floats

    @property
    def smallest(self) -> float:
        """The smallest distance; if positive, the geometric margin of the model."""
        return float(self.distances.min())

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows on or inside the margin 1: margins <= 1, with a tolerance of 1e-6.

        For a support vector machine these are the support vectors.
        """
        return np.flatnonzero(self.margins <= 1.0 + MARGIN_TOLERANCE)

    @property
    def wrong(self) -> NDArray[np.intp]:
        """The misclassified rows: margins <= 0."""
        return np.flatnonzero(self.margins <= 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the margins as plain numbers and lists."""
        return {
            "rows": len(self.margins),
            "smallest": self.smallest,
            "median": float(np.median(self.distances)),
            "wrong": self.wrong.tolist(),
            "support": self.support.tolist(),
        }

    def to_text(self) -> str:
        """Return a summary as text."""
        nearest = int(self.distances.argmin())
        lines = [
            ("rows", str(len(self.margins))),
            ("smallest distance", f"{number(self.smallest)} (row {nearest})"),
            ("median distance", number(float(np.median(self.distances)))),
            ("on the wrong side", str(len(self.wrong))),
            ("on or inside the margin 1", str(len(self.support))),
        ]
        return "Margins\n" + table(lines)

    def __repr__(self) -> str:
        return self.to_text()


def margins(model: Any, X: Any, y: Any) -> Margins:
    """Return the margins of rows with respect to the decision boundary of a model.

    Parameters
    ----------
    model : LinearModel or fitted classifier
        Any classifier of this package; with an encoder it takes raw tables.
    X : array-like, sparse matrix, data frame or Rows, shape (n, d)
    y : array-like, shape (n,)
        The class of each row.

    Returns
    -------
    Margins

    Raises
    ------
    ValueError
        The model is a regression, a vote or has one class; or a label is not among its classes.

    Examples
    --------
    >>> from separable import LinearSVM
    >>> from separable.geometry import margins
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> result = margins(LinearSVM(C=100.0).fit(X, y), X, y)
    >>> result.margins.round(6).tolist(), result.distances.round(6).tolist()
    ([2.0, 1.0, 1.0, 2.0], [2.0, 1.0, 1.0, 2.0])
    >>> result.support.tolist()
    [1, 2]
    """
    linear = _linear(model)
    assert linear.classes is not None
    rows = model_rows(linear, X)
    label = _labels(y, linear.classes, rows.n_rows)
    scores = linear_scores(rows, linear.weights, linear.intercept)
    if len(linear.classes) == 2:
        margin = np.where(label == 1, 1.0, -1.0) * scores[:, 0]
        return Margins(margin, _over(margin, float(np.linalg.norm(linear.weights[0]))))
    return _of_many(scores, label, linear.weights)


def _linear(model: Any) -> LinearModel:
    """Return the linear classifier of a model or estimator, or raise if it has none."""
    linear = getattr(model, "model_", model)
    if not isinstance(linear, LinearModel):
        raise ValueError(
            f"Margins are distances to one hyperplane, and {type(model).__name__} has none: it is "
            "no linear model, or a vote of several. Use a LinearModel or a fitted classifier of "
            "this package, such as AveragedPerceptron."
        )
    if linear.classes is None:
        raise ValueError(
            f"Margins are of classes, and this {linear.learner} model predicts numbers. Use a "
            "classifier; of numbers look at the residuals, y - model.predict(X)."
        )
    if len(linear.classes) == 1:
        raise ValueError(
            f"This {linear.learner} model has met one class only, {linear.classes.tolist()[0]!r}, "
            "so it has no boundary. Let it learn from rows of another class too."
        )
    return linear


def _labels(y: Any, classes: NDArray[Any], n_rows: int) -> NDArray[np.int32]:
    """Return the class index of each label; refuse unknown labels."""
    labels = check_labels(y, n_rows, "margins")
    label = find_classes(labels, classes)
    strange = np.flatnonzero(label < 0)
    if len(strange):
        row = int(strange[0])
        known = ", ".join(map(repr, classes[:MAX_NAMED].tolist()))
        more = ", ..." if len(classes) > MAX_NAMED else ""
        raise ValueError(
            f"The label {labels.tolist()[row]!r} of row {row} is no class of the model. There are: "
            f"{known}{more}. Leave such rows out."
        )
    return label


def _over(margin: Floats, norm: Floats | float) -> Floats:
    """Return margins over norms, infinite where the norm is 0 and the margin is not."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance: Floats = margin / np.asarray(norm)
    return np.where(margin == 0, 0.0, distance)


def _of_many(scores: Floats, label: NDArray[np.int32], weights: Floats) -> Margins:
    """Return the margins for three or more classes."""
    margin, distance = np.empty(len(scores)), np.empty(len(scores))
    for k in np.unique(label):
        in_class = np.flatnonzero(label == k)
        norms = np.linalg.norm(weights - weights[k], axis=1)
        ahead = scores[in_class, k, None] - scores[in_class]
        away = _over(ahead, norms)
        ahead[:, k] = away[:, k] = np.inf
        margin[in_class], distance[in_class] = ahead.min(axis=1), away.min(axis=1)
    return Margins(margin, distance)
