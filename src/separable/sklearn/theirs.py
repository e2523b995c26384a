"""Every name of scikit-learn that the faces use, its private helpers included.

They are of type Any: the type stubs of scikit-learn's classes lack their parameters.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "VERSION",
    "ConvergenceWarning",
    "GridSearchCV",
    "aligned",
    "check_array",
    "check_classification_targets",
    "check_consistent_length",
    "check_cv",
    "check_gcv_mode",
    "check_is_fitted",
    "check_liblinear_options",
    "check_logistic_solver",
    "check_non_negative",
    "check_partial_fit_first_call",
    "check_sample_weight",
    "check_scalar",
    "column_or_1d",
    "compute_class_weight",
    "discriminant_analysis",
    "feature_extraction",
    "feature_text",
    "linear_model",
    "naive_bayes",
    "output_config",
    "preprocessing",
    "reported_fit",
    "resolve_dual",
    "routed_to_scorer",
    "routing_enabled",
    "scorer_of_classes",
    "split_parameters",
    "svm",
    "validate_data",
]

#: Version of scikit-learn, to warn of what it has deprecated since.
VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

linear_model: Any = import_module("sklearn.linear_model")
svm: Any = import_module("sklearn.svm")
discriminant_analysis: Any = import_module("sklearn.discriminant_analysis")
naive_bayes: Any = import_module("sklearn.naive_bayes")
feature_extraction: Any = import_module("sklearn.feature_extraction")
feature_text: Any = import_module("sklearn.feature_extraction.text")
preprocessing: Any = import_module("sklearn.preprocessing")

_validation: Any = import_module("sklearn.utils.validation")
check_array = _validation.check_array
check_is_fitted = _validation.check_is_fitted
check_consistent_length = _validation.check_consistent_length
check_non_negative = _validation.check_non_negative
check_sample_weight = _validation._check_sample_weight
check_scalar = _validation.check_scalar
column_or_1d = _validation.column_or_1d


def validate_data(estimator: Any, X: Any, *args: Any, **options: Any) -> Any:
    """Check rows and targets as scikit-learn does; refuse arrays of another library than NumPy."""
    refuse_other_arrays(estimator, X)
    return _validation.validate_data(estimator, X, *args, **options)


def refuse_other_arrays(estimator: Any, X: Any) -> None:
    """Refuse arrays of another library than NumPy, if scikit-learn is set to compute with it."""
    if not sklearn.get_config().get("array_api_dispatch"):
        return
    library = getattr(X, "__array_namespace__", lambda: np)()
    if library is not np:
        raise TypeError(
            f"separable.sklearn.{type(estimator).__name__} computes with NumPy, and X is an array "
            f"of {library.__name__}. Convert it by numpy.asarray(X), or leave array_api_dispatch "
            "at False."
        )


ConvergenceWarning: Any = import_module("sklearn.exceptions").ConvergenceWarning
_multiclass: Any = import_module("sklearn.utils.multiclass")
check_classification_targets = _multiclass.check_classification_targets
check_partial_fit_first_call = _multiclass._check_partial_fit_first_call
_class_weight: Any = import_module("sklearn.utils.class_weight")
compute_class_weight = _class_weight.compute_class_weight
_model_selection: Any = import_module("sklearn.model_selection")
GridSearchCV = _model_selection.GridSearchCV
check_cv = _model_selection.check_cv
_metrics: Any = import_module("sklearn.metrics")

# Which combinations of solver, penalty, loss and dual scikit-learn accepts.
_logistic: Any = import_module("sklearn.linear_model._logistic")
check_logistic_solver = _logistic._check_solver
_ridge: Any = import_module("sklearn.linear_model._ridge")
check_gcv_mode = _ridge._check_gcv_mode
_svm_classes: Any = import_module("sklearn.svm._classes")
resolve_dual = _svm_classes._validate_dual_parameter
_svm_base: Any = import_module("sklearn.svm._base")
check_liblinear_options = _svm_base._get_liblinear_solver_type

_requests: Any = import_module("sklearn.utils._metadata_requests")

routing_enabled = _requests._routing_enabled


output_config: Any = import_module("sklearn.utils._set_output")._get_output_config


def aligned(X: Any) -> Any:
    """Return X, a sparse one as the class that scikit-learn's transformers return."""
    if not sparse.issparse(X):
        return X
    align = getattr(import_module("sklearn.utils"), "_align_api_if_sparse", None)
    matrix: Any = X
    return sparse.csr_matrix(matrix) if align is None else align(matrix)


@contextmanager
def reported_fit(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[None]:
    """Call the callbacks of scikit-learn 1.9 when a fit begins and ends."""
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    support: Any = import_module("sklearn.callback._callback_support")
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    data = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
    with support.callback_management_context(estimator):
        context = estimator._init_callback_context()
        context.call_on_fit_task_begin(**data)
        yield
        context.call_on_fit_task_end(**data, reconstruction_attributes={})


def split_parameters(owner: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return what metadata routing passes to the splitter of a search."""
    _requests._raise_for_params(params, owner, "fit")
    if not routing_enabled():
        return {}
    routed: dict[str, Any] = _requests.process_routing(owner, "fit", **params).splitter.split
    return routed


def routed_to_scorer(owner: Any, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return what metadata routing, or scikit-learn without it, passes to a scorer."""
    if sample_weight is not None:
        params = params | {"sample_weight": sample_weight}
    if not routing_enabled():
        return {"sample_weight": sample_weight} if sample_weight is not None else {}
    routed: dict[str, Any] = _requests.process_routing(owner, "fit", **params).scorer.score
    return routed


def scorer_of_classes(scoring: Any, classes: Any) -> Any:
    """Return the scorer, with the classes if it takes them: a test fold may lack one."""
    scorer: Any = _metrics.get_scorer(scoring)
    known = signature(scorer._score_func).parameters if hasattr(scorer, "_score_func") else {}
    if "labels" not in known:
        return scorer
    options = {"labels": classes}
    if len(classes) == 2 and "pos_label" in known:
        options["pos_label"] = classes[-1]
    return _metrics.make_scorer(
        scorer._score_func,
        greater_is_better=scorer._sign == 1,
        response_method=scorer._response_method,
        **(options | scorer._kwargs),
    )
