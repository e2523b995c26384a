"""What the faces share: parameters, rows, weights, and the learner behind a face.

A face is a subclass of scikit-learn's class: it has its signature, defaults, tags, metadata routing
and prediction from ``coef_`` and ``intercept_``, and ``isinstance`` holds. Its ``fit`` validates as
scikit-learn does, calls a learner of separable and publishes the result in scikit-learn's shapes.
scikit-learn's own ``fit`` is never called.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separable.accepted_parameters import note
from separable.estimator import not_fitted_error
from separable.sklearn.theirs import check_sample_weight, compute_class_weight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = [
    "Face",
    "Several",
    "class_weights",
    "gap_tolerance",
    "quiet",
    "weight_of_each_class",
    "weights_of",
    "with_constant",
    "with_every_class",
]

#: Up to this size, rows times columns, fits are solved to rounding.
SMALL = 20_000
#: tol of scikit-learn's solvers by default; a smaller one asks for more digits.
DEFAULT_TOL, SMALLEST_GAP = 1e-4, 1e-10
#: Weight, over the largest, of a row that keeps a class whose rows all have weight 0.
ALMOST_NOTHING = 1e-9


class Face:
    """Mixin of the faces: the fitted learner, and notes about parameters that choose a solver."""

    #: Parameters that choose how to solve, not what: accepted, with one note each.
    _solver_parameters: tuple[str, ...] = ()

    learner_: Any

    def _start(self) -> None:
        """Check the parameters as scikit-learn does, and note those that have no effect here."""
        self._validate_params()  # type: ignore[attr-defined]
        kind = type(self)
        for name in self._solver_parameters:
            default = kind._parameter_default(name)
            value = getattr(self, name, default)
            same = value is default or (np.ndim(value) == 0 and value == default)
            if not same:
                note(self, name, value)

    @classmethod
    def _parameter_default(cls, name: str) -> Any:
        signature: Any = cls._get_init_signature() if hasattr(cls, "_get_init_signature") else None
        if signature is None:
            import inspect

            signature = inspect.signature(cls)
        parameter = signature.parameters.get(name)
        return None if parameter is None else parameter.default

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # a mixin stands before the class
        tags.array_api_support = False
        return tags

    def _refuse(self, what: str, remedy: str) -> None:
        raise NotImplementedError(
            f"separable.sklearn.{type(self).__name__} does not have {what}. {remedy}"
        )

    def _publish(self, learner: Any, coef: Any, intercept: Any, dtype: Any) -> None:
        """Set the weights in scikit-learn's shapes and in the type of X."""
        self.learner_ = learner
        self.coef_ = np.array(coef, dtype=dtype)
        if np.ndim(intercept) == 0:
            exact = type(intercept) is float
            self.intercept_ = intercept if exact else np.dtype(dtype).type(intercept)
        else:
            self.intercept_ = np.array(intercept, dtype=dtype)

    @property
    def model_(self) -> LinearModel:
        """The ``LinearModel``; one without evidence if ``coef_`` or ``intercept_`` was set."""
        learner = self.__dict__.get("learner_")
        if learner is None:
            raise not_fitted_error(self)
        model: LinearModel = learner.model_
        coef: Any = self.coef_
        if hasattr(coef, "toarray"):  # after sparsify
            coef = coef.toarray()
        weights = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        intercept = np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        intercept = np.broadcast_to(intercept, len(weights))
        if _same(model.weights, weights) and _same(model.intercept, intercept):
            return model
        return replace(model, weights=weights, intercept=intercept, evidence={})

    @property
    def certificate_(self) -> Any:
        """Certificate of the learner: the duality gap of its weights."""
        return self.learner_.certificate_


class Several:
    """Learners of several targets, or of each class against the rest.

    Parameters
    ----------
    learners : list
    classes : ndarray or None
    """

    def __init__(self, learners: list[Any], classes: Any = None) -> None:
        self.learners, self.classes_ = learners, classes

    @property
    def coef_(self) -> Floats:
        """The weights, one row for each learner."""
        return self.model_.weights

    @property
    def intercept_(self) -> Floats:
        """The intercepts, one for each learner."""
        return self.model_.intercept

    @property
    def n_iter_(self) -> int:
        """The most passes of any learner."""
        return int(max(np.max(getattr(each, "n_iter_", 1)) for each in self.learners))

    @property
    def certificate_(self) -> Any:
        """The certificate of all learners together."""
        certificates = [each.certificate_ for each in self.learners]
        return sum(certificates[1:], certificates[0])

    @property
    def model_(self) -> LinearModel:
        """The model of all targets or classes."""
        models = [each.model_ for each in self.learners]
        weights = np.vstack([each.weights for each in models])
        intercept = np.concatenate([each.intercept for each in models])
        changed = {"weights": weights, "intercept": intercept, "classes": self.classes_}
        model: LinearModel = replace(models[0], **changed, evidence={})
        return model


def _same(ours: Floats, published: Floats) -> bool:
    """Return whether published numbers are ours, perhaps rounded to float32."""
    return ours.shape == published.shape and np.allclose(ours, published, rtol=1e-6, atol=0)


def gap_tolerance(tol: float | None, X: Any) -> float | None:
    """Return the relative duality gap for a ``tol`` of scikit-learn; None is our default."""
    if tol is None or tol >= DEFAULT_TOL or X.shape[0] * X.shape[1] <= SMALL:
        return None
    return max(tol / 100, SMALLEST_GAP)


def weights_of(sample_weight: Any, X: Any) -> Floats | None:
    """Return the sample weights as float64; None if there are none or all equal 1."""
    if sample_weight is None:
        return None
    weight: Floats = check_sample_weight(sample_weight, X, dtype=np.float64)
    return weight


def class_weights(
    class_weight: Any, classes: Any, y: Any, sample_weight: Floats | None
) -> Floats | None:
    """Return the sample weights times those of the classes, as scikit-learn counts them."""
    if class_weight is None or (isinstance(class_weight, dict) and not class_weight):
        return sample_weight
    per_class = weight_of_each_class(class_weight, classes, y, sample_weight)
    weight: Floats = per_class[np.searchsorted(classes, y)]
    return weight if sample_weight is None else weight * sample_weight


def weight_of_each_class(
    class_weight: Any, classes: Any, y: Any, sample_weight: Floats | None
) -> Floats:
    """Return one weight a class, as scikit-learn computes them."""
    try:
        per_class = compute_class_weight(
            class_weight, classes=classes, y=y, sample_weight=sample_weight
        )
    except TypeError:  # before scikit-learn 1.7
        per_class = compute_class_weight(class_weight, classes=classes, y=y)
    return np.asarray(per_class, dtype=np.float64)


def with_every_class(y: Any, weight: Floats | None) -> Floats | None:
    """Return the weights, almost 0 instead of 0 for one row of a class whose weights are all 0.

    Our learners drop rows of weight 0; scikit-learn's models keep their classes.
    """
    if weight is None or weight.all():
        return weight
    weight = weight.copy()
    for label in np.setdiff1d(y, y[weight != 0]):
        weight[np.flatnonzero(y == label)[0]] = ALMOST_NOTHING * weight.max()
    return weight


def with_constant(X: Any, value: float) -> Any:
    """Return X with one more column of a constant, whose weight is a penalized intercept."""
    column = np.full((X.shape[0], 1), value, dtype=X.dtype)
    if sparse.issparse(X):
        blocks: Any = [X, sparse.csr_array(column)]
        return sparse.hstack(blocks, format="csr")
    return np.hstack([X, column])


@contextmanager
def quiet(*categories: type[Warning]) -> Iterator[None]:
    """Hide warnings that scikit-learn's class does not have."""
    with warnings.catch_warnings():
        for category in categories:
            warnings.simplefilter("ignore", category)
        yield
