"""scikit-learn's ``ElasticNet``, ``Lasso``, their ``*CV`` classes and paths over ours."""

from __future__ import annotations

import numbers
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.estimators.elastic_net import ElasticNet as Learner
from separable.fitting.best_candidate import GridEdgeWarning
from separable.moments.regression.ridge import Ridge
from separable.select.estimators.elastic_net_cv import ElasticNetCV as SearchLearner
from separable.select.regularization_path import path
from separable.sklearn.base import Face, gap_tolerance, quiet, weights_of
from separable.sklearn.theirs import (
    VERSION,
    check_array,
    check_consistent_length,
    check_cv,
    check_scalar,
    column_or_1d,
    linear_model,
    split_parameters,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

    from separable.typing import Floats

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "enet_path",
    "lasso_path",
]

MAX_ITER = 1000
#: The largest eps of a grid here; eps=1, a grid of equal alphas, is allowed in scikit-learn.
BELOW_ONE = float(np.nextafter(1, 0))
SOLVER_PARAMETERS = ("precompute", "copy_X", "warm_start", "random_state", "selection")


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = "warn",
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    **params: Any,
) -> Any:
    """Return alphas, weights (d, S), duality gaps and, if requested, passes along a path.

    As in scikit-learn there is no intercept: centre X and y first. ``precompute``, ``Xy``,
    ``coef_init`` and ``selection`` choose how the path is computed, which the data decide here.
    """
    del precompute, Xy, copy_X, coef_init, verbose
    if unknown := set(params) - {"tol", "max_iter", "random_state", "selection", "sample_weight"}:
        raise ValueError(f"Unexpected parameters in params {sorted(unknown)}")
    if check_input:
        types = [np.float64, np.float32]
        X = check_array(X, accept_sparse="csc", dtype=types, accept_large_sparse=False)
        y = check_array(y, dtype=X.dtype.type, ensure_2d=False)
    if y.ndim == 2 and y.shape[1] > 1:
        raise NotImplementedError(
            "separable.sklearn.enet_path has one target, and y has several: the multi-task path "
            "couples them. Call it once for each target, or use scikit-learn's."
        )
    check_consistent_length(X, y)
    y = np.ravel(y)
    alphas = _requested_alphas(alphas, n_alphas)
    if isinstance(alphas, numbers.Integral):
        alphas = _grid(X, y, l1_ratio, eps, int(alphas), positive=positive)
    tried = np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
    if not tried.all():
        raise NotImplementedError("separable.sklearn.enet_path needs alphas above 0.")
    learner = Learner(
        l1_ratio=float(l1_ratio),
        fit_intercept=False,
        positive=positive,
        tol=gap_tolerance(params.get("tol"), X),
        max_iter=max(MAX_ITER, params.get("max_iter", MAX_ITER)),
    )
    fitted = path(learner, X, y, alphas=tried, sample_weight=params.get("sample_weight"))
    assert fitted.certificates is not None
    gaps = np.array([one.gap for (one,) in fitted.certificates])
    result = tried, np.array(fitted.coefs[:, 0].T, dtype=X.dtype), gaps
    return (*result, list(fitted.n_iter)) if return_n_iter else result  # type: ignore[arg-type]


def lasso_path(X: Any, y: Any, **options: Any) -> Any:
    """Return ``enet_path`` with the l1 penalty alone."""
    return enet_path(X, y, l1_ratio=1.0, **options)


def _grid(X: Any, y: Floats, l1_ratio: float, eps: float, count: int, *, positive: bool) -> Floats:
    """Return alphas from the smallest that makes all weights 0 down to ``eps`` times it."""
    _check_grid(l1_ratio)
    products = X.T @ y
    largest = float(np.max(products if positive else np.abs(products))) / (len(y) * l1_ratio)
    if largest <= np.finfo(np.float64).resolution:
        return np.full(count, np.finfo(np.float64).resolution)
    return np.geomspace(largest, largest * eps, count)


def _check_grid(l1_ratio: Any) -> None:
    if not np.all(l1_ratio):
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid "
            "by providing your estimator with the appropriate `alphas=` argument."
        )


def _requested_alphas(alphas: Any, n_alphas: Any) -> Any:
    """Return the alphas to try, or their number; ``n_alphas`` is scikit-learn's old keyword."""
    if n_alphas != "deprecated" and VERSION >= (1, 7):
        warnings.warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11. 'alphas' now accepts an "
            "integer value which removes the need to pass 'n_alphas'. The default value of "
            "'alphas' will change from None to 100 in 1.11. Pass an explicit value to 'alphas' and "
            "leave 'n_alphas' to its default value to silence this warning.",
            FutureWarning,
            stacklevel=3,
        )
    if alphas is None and VERSION >= (1, 7):
        warnings.warn(
            "'alphas=None' is deprecated and will be removed in 1.11, at which point the default "
            "value will be set to 100. Set 'alphas=100' to silence this warning.",
            FutureWarning,
            stacklevel=3,
        )
    if alphas is None or isinstance(alphas, str):
        return 100 if n_alphas == "deprecated" else n_alphas
    return alphas


class ElasticNet(Face, linear_model.ElasticNet):
    """The elastic net with scikit-learn's parameters and attributes, and a certificate."""

    _solver_parameters = SOLVER_PARAMETERS
    path = staticmethod(enet_path)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fit one model a target to the rows."""
        self._start()
        if self.alpha == 0:
            warnings.warn(
                "With alpha=0, this algorithm does not converge well. You are advised to use the "
                "LinearRegression estimator",
                stacklevel=2,
            )
        if check_input:
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csc",
                dtype=[np.float64, np.float32],
                accept_large_sparse=False,
                multi_output=True,
                y_numeric=True,
            )
        else:
            self.n_features_in_ = X.shape[1]
        weight = None if isinstance(sample_weight, numbers.Number) else weights_of(sample_weight, X)
        learner = self._learner(X)
        with quiet(UserWarning) if self.alpha == 0 else nullcontext():
            learner.fit(X, y, weight)
        intercept = learner.intercept_ if self.fit_intercept else 0.0
        self._publish(learner, learner.coef_, intercept, X.dtype)
        several = np.ndim(learner.coef_) == 2
        no_gap = np.zeros(len(learner.coef_)) if several else 0.0
        self.dual_gap_ = X.dtype.type(getattr(learner, "dual_gap_", no_gap))
        self.n_iter_ = getattr(learner, "n_iter_", [1] * len(learner.coef_) if several else 1)
        return self

    def _learner(self, X: Any) -> Any:
        fit_intercept, positive = bool(self.fit_intercept), bool(self.positive)
        if self.alpha == 0 and not positive:
            return Ridge(0.0, fit_intercept)  # least squares, solved directly
        return Learner(
            float(self.alpha),
            l1_ratio=float(self.l1_ratio),
            fit_intercept=fit_intercept,
            positive=positive,
            tol=gap_tolerance(self.tol, X),
            max_iter=max(MAX_ITER, self.max_iter),
        )


class Lasso(ElasticNet, linear_model.Lasso):
    """The lasso with scikit-learn's parameters and attributes, and a certificate."""

    path = staticmethod(enet_path)

    __init__ = linear_model.Lasso.__init__


class _SearchFace(Face):
    """What ``ElasticNetCV`` and ``LassoCV`` share."""

    _solver_parameters = ("precompute", "copy_X", "random_state", "selection", "verbose", "n_jobs")
    path = staticmethod(enet_path)

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose alpha, and l1_ratio, by cross-validation; then fit all rows."""
        self._start()
        types = [np.float64, np.float32]
        options = {"accept_sparse": "csc", "dtype": types, "accept_large_sparse": False}
        checks = options, {"dtype": types, "ensure_2d": False}
        X, y = validate_data(self, X, y, validate_separately=checks)
        check_consistent_length(X, y)
        if y.ndim > 1 and y.shape[1] > 1:
            raise ValueError(f"For multi-task outputs, use MultiTask{type(self).__name__}")
        y = column_or_1d(y, warn=True)
        weight = None if isinstance(sample_weight, numbers.Number) else weights_of(sample_weight, X)
        ratios = getattr(self, "l1_ratio", 1.0)
        learner = SearchLearner(
            self._alphas(),
            l1_ratio=[float(each) for each in np.atleast_1d(ratios)],
            eps=min(self.eps, BELOW_ONE),
            cv=list(check_cv(self.cv).split(X, y, **split_parameters(self, params))),
            fit_intercept=bool(self.fit_intercept),
            positive=bool(self.positive),
            tol=gap_tolerance(self.tol, X),
            max_iter=max(MAX_ITER, self.max_iter),
        )
        with quiet(GridEdgeWarning):
            learner.fit(X, y, weight)
        intercept = learner.intercept_ if self.fit_intercept else 0.0
        self._publish(learner, learner.coef_, intercept, X.dtype)
        self.alpha_, self.alphas_ = np.float64(learner.alpha_), learner.alphas_
        self.mse_path_ = np.squeeze(learner.mse_path_).astype(X.dtype)
        self.dual_gap_ = X.dtype.type(learner.dual_gap_)
        self.n_iter_ = int(np.max(learner.n_iter_))
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = np.float64(learner.l1_ratio_)
        return self

    def _alphas(self: Any) -> Any:
        """Return the alphas to try, or their number."""
        alphas = _requested_alphas(self.alphas, getattr(self, "n_alphas", "deprecated"))
        if isinstance(alphas, numbers.Integral):
            _check_grid(getattr(self, "l1_ratio", 1.0))
            return int(alphas)
        for index, alpha in enumerate(alphas):
            name = f"alphas[{index}]"
            check_scalar(alpha, name, numbers.Real, min_val=0.0, include_boundaries="left")
        return np.sort(np.asarray(alphas, dtype=np.float64))[::-1]


class ElasticNetCV(_SearchFace, linear_model.ElasticNetCV):
    """The elastic net with a search, scikit-learn's parameters and attributes, and certificates."""

    def _get_estimator(self) -> Any:
        return ElasticNet()


class LassoCV(_SearchFace, linear_model.LassoCV):
    """The lasso with a search, scikit-learn's parameters and attributes, and certificates."""

    def _get_estimator(self) -> Any:
        return Lasso()
