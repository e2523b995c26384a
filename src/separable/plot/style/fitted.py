"""Parts of a fitted estimator that are drawn: linear model, classes, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import column_names, is_scipy_sparse
from separable.estimator import check_is_fitted
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "best_of",
    "class_codes",
    "has_weights_of_pairs",
    "is_pipeline",
    "like_given",
    "linear_model",
    "name_of",
    "names_of_columns",
]


def best_of(estimator: Any) -> Any:
    """Return the best estimator of a search, or the estimator itself."""
    return getattr(estimator, "best_estimator_", estimator)


def is_pipeline(estimator: Any) -> bool:
    """Return whether an estimator is a pipeline."""
    return hasattr(estimator, "steps") and hasattr(estimator, "__getitem__")


def name_of(estimator: Any) -> str:
    """Return the name of an estimator for titles: its class, or its steps."""
    if isinstance(estimator, LinearModel):
        return estimator.learner
    steps = getattr(estimator, "steps", None) or [("", estimator)]
    return " + ".join(type(step).__name__ for _, step in steps)


def linear_model(estimator: Any) -> LinearModel:
    """Return the linear model of a fitted estimator.

    Parameters
    ----------
    estimator : LinearModel, learner, search, or fitted linear estimator of scikit-learn
        For a pipeline the last step, with the names of its input columns.
    """
    fitted = best_of(estimator)
    if isinstance(fitted, LinearModel):
        return fitted
    if is_pipeline(fitted):
        return _with_names(linear_model(fitted[-1]), _names_before_last(fitted))
    own = getattr(fitted, "model_", None)
    if isinstance(own, LinearModel):
        return own
    if own is None and hasattr(fitted, "fit"):
        check_is_fitted(fitted)
    if own is not None or getattr(fitted, "coef_", None) is None or has_weights_of_pairs(fitted):
        pairs = ", but some for each pair of classes" * has_weights_of_pairs(fitted)
        raise TypeError(
            f"{type(fitted).__name__} has no weights of one linear model{pairs}. Pass a fitted "
            "linear learner, for example LinearSVM().fit(X, y), or a LinearModel."
        )
    return _from_arrays(fitted)


def has_weights_of_pairs(fitted: Any) -> bool:
    """Return whether weights are one-vs-one, as in scikit-learn's SVC."""
    return hasattr(fitted, "n_support_") and len(getattr(fitted, "classes_", ())) > 2


def _from_arrays(fitted: Any) -> LinearModel:
    """Return the model of scikit-learn's arrays."""
    coef: Any = fitted.coef_
    if is_scipy_sparse(coef):
        coef = coef.toarray()  # weights, not data
    weights = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(fitted.intercept_, dtype=np.float64), len(weights))
    classes = getattr(fitted, "classes_", None)
    names = getattr(fitted, "feature_names_in_", None)
    return LinearModel(
        weights,
        intercept,
        classes,
        "identity" if classes is None else "score",
        None if names is None else [str(name) for name in names],
        learner=type(fitted).__name__,
    )


def _names_before_last(pipeline: Any) -> Sequence[str] | None:
    """Return the names of the output columns before the last step, if known."""
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out()]
    except (AttributeError, ValueError, TypeError):
        return None


def _with_names(model: LinearModel, names: Sequence[str] | None) -> LinearModel:
    if names is None or model.feature_names is not None or len(names) != model.n_features:
        return model
    return LinearModel(
        model.weights, model.intercept, model.classes, model.link, names, learner=model.learner
    )


def class_codes(y: Any, n_rows: int, classes: NDArray[Any], owner: str) -> NDArray[np.int32]:
    """Return the index of each row's label in the classes; refuse unknown labels."""
    from separable.fitting.targets import check_labels, find_classes

    labels = check_labels(y, n_rows, owner)
    known = check_labels(classes, len(classes), owner)  # scikit-learn's may be texts as objects
    codes = find_classes(labels, known)
    if (codes < 0).any():
        label = labels[int(np.argmin(codes))].tolist()
        raise ValueError(
            f"y holds {label!r}, which is not a class of the model. There are: "
            f"{', '.join(map(repr, classes[:8].tolist()))}{', ...' * (len(classes) > 8)}."
        )
    return codes


def names_of_columns(X: Any, model: Any, count: int) -> list[str]:
    """Return the names of columns: of X, otherwise of the model, otherwise x0, x1, ..."""
    result = column_names(X)
    if result is None or len(result) != count:
        result = getattr(model, "feature_names", None)
    if result is None or len(result) != count:
        names = getattr(model, "feature_names_in_", None)
        result = None if names is None else tuple(map(str, names))
    if result is None or len(result) != count:
        return [f"x{k}" for k in range(count)]
    return [str(name) for name in result]


def like_given(X: Any, points: NDArray[np.float64], names: Sequence[str]) -> Any:
    """Return points in the type of X: a data frame with the same names, or an array."""
    if not hasattr(X, "columns"):
        return points
    columns = dict(zip(names, points.T, strict=True))
    made = getattr(type(X), "from_pydict", type(X))
    return made(columns)
