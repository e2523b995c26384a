"""Weights, intercept and classes under scikit-learn's names: views of the model that can be set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from separable.estimator import Estimator, available_if, is_classifier, sparse_result
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.linear_model import Family, Link

__all__ = ["ModelAttributes", "changed_model_error", "shape_of"]


def changed_model_error(name: str) -> AttributeError:
    """Return the error for evidence of a fit whose model was changed."""
    return AttributeError(
        f"There is no {name}: coef_, intercept_ or classes_ were set, and it was evidence about "
        "the model that was fitted. Call fit."
    )


def shape_of(y: Any) -> tuple[int, ...]:
    """Return the shape of a target, which may be a list or a frame."""
    return y.shape if hasattr(y, "shape") else np.shape(y)


def _may_be_sparse(learner: Any) -> bool:
    """Return whether weights may be 0: those of counts are logarithms of frequencies."""
    return not learner.positive_only


class ModelAttributes(Estimator):
    """``coef_``, ``intercept_`` and ``classes_``: views of the model in scikit-learn's shapes.

    Setting one of them makes a new model, without evidence. A learner that is not fitted has a
    model as soon as ``coef_`` and, of a classifier, ``classes_`` are set.

    Attributes
    ----------
    coef_ : ndarray of shape (k, d), or (d,) in regression with one target
    intercept_ : ndarray of shape (k,), or a float in regression with one target
    """

    #: The family of the model of a learner that was never fitted.
    _family: ClassVar[Family]
    #: What a target of shape (n, 1) gives, as in scikit-learn: the same as one of shape (n,), also
    #: an intercept of shape (1,), or also weights of shape (1, d) and predictions of shape (n, 1).
    _column_target: ClassVar[Literal["flat", "intercept", "all"]] = "flat"

    n_features_in_: int
    _model: LinearModel | None
    #: Whether the target was of shape (n, 1), and the shape of the attributes tells.
    _is_column = False
    #: Whether ``coef_`` is a sparse matrix.
    _is_sparsified = False
    #: What was set and does not make a model yet.
    _pending: dict[str, Any] | None = None

    def _weights_only(self) -> LinearModel:
        """Return the model as predicting needs it; its training state may not be copied yet."""
        raise NotImplementedError

    @property
    def positive_only(self) -> bool:
        """Whether the learner takes counts: no value of X may be negative."""
        return False

    def _link(self) -> Link:
        """Return what a score means."""
        raise NotImplementedError

    def _threshold(self) -> float | None:
        """Return the threshold above which values count as 1; None: values are used unchanged."""
        return None

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as a model file can keep them."""
        raise NotImplementedError

    def _take_model(self, model: LinearModel) -> None:
        """Keep a model that was set, and forget what belongs to the last fit."""
        raise NotImplementedError

    def _note_target(self, y: Any) -> None:
        """Keep whether y was a column, where the shape of the attributes tells."""
        if self._column_target == "flat" or (type(y) is np.ndarray and y.ndim == 1):
            return
        shape = shape_of(y)
        self._is_column = len(shape) == 2 and shape[1] == 1

    @property
    def _has_column_shape(self) -> bool:
        """Whether weights are of shape (1, d), and predictions of shape (n, 1)."""
        return self._is_column and self._column_target == "all"

    # ------------------------------------------------------------------ views

    @property
    def coef_(self) -> Any:
        """Weights, (k, d): one row for two classes, else one a class; (d,) in regression."""
        if self._pending is not None and "coef_" in self._pending:
            return self._pending["coef_"]
        model = self._weights_only()
        is_vector = model.classes is None and len(model.weights) == 1
        weights = model.weights[0] if is_vector and not self._has_column_shape else model.weights
        return sparse_result(np.atleast_2d(weights)) if self._is_sparsified else weights

    @coef_.setter
    def coef_(self, value: Any) -> None:
        dense = value.toarray() if hasattr(value, "toarray") else value
        self._set_part("coef_", np.array(dense, dtype=np.float64))

    @property
    def intercept_(self) -> Any:
        """Intercepts, (k,); a float in regression with one target."""
        if self._pending is not None and "intercept_" in self._pending:
            return self._pending["intercept_"]
        model = self._weights_only()
        is_number = model.classes is None and len(model.weights) == 1 and not self._is_column
        return model.intercept[0] if is_number else model.intercept

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._set_part("intercept_", np.atleast_1d(np.array(value, dtype=np.float64)))

    @property
    def classes_(self) -> Any:
        """The classes, sorted; of classifiers only."""
        if not is_classifier(self):
            raise AttributeError(f"{type(self).__name__} predicts numbers and has no classes_.")
        if self._pending is not None and "classes_" in self._pending:
            return self._pending["classes_"]
        return self._weights_only().classes

    @classes_.setter
    def classes_(self, value: Any) -> None:
        if not is_classifier(self):
            raise AttributeError(f"{type(self).__name__} predicts numbers and has no classes_.")
        self._set_part("classes_", np.array(value))

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a sparse matrix, (k, d)."""
        return sparse_result(self._weights_only().weights)

    @available_if(_may_be_sparse)
    def sparsify(self: Any) -> Any:
        """Show ``coef_`` as a sparse matrix; the model and its predictions stay as they are."""
        self._weights_only()
        self._is_sparsified = True
        return self

    @available_if(_may_be_sparse)
    def densify(self: Any) -> Any:
        """Show ``coef_`` as an array again."""
        self._weights_only()
        self._is_sparsified = False
        return self

    # ------------------------------------------------------------------ setting

    def _forget_changes(self) -> None:
        """Forget what was set, before a new fit is kept."""
        for name in ("_pending", "_is_sparsified", "_is_column"):
            self.__dict__.pop(name, None)

    def _set_part(self, name: str, value: NDArray[Any]) -> None:
        parts = {**(self._pending or {}), name: value}
        current = self._weights_only() if self.__sklearn_is_fitted__() else None
        made = self._model_of(parts, current)
        self._pending = parts if made is None else None
        if made is not None:
            if current is None or made.n_features != current.n_features:
                self.__dict__.pop("feature_names_in_", None)
                self._column_names: Any = None
                self._encoder: Any = None
                self.n_features_in_ = made.n_features
            self._take_model(made)

    def _model_of(self, parts: dict[str, Any], current: LinearModel | None) -> LinearModel | None:
        """Return the model of what was set and what there was; None if they make none yet."""
        if current is not None:
            known = {"coef_": current.weights, "intercept_": current.intercept}
            parts = {**known, "classes_": current.classes, **parts}
        weights, classes = parts.get("coef_"), parts.get("classes_")
        if weights is None or (classes is None and is_classifier(self)):
            return None
        weights = np.atleast_2d(weights)
        k = 1 if classes is not None and len(classes) == 2 else len(weights)
        intercept = parts.get("intercept_", np.zeros(k))
        intercept = np.repeat(intercept, k) if len(intercept) == 1 else intercept
        if not len(weights) == len(intercept) == (k if classes is None or k == 1 else len(classes)):
            return None
        made: dict[str, Any] = {"weights": weights, "intercept": intercept, "classes": classes}
        if current is None:
            return LinearModel(
                **made,
                link=self._link(),
                learner=type(self).__name__,
                parameters=self._plain_parameters(),
                family=self._family,
                threshold=self._threshold(),
            )
        if current.n_features != weights.shape[1]:
            made |= {"feature_names": None, "encoder": None}
        made |= {"evidence": {}, "state": None, "column_statistics": (), "self_test": None}
        if len(weights) != current.n_scores:
            made |= {"calibration": None, "decision": None}
        return replace(current, **made)

    def _refuse_pending(self) -> None:
        """Refuse to predict while what was set does not make a model."""
        if self._pending is not None:
            shapes = ", ".join(f"{name} {value.shape}" for name, value in self._pending.items())
            raise ValueError(
                f"{type(self).__name__} cannot predict: {shapes} was set and does not fit the "
                "rest of the model. Set coef_, intercept_ and classes_ with one row for two "
                "classes, else one for each class."
            )
