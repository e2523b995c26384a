"""scikit-learn's ``RidgeCV`` and ``RidgeClassifierCV`` over our ``Ridge``.

Leaving out one row is exact, from one fit for each alpha; folds are a grid search.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.moments.regression.ridge import Ridge as Learner
from separable.select.loo import leave_one_out
from separable.sklearn.base import Face, weights_of
from separable.sklearn.least_squares import Ridge, RidgeClassifier
from separable.sklearn.theirs import (
    GridSearchCV,
    check_gcv_mode,
    check_scalar,
    linear_model,
    refuse_other_arrays,
    routed_to_scorer,
    routing_enabled,
    validate_data,
)

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["RidgeCV", "RidgeClassifierCV"]


class _Predictions:
    """Predictions in the place of X, for scorers."""

    def __init__(self, classes: Any = None) -> None:
        self.classes_ = classes
        self._estimator_type = "regressor" if classes is None else "classifier"

    def fit(self, X: Any, y: Any) -> _Predictions:
        """Do nothing."""
        del X, y
        return self

    def predict(self, X: Any) -> Any:
        """Return the predictions, or the class with the largest."""
        return X if self.classes_ is None else self.classes_[np.argmax(X, axis=1)]

    def decision_function(self, X: Any) -> Any:
        """Return the predictions."""
        return X

    def __sklearn_tags__(self) -> Any:
        kind: Any = linear_model.Ridge if self.classes_ is None else linear_model.RidgeClassifier
        return kind().__sklearn_tags__()


class _RidgeSearch(Face):
    """What the two searches share."""

    _solver_parameters = ("gcv_mode",)

    def _search(self: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        self._check_alphas()
        if self.cv is None:
            self._leave_one_out(X, y, sample_weight, params)
        else:
            self._fold(X, y, sample_weight, params)

    def _check_alphas(self: Any) -> None:
        edge = "neither" if self.cv is None else "left"
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=object))
        for index, alpha in enumerate(alphas):
            name = f"alphas[{index}]" if len(alphas) > 1 else "alphas"
            check_scalar(alpha, name, numbers.Real, min_val=0.0, include_boundaries=edge)

    def _fold(self: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        if self.store_cv_results:
            raise ValueError("cv!=None and store_cv_results=True are incompatible")
        if self.alpha_per_target:
            raise ValueError("cv!=None and alpha_per_target=True are incompatible")
        estimator = self._single(fit_intercept=self.fit_intercept)
        if sample_weight is not None:
            params = params | {"sample_weight": sample_weight}
        if routing_enabled():
            estimator.set_fit_request(sample_weight=True)
        grid = {"alpha": np.atleast_1d(self.alphas)}
        search = GridSearchCV(estimator, grid, cv=self.cv, scoring=self._get_scorer())
        search.fit(X, y, **params)
        best = search.best_estimator_
        self.alpha_, self.best_score_ = best.alpha, search.best_score_
        self.learner_, self.coef_, self.intercept_ = best.learner_, best.coef_, best.intercept_
        self.n_features_in_ = best.n_features_in_
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    def _leave_one_out(
        self: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]
    ) -> None:
        dtype = X.dtype if getattr(getattr(X, "dtype", None), "kind", "") == "f" else np.float64
        score_params = routed_to_scorer(self, sample_weight, params)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc", "coo"],
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
        )
        weight = weights_of(sample_weight, X)
        check_gcv_mode(X, self.gcv_mode)  # warns as scikit-learn does
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        fit_intercept = bool(self.fit_intercept)
        left_out = [
            leave_one_out(
                Learner(alpha, fit_intercept), X, y, "neg_mean_squared_error", weight
            ).predictions.reshape(y.shape)
            for alpha in alphas.tolist()
        ]
        kept, scores = self._score_all(left_out, y, weight, score_params)
        if self.store_cv_results:
            self.cv_results_ = np.stack(kept, axis=-1).astype(dtype)
        best = np.argmax(scores, axis=0)
        chosen = alphas[best]
        self.best_score_ = np.take_along_axis(scores, np.expand_dims(best, 0), 0)[0]
        if self.scoring is not None and not np.ndim(self.best_score_):
            self.best_score_ = float(self.best_score_)
        self.alpha_ = chosen if np.ndim(chosen) else float(chosen)
        fitted = Ridge(chosen, fit_intercept=fit_intercept).fit(X, y, sample_weight)
        self._publish(fitted.learner_, fitted.coef_, fitted.intercept_, dtype)

    def _score_all(
        self: Any, left_out: list[Floats], y: Any, weight: Any, score_params: dict[str, Any]
    ) -> tuple[list[Floats], Floats]:
        """Return what ``cv_results_`` keeps, and the score of each alpha, or of each and target."""
        if self.scoring is not None:
            return left_out, np.array([self._scored(each, y, score_params) for each in left_out])
        root = 1.0 if weight is None else np.sqrt(weight).reshape((-1,) + (1,) * (y.ndim - 1))
        squares = [((y - each) * root) ** 2 for each in left_out]
        axis = 0 if self.alpha_per_target and y.ndim == 2 and y.shape[1] > 1 else None
        return squares, np.array([-np.mean(each, axis=axis) for each in squares])

    def _scored(self: Any, predictions: Floats, y: Any, score_params: dict[str, Any]) -> Any:
        scorer = self._get_scorer()
        if self._single is RidgeClassifier:
            classes = np.arange(y.shape[1])
            return scorer(_Predictions(classes), predictions, np.argmax(y, axis=1), **score_params)
        if self.alpha_per_target and y.ndim == 2 and y.shape[1] > 1:
            pairs = zip(predictions.T, y.T, strict=True)
            return np.array([scorer(_Predictions(), p, t, **score_params) for p, t in pairs])
        return scorer(_Predictions(), predictions, y, **score_params)


class RidgeCV(_RidgeSearch, linear_model.RidgeCV):
    """Ridge regression with a search of alpha, with scikit-learn's parameters and attributes."""

    _single = Ridge

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose alpha by leave-one-out or folds, then fit all rows."""
        self._start()
        self._search(X, y, sample_weight, params)
        return self


class RidgeClassifierCV(_RidgeSearch, linear_model.RidgeClassifierCV):
    """Ridge classification with a search of alpha, with scikit-learn's parameters."""

    _single = RidgeClassifier

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose alpha by leave-one-out or folds, then fit all rows."""
        self._start()
        refuse_other_arrays(self, X)
        X, y, sample_weight, Y = self._prepare_data(X, y, sample_weight, "eigen")
        target = Y if self.cv is None else y
        self._search(X, target, sample_weight, params)
        return self
