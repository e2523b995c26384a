"""Data of a boundary plot: rows projected to a plane, and scores on that plane.

A boundary w.x + b = 0 is a straight line in every plane that contains w. The plot uses the plane
whose second direction has the largest spread of the rows. Rows are only multiplied by vectors, so
sparse rows stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import as_rows
from separable.estimator import check_is_fitted
from separable.features.polynomial_encoder import PolynomialEncoder
from separable.model.linear_model import LinearModel
from separable.model.predict.inputs import model_rows
from separable.model.words import label_value
from separable.plot.style.fitted_models import (
    best_of,
    has_weights_of_pairs,
    is_pipeline,
    like_given,
    linear_model,
    name_of,
    names_of_columns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = [
    "Scene",
    "View",
    "columns_view",
    "differences_view",
    "length",
    "normal_view",
    "pair_of",
    "scene_of",
    "scores_of_pair",
]


#: Remaining spread below this fraction of the total is rounding.
SPREAD_TOLERANCE = 1e-12
#: A direction is named after a column with at least this part of its length.
MIN_LOADING = 0.5


@dataclass(frozen=True, eq=False)
class View:
    """Coordinates z = basis x + offset, with orthonormal directions.

    Parameters
    ----------
    basis : ndarray, shape (k, d)
    offset : ndarray, shape (k,)
    centre : ndarray, shape (d,)
        A point of the space; it completes the other coordinates.
    labels : tuple of str
        Labels of the coordinates.
    """

    basis: Floats
    offset: Floats
    centre: Floats
    labels: tuple[str, ...]

    def coordinates(self, X: Any) -> Floats:
        """Return the coordinates of rows of the space, (n, k)."""
        result: Floats = np.asarray(X @ self.basis.T, dtype=np.float64) + self.offset
        return result

    def in_space(self, points: Floats) -> Floats:
        """Return points of the space, (m, d), that have these coordinates."""
        result = np.tile(self.centre, (len(points), 1))
        for _ in range(2):  # the second step corrects the rounding of the first
            result += (points - self.coordinates(result)) @ self.basis
        return result


def columns_view(names: Sequence[str]) -> View:
    """Return the columns themselves as coordinates."""
    d = len(names)
    return View(np.eye(d), np.zeros(d), np.zeros(d), tuple(names))


def normal_view(X: Any, w: Floats, b: float, names: Sequence[str] | None, k: int = 2) -> View:
    """Return w and the k - 1 directions of largest remaining spread, for k or more columns.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n, d)
    w : ndarray, shape (d,)
        Not 0.
    b : float
    names : sequence of str, optional
        Of the columns.
    k : int, default 2
    """
    size = length(w)
    unit = w / size
    centre = _mean(X)
    basis = [unit]
    labels = ["distance to the boundary, (w.x + b) / |w|"]
    for step in range(1, k):
        direction = _largest_spread(X, centre, np.array(basis))
        basis.append(direction)
        labels.append(_spread_label(direction, names, step))
    offset = np.zeros(k)
    offset[0] = b / size
    return View(np.array(basis), offset, centre, tuple(labels))


def length(w: Floats) -> float:
    """Return |w| without overflow or underflow."""
    largest = float(np.abs(w).max())
    return largest * float(np.linalg.norm(w / largest)) if largest > 0 else 0.0


def differences_view(X: Any, weights: Floats) -> View:
    """Return the plane of the differences of the weights of three classes."""
    steps = weights[1:] - weights[0]
    steps = steps / np.abs(steps).max()
    basis, rank = np.linalg.qr(steps.T)
    if abs(rank[1, 1]) <= SPREAD_TOLERANCE * max(abs(rank[0, 0]), SPREAD_TOLERANCE):
        first = steps[np.argmax((steps**2).sum(axis=1))]
        first = first / np.linalg.norm(first)
        basis = np.array([first, _largest_spread(X, _mean(X), first[None])]).T
    label = "direction in the plane of the weight differences"
    labels = tuple(f"{word} {label}" for word in ("first", "second"))
    return View(np.ascontiguousarray(basis.T), np.zeros(2), _mean(X), labels)


def _mean(X: Any) -> Floats:
    n = X.shape[0]
    mean: Floats = np.asarray(np.ones(n) @ X, dtype=np.float64) / max(n, 1)
    return mean


def _largest_spread(X: Any, centre: Floats, taken: Floats) -> Floats:
    """Return the direction of largest spread, orthogonal to the given ones."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    def free(v: Floats) -> Floats:
        left: Floats = v - (taken @ v) @ taken
        return left

    def spread(v: Floats) -> Floats:
        u = free(v.ravel())
        projected = (X @ u - centre @ u) / scale
        return free(np.asarray(projected @ X) / scale - projected.sum() * (centre / scale))

    d = len(centre)
    start = free(np.random.default_rng(0).standard_normal(d))
    scale = max(float(np.abs(X @ start).max()), abs(float(centre @ start)))
    if d <= len(taken) + 1 or scale == 0:  # one direction is left, or the rows have no spread
        return _unit(start, taken)
    reached = spread(start)
    if np.linalg.norm(reached) <= SPREAD_TOLERANCE * X.shape[0]:
        return _unit(start, taken)
    unit = 1 / np.linalg.norm(reached)
    operator = LinearOperator((d, d), matvec=lambda v: spread(v) * unit, dtype=np.float64)
    _, vectors = eigsh(operator, k=1, v0=start, tol=1e-6)
    return _unit(free(vectors[:, 0]), taken)


def _unit(v: Floats, taken: Floats) -> Floats:
    """Return the unit vector orthogonal to the given ones, with its largest entry positive."""
    v = v / np.linalg.norm(v)
    v = v - (taken @ v) @ taken
    v /= np.linalg.norm(v)
    return v if v[np.argmax(np.abs(v))] > 0 else -v


def _spread_label(direction: Floats, names: Sequence[str] | None, step: int) -> str:
    from separable.model.words import feature_name
    from separable.plot.style.theme import shortened

    label = "along the boundary" if step == 1 else "second direction along the boundary"
    most = int(np.argmax(np.abs(direction)))
    if float(direction[most] ** 2) < MIN_LOADING:
        return f"{label}, where the rows vary most"
    return f"{label}, mostly {shortened(feature_name(names, most))}"


@dataclass(frozen=True, eq=False)
class Scene:
    """Rows in a plane, with scores at every point of it.

    Parameters
    ----------
    learner : str
    classes : ndarray
        The classes drawn: all, or the two requested.
    view : View
        The plane in the space of the columns.
    points : ndarray, shape (n, 2)
    score : callable
        Takes points (m, 2), returns scores (m, 1) for two classes, or (m, K).
    weights, intercept : ndarray, shape (k, 2) and (k,), or None
        Weights in the plane, if the score is linear.
    has_margins : bool
        Whether scores are those of ``decision_function``.
    """

    learner: str
    classes: NDArray[Any]
    view: View
    points: Floats
    score: Callable[[Floats], Floats]
    weights: Floats | None = None
    intercept: Floats | None = None
    has_margins: bool = True


def scene_of(estimator: Any, X: Any, pair: Sequence[Any] | None) -> Scene:
    """Return the plane in which the boundary of an estimator is drawn.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, sparse matrix or data frame, shape (n, d)
    pair : two classes, optional
        Only these two.
    """
    fitted = best_of(estimator)
    if is_pipeline(fitted):
        flat = _count_columns(X) != 2 and not _is_curved(fitted[-1])
        return _last_step_scene(fitted, X, pair) if flat else _curved_scene(fitted, X, pair)
    if _is_curved(fitted):
        return _curved_scene(fitted, X, pair)
    model = _classifier(fitted)
    if isinstance(model.encoder, PolynomialEncoder) and model.encoder.n_features_in_ == 2:
        return _curved_scene(model, X, pair)
    return _linear_scene(model, X, pair)


def _classifier(fitted: Any) -> LinearModel:
    model = linear_model(fitted)
    if model.classes is None:
        raise ValueError(
            f"{model.learner} predicts numbers, which have no boundary between classes. Use a "
            "classifier."
        )
    return model


def _is_curved(fitted: Any) -> bool:
    """Return whether an estimator has no linear model."""
    if isinstance(fitted, LinearModel):
        return False
    own = getattr(fitted, "model_", None)
    if own is not None:
        return not isinstance(own, LinearModel)
    linear = hasattr(fitted, "coef_") and not has_weights_of_pairs(fitted)
    return not linear and hasattr(fitted, "classes_")


def pair_of(classes: NDArray[Any], pair: Sequence[Any] | None) -> tuple[int, int] | None:
    """Return the indices of the two requested classes, or None for all."""
    if pair is None:
        return None
    known: list[Any] = classes.tolist()
    wanted = [label_value(label) for label in pair]
    strange = [label for label in wanted if label not in known]
    if len(wanted) != 2 or len(set(wanted)) != 2 or strange:
        shown = ", ".join(map(repr, known[:8])) + ", ..." * (len(known) > 8)
        raise ValueError(f"classes must be two classes of the model, out of {shown}. Got {pair!r}.")
    return known.index(wanted[0]), known.index(wanted[1])


# ---------------------------------------------------------------------- linear models


def _linear_scene(model: LinearModel, X: Any, pair: Sequence[Any] | None) -> Scene:
    assert model.classes is not None
    matrix = model_rows(model, X).to_matrix()
    weights, intercept, classes = scores_of_pair(model, pair)
    if not np.any(weights if len(weights) == 1 else weights - weights[0]):
        raise ValueError(
            f"All weights of this {model.learner} model are 0: every row gets the same class, and "
            "there is no boundary to draw."
        )
    view = _view_of(model, X, matrix, weights, intercept)
    points = view.coordinates(matrix)
    if model.n_features > 2 and len(weights) == 1:  # the first coordinate is the score over |w|
        flat, level = np.array([[length(weights[0]), 0.0]]), np.zeros(1)
    else:
        flat = weights @ np.linalg.pinv(view.basis)
        level = weights @ view.centre + intercept - flat @ view.coordinates(view.centre[None])[0]
    if model.n_features == 1:
        points[:, 1] = np.arange(len(points))

    def score(z: Floats) -> Floats:
        result: Floats = z @ flat.T + level
        return result

    return Scene(model.learner, classes, view, points, score, flat, level)


def _last_step_scene(pipeline: Any, X: Any, pair: Sequence[Any] | None) -> Scene:
    """Return the scene of a pipeline's last step, in the space of its input columns."""
    scene = _linear_scene(_classifier(pipeline), pipeline[:-1].transform(X), pair)
    distance, *rest = scene.view.labels
    before = name_of(pipeline[:-1])
    view = replace(scene.view, labels=(f"{distance}, after {before}", *rest))
    return replace(scene, learner=name_of(pipeline), view=view)


def scores_of_pair(
    model: LinearModel, pair: Sequence[Any] | None
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return weights, intercepts and classes of the scores that are drawn."""
    assert model.classes is not None
    result = pair_of(model.classes, pair)
    if len(model.classes) < 2:
        raise ValueError(
            f"The model knows one class, {model.classes.tolist()[0]!r}, and has no boundary. Train "
            "it on rows of at least two."
        )
    if result is None or len(model.classes) == 2:
        sign = -1.0 if result == (1, 0) else 1.0
        classes = model.classes[::-1] if sign < 0 else model.classes
        return sign * model.weights, sign * model.intercept, classes
    a, b = result
    step = model.weights[b] - model.weights[a], model.intercept[b] - model.intercept[a]
    return step[0][None], np.array([step[1]]), model.classes[[a, b]]


def _view_of(model: LinearModel, X: Any, matrix: Any, weights: Floats, intercept: Floats) -> View:
    d = model.n_features
    if d == 1:
        label = (names_of_columns(X, model, 1)[0], "row number")
        return View(np.array([[1.0], [0.0]]), np.zeros(2), np.zeros(1), label)
    if d == 2:
        return columns_view(names_of_columns(X, model, 2))
    if len(weights) == 1:
        return normal_view(matrix, weights[0], float(intercept[0]), model.feature_names)
    if len(weights) == 3:
        return differences_view(matrix, weights)
    raise ValueError(
        f"{len(weights)} classes of {d} features do not fit into one plane. Name two of them, for "
        f"example classes={tuple(model.classes[:2].tolist())!r}."  # type: ignore[index]
    )


# ---------------------------------------------------------------------- all others


def _curved_scene(fitted: Any, X: Any, pair: Sequence[Any] | None) -> Scene:
    """Return the plane of two columns, for any kind of score."""
    name = name_of(fitted)
    if hasattr(fitted, "fit"):
        check_is_fitted(fitted)
    rows = as_rows(X)
    if rows.n_features != 2:
        raise ValueError(
            f"The boundary of {name} is not flat, so it is drawn in the plane of two columns, and "
            f"X has {rows.n_features}. Fit it to two columns, or use a linear model, whose "
            "boundary is drawn with any number of them."
        )
    if rows.is_sparse:
        raise ValueError("X is sparse. Two columns are drawn from a dense array or a data frame.")
    classes: Any = fitted.classes if isinstance(fitted, LinearModel) else fitted.classes_
    result = pair_of(classes, pair)
    names = names_of_columns(X, fitted, 2)
    ask, has_margins = _scores_by(fitted, name)

    def score(z: Floats) -> Floats:
        scores = np.asarray(ask(like_given(X, z, names)), dtype=np.float64)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if result is None:
            return scores
        if scores.shape[1] == 1:
            return scores if result == (0, 1) else -scores
        step: Floats = scores[:, [result[1]]] - scores[:, [result[0]]]
        return step

    shown = classes if result is None else classes[list(result)]
    points = np.asarray(rows.values, dtype=np.float64)
    view = columns_view(names)
    return Scene(name, shown, view, points, score, has_margins=has_margins)


def _scores_by(fitted: Any, name: str) -> tuple[Callable[[Any], Any], bool]:
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function, True
    if hasattr(fitted, "predict_proba"):
        return lambda X: _log_odds(np.asarray(fitted.predict_proba(X))), False
    raise TypeError(f"{name} has neither decision_function nor predict_proba to draw.")


def _count_columns(X: Any) -> int | None:
    """Return the number of columns; None for texts and other rows without numeric columns."""
    shape = getattr(X, "shape", None) or np.shape(X)
    return int(shape[1]) if len(shape) == 2 else None


def _log_odds(probabilities: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs: Floats = np.clip(np.log(probabilities), -700.0, 0.0)
    return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs
