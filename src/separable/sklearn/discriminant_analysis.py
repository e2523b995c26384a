"""scikit-learn's ``LinearDiscriminantAnalysis`` over our ``LDA``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.moments.discriminant.lda import LDA
from separable.sklearn.base import Face, quiet
from separable.sklearn.theirs import (
    check_classification_targets,
    discriminant_analysis,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

    from separable.typing import Floats

__all__ = ["LinearDiscriminantAnalysis"]


class LinearDiscriminantAnalysis(Face, discriminant_analysis.LinearDiscriminantAnalysis):
    """Linear discriminant analysis with scikit-learn's parameters and attributes."""

    _solver_parameters = ("solver", "tol", "store_covariance")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to the rows."""
        self._start()
        X, y = validate_data(self, X, y, ensure_min_samples=2, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._check(X)
        self.priors_ = self._priors(y).astype(X.dtype)
        learner = LDA(
            self.priors_.astype(np.float64),
            covariance="mle",
            shrinkage=self.shrinkage,
            n_components=self.n_components,
        )
        with quiet(UserWarning):
            learner.fit(X, y)
        coef, intercept = learner.coef_, learner.intercept_
        if self.solver != "svd" and len(self.classes_) > 2:
            coef, intercept = _uncentred(learner, X.shape[1])
        self._publish(learner, coef, intercept, X.dtype)
        self.means_ = learner.means_.astype(X.dtype)
        self._publish_axes(learner, X)
        if self.store_covariance or self.solver != "svd":
            self.covariance_ = learner.covariance_.astype(X.dtype)
        return self

    def _publish_axes(self, learner: LDA, X: Any) -> None:
        self._max_components = self._n_features_out = (
            min(len(self.classes_) - 1, X.shape[1])
            if self.n_components is None
            else self.n_components
        )
        if self.solver == "lsqr":
            return
        self.scalings_ = learner.scalings_.astype(X.dtype)
        ratio = learner.explained_variance_ratio_[: self._max_components]
        self.explained_variance_ratio_ = ratio.astype(X.dtype)
        if self.solver == "svd":
            self.xbar_ = learner.xbar_.astype(X.dtype)

    def _check(self, X: Any) -> None:
        """Refuse what scikit-learn refuses, and other estimators of the covariance."""
        if len(X) == len(self.classes_):
            raise ValueError("The number of samples must be more than the number of classes.")
        limit = min(len(self.classes_) - 1, X.shape[1])
        if self.n_components is not None and self.n_components > limit:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError(
                    "covariance estimator is not supported with svd solver. Try another solver"
                )
        elif self.covariance_estimator is not None:
            if self.shrinkage is not None:
                raise ValueError(
                    "covariance_estimator and shrinkage parameters are not None. Only one of the "
                    "two can be set."
                )
            self._refuse("covariance_estimator", "Use shrinkage, a number or 'auto'.")

    def _priors(self, y: Any) -> Floats:
        if self.priors is None:
            priors: Floats = np.unique(y, return_counts=True)[1] / len(y)
        else:
            priors = np.asarray(self.priors, dtype=np.float64)
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=3)
            priors = priors / priors.sum()
        return priors


def _uncentred(learner: LDA, n_features: int) -> tuple[Floats, Floats]:
    """Return weights and intercepts of the textbook's discriminants, which eigen and lsqr publish.

    They differ from centred ones by the same linear function of x for every class.
    """
    at_units = learner.discriminants(np.vstack([np.zeros(n_features), np.eye(n_features)]))
    return (at_units[1:] - at_units[0]).T, at_units[0]
