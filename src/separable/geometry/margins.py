"""Margins: how far each row is on the right side of a model's boundary."""

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

#: A row this far beyond the margin 1 still counts as on it: solvers stop so close to it.
MARGIN_TOLERANCE = 1e-6
#: So many classes are named in a message.
MAX_NAMED = 8


@dataclass(frozen=True, eq=False)
class Margins:
    """How far rows are on the right side of the boundary; below 0 on the wrong side.

    Parameters
    ----------
    margins : ndarray, shape (n,)
        y (w.x + b) with y = -1, +1; of three classes and more the score of the row's class less the
        largest other one.
    distances : ndarray, shape (n,)
        To the boundary, in the units of the columns: margins / |w|; of three classes and more the
        smallest over other classes k of (score of the row's class less that of k) / |w_y - w_k|.
        Where two classes have the same weights there is no boundary, and the distance is infinite.
    """

    margins: Floats
    distances: Floats

    @property
    def smallest(self) -> float:
        """The smallest distance: where it is above 0, the model separates the rows by it."""
        return float(self.distances.min())

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows on or inside the margin 1: margins <= 1, but for 1e-6.

        Those of a support vector machine are its support rows; others have no such meaning.
        """
        return np.flatnonzero(self.margins <= 1.0 + MARGIN_TOLERANCE)

    @property
    def wrong(self) -> NDArray[np.intp]:
        """The rows that are not on the right side: margins <= 0."""
        return np.flatnonzero(self.margins <= 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers and lists."""
        return {
            "rows": len(self.margins),
            "smallest": self.smallest,
            "median": float(np.median(self.distances)),
            "wrong": self.wrong.tolist(),
            "support": self.support.tolist(),
        }

    def to_text(self) -> str:
        """Return the figures as text."""
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
    """Return how far each row is on the right side of a model's boundary.

    Parameters
    ----------
    model : LinearModel or fitted classifier
        Any learner of this package; also one with an encoder, which then takes raw tables.
    X : array-like, sparse matrix, data frame or Rows, shape (n, d)
    y : array-like, shape (n,)
        The class of each row.

    Returns
    -------
    Margins

    Raises
    ------
    ValueError
        The model predicts numbers, or votes, or has one class; or a label is none of its classes.

    Examples
    --------
    >>> from separable import LinearSVM
    >>> from separable.geometry import margins
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> found = margins(LinearSVM(C=100.0).fit(X, y), X, y)
    >>> found.margins.round(6).tolist(), found.distances.round(6).tolist()
    ([2.0, 1.0, 1.0, 2.0], [2.0, 1.0, 1.0, 2.0])
    >>> found.support.tolist()
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
    """Return the weights with a boundary that a model or learner has, or say why there are none."""
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
    """Return the place of each label among the classes; refuse labels that are none of them."""
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
    """Return margins of three classes and more."""
    margin, distance = np.empty(len(scores)), np.empty(len(scores))
    for k in np.unique(label):
        in_class = np.flatnonzero(label == k)
        norms = np.linalg.norm(weights - weights[k], axis=1)
        ahead = scores[in_class, k, None] - scores[in_class]
        away = _over(ahead, norms)
        ahead[:, k] = away[:, k] = np.inf
        margin[in_class], distance[in_class] = ahead.min(axis=1), away.min(axis=1)
    return Margins(margin, distance)
