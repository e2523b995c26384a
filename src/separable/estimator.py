"""scikit-learn's estimator protocol, without importing scikit-learn.

Importing scikit-learn takes longer than training on a small table. Learners and encoders follow
its protocol by name: parameters, tags, clones, metadata routing, representations. They import it
only where it is needed, which is where the caller has imported it already.
"""

from __future__ import annotations

import copy
import inspect
import sys
from functools import cache
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from separable.accepted_parameters import set_accepted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = [
    "Estimator",
    "available_if",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "convergence_warning",
    "is_classifier",
    "is_pipeline",
    "is_regressor",
    "not_fitted_error",
    "sparse_result",
]

#: The score of each kind of learner.
METRICS = {"classifier": "accuracy_score", "regressor": "r2_score"}
#: Methods of scikit-learn's metadata routing, such as ``set_fit_request``.
ROUTED_METHODS = ("fit", "partial_fit", "predict", "score")


# ---------------------------------------------------------------------- warnings and errors


class ConvergenceWarning(UserWarning):
    """Warning about an unconverged fit if scikit-learn, which defines it, is not imported."""


class NotFittedError(ValueError, AttributeError):
    """Error of an unfitted estimator if scikit-learn, which defines it, is not imported.

    As an ``AttributeError`` it makes ``hasattr`` return False.
    """


def convergence_warning() -> type[UserWarning]:
    """Return scikit-learn's ``ConvergenceWarning`` if it is imported, else ours."""
    exceptions: Any = sys.modules.get("sklearn.exceptions")
    return ConvergenceWarning if exceptions is None else exceptions.ConvergenceWarning


def not_fitted_error(estimator: Any) -> Exception:
    """Return the error for use before ``fit``."""
    exceptions: Any = sys.modules.get("sklearn.exceptions")
    kind = NotFittedError if exceptions is None else exceptions.NotFittedError
    error: Exception = kind(f"This {type(estimator).__name__} is not fitted yet. Call fit first.")
    return error


def check_is_fitted(estimator: Any) -> None:
    """Raise ``NotFittedError`` unless the estimator is fitted."""
    if not isinstance(estimator, Estimator):
        import_module("sklearn.utils.validation").check_is_fitted(estimator)
    elif not estimator.__sklearn_is_fitted__():
        raise not_fitted_error(estimator)


# ---------------------------------------------------------------------- estimators


class _RequestMethod:
    """Descriptor of ``set_<method>_request``, which scikit-learn provides when it is read."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __get__(self, instance: Any, owner: type) -> Any:
        keys = _routed_parameters(owner, self.method)
        if not keys:
            raise AttributeError(f"{owner.__name__}.{self.method} takes no metadata.")
        requests = import_module("sklearn.utils._metadata_requests")
        return requests.RequestMethod(self.method, keys).__get__(instance, owner)


class _AvailableIf:
    """Descriptor of a method that exists if a check of the object is true."""

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], bool], name: str) -> None:
        self.method, self.check, self.name = method, check, name
        self.__doc__ = method.__doc__
        self.__name__ = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.method
        if not self.check(instance):
            raise AttributeError(f"This {type(instance).__name__!r} has no attribute {self.name!r}")
        return MethodType(self.method, instance)


def available_if(check: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a method that exists only if a check of the object is true.

    Parameters
    ----------
    check : callable
        Takes the object; returns whether it has the method, or raises ``AttributeError``.
    """

    def decorate(method: Callable[..., Any]) -> Any:
        return _AvailableIf(method, check, method.__name__)

    return decorate


class Estimator:
    """Base class of learners and encoders that are compatible with scikit-learn.

    A subclass stores its constructor arguments under their names.
    """

    #: "classifier", "regressor", or None: an encoder.
    _estimator_type: str | None = None
    #: Parameters of scikit-learn that are accepted; see `separable.accepted_parameters`.
    _accepted_parameters: ClassVar[tuple[str, ...]] = ()
    _accepted_notes: ClassVar[dict[str, str]] = {}

    set_fit_request = _RequestMethod("fit")
    set_partial_fit_request = _RequestMethod("partial_fit")
    set_predict_request = _RequestMethod("predict")
    set_score_request = _RequestMethod("score")

    # ------------------------------------------------------------------ parameters

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the constructor parameters, sorted."""
        return list(_parameter_names(cast("Any", cls)))

    def _given_accepted(self) -> dict[str, Any]:
        """Return the accepted parameters that were given."""
        own = vars(self)
        return {name: own[name] for name in self._accepted_parameters if name in own}

    def _apply_accepted(self, name: str, value: Any) -> bool:  # noqa: ARG002
        """Set what an accepted parameter means; return False for one that means nothing here."""
        return False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default True
            Also those of estimators among them, as ``name__parameter``.
        """
        params: dict[str, Any] = self._given_accepted()
        for name in self._get_param_names():
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                nested = value.get_params()
                params.update((f"{name}__{key}", item) for key, item in nested.items())
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``name__parameter`` sets one of a nested estimator."""
        known = self._get_param_names()
        accepted = self._given_accepted()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, is_nested, parameter = key.partition("__")
            if key in self._accepted_parameters:
                accepted[key] = value
                continue
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {known!r}."
                )
            if is_nested:
                nested.setdefault(name, {})[parameter] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            getattr(self, name).set_params(**values)
        set_accepted(self, accepted)
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted estimator of the same class with copies of the parameters."""
        params = {
            name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()
        }
        cloned = type(self)(**params)
        for name in ("_metadata_request", "_sklearn_output_config"):
            if name in vars(self):
                setattr(cloned, name, copy.deepcopy(getattr(self, name)))
        if "_skl_callbacks" in vars(self):  # scikit-learn shares callbacks between clones
            vars(cloned)["_skl_callbacks"] = vars(self)["_skl_callbacks"]
        return cloned

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` has been called."""
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    @available_if(lambda self: self._estimator_type in METRICS)
    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or the R2 of a regressor.

        Parameters
        ----------
        X : array-like
            Rows.
        y : array-like
            True classes, or values.
        sample_weight : array-like, optional
            Weights of the rows.
        """
        metric = getattr(import_module("sklearn.metrics"), METRICS[self._estimator_type])
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    # ------------------------------------------------------------------ representations

    def __repr__(self) -> str:
        defaults = _defaults(cast("Any", type(self)))
        given = (
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name not in defaults
            or type(value) is not type(defaults[name])
            or repr(value) != repr(defaults[name])
        )
        return f"{type(self).__name__}({', '.join(given)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002
        """Return what a notebook shows."""
        html = import_module("sklearn.utils").estimator_html_repr(self)
        return {"text/plain": repr(self), "text/html": html}

    # ------------------------------------------------------------------ tags and routing

    def __sklearn_tags__(self) -> Any:
        tags = import_module("sklearn.utils")  # called only by scikit-learn, so it is imported
        kind = self._estimator_type
        return tags.Tags(
            estimator_type=kind,
            target_tags=tags.TargetTags(required=kind is not None),
            transformer_tags=None,
            classifier_tags=tags.ClassifierTags() if kind == "classifier" else None,
            regressor_tags=tags.RegressorTags() if kind == "regressor" else None,
        )

    def get_metadata_routing(self) -> Any:
        """Return the metadata that the methods request, see scikit-learn's metadata routing."""
        return self._get_metadata_request()

    def _get_metadata_request(self) -> Any:
        requests = import_module("sklearn.utils._metadata_requests")
        if hasattr(self, "_metadata_request"):
            return requests.get_routing_for_object(self._metadata_request)
        request = requests.MetadataRequest(owner=self)
        for method in ROUTED_METHODS:
            for key in _routed_parameters(cast("Any", type(self)), method):
                getattr(request, method).add_request(param=key, alias=None)
        return request


# ---------------------------------------------------------------------- functions


def clone(estimator: Any, *, safe: bool = True) -> Any:
    """Return an unfitted estimator with the same parameters, as ``sklearn.base.clone`` does.

    Parameters
    ----------
    estimator : estimator
    safe : bool, default True
        Refuse what is no estimator; otherwise copy it.
    """
    if isinstance(estimator, Estimator):
        return estimator.__sklearn_clone__()
    if safe or (hasattr(estimator, "get_params") and not isinstance(estimator, type)):
        return import_module("sklearn.base").clone(estimator, safe=safe)
    return copy.deepcopy(estimator)


def is_classifier(estimator: Any) -> bool:
    """Return whether an estimator is a classifier, as ``sklearn.base.is_classifier`` does."""
    return _is_of_type(estimator, "classifier")


def is_regressor(estimator: Any) -> bool:
    """Return whether an estimator is a regressor, as ``sklearn.base.is_regressor`` does."""
    return _is_of_type(estimator, "regressor")


def _is_of_type(estimator: Any, kind: str) -> bool:
    if isinstance(estimator, Estimator):
        return estimator._estimator_type == kind
    return bool(getattr(import_module("sklearn.base"), f"is_{kind}")(estimator))


def is_pipeline(estimator: Any) -> bool:
    """Return whether an estimator is scikit-learn's ``Pipeline``."""
    pipeline: Any = sys.modules.get("sklearn.pipeline")
    return pipeline is not None and isinstance(estimator, pipeline.Pipeline)


def sparse_result(matrix: Any) -> Any:
    """Return a matrix in the sparse class that scikit-learn's transformers return.

    It is ``csr_matrix``, or ``csr_array`` with ``sklearn.set_config(sparse_interface="sparray")``.
    """
    sparse: Any = import_module("scipy.sparse")
    sklearn: Any = sys.modules.get("sklearn")  # can be set only after the import
    interface = None if sklearn is None else sklearn.get_config().get("sparse_interface")
    return (sparse.csr_array if interface == "sparray" else sparse.csr_matrix)(matrix)


def check_random_state(seed: Any) -> np.random.RandomState:
    """Return the generator of a seed, as ``sklearn.utils.check_random_state`` does."""
    if isinstance(seed, int | np.integer):
        return np.random.RandomState(int(seed))
    if isinstance(seed, np.random.RandomState):
        return seed
    if seed is None or seed is np.random:
        return np.random.mtrand._rand  # the global generator
    raise ValueError(
        f"{seed!r} cannot be used to seed a numpy.random.RandomState instance. Give None, an int "
        "or a RandomState."
    )


@cache
def _defaults(cls: Callable[..., Any]) -> dict[str, Any]:
    """Return the constructor parameters of a class with their defaults."""
    parameters = inspect.signature(cls).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


@cache
def _parameter_names(cls: type) -> tuple[str, ...]:
    return tuple(sorted(_defaults(cls)))


@cache
def _routed_parameters(cls: type, method: str) -> list[str]:
    """Return the parameters of a method that metadata routing may pass, sorted."""
    function = getattr(cls, method, None)
    is_there = method != "score" or getattr(cls, "_estimator_type", None) in METRICS
    if not inspect.isfunction(function) or not is_there:
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    names = (each.name for each in parameters if each.kind not in kinds)
    return sorted(name for name in names if name not in ("X", "y", "Y", "Xt", "yt"))
