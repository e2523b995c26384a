"""scikit-learn's ``LinearDiscriminantAnalysis`` over our ``LDA``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from separable.moments.discriminant import lda
from separable.moments.discriminant.covariance import factor_within, ledoit_wolf
from separable.sklearn.base import Face, quiet
from separable.sklearn.theirs import (
    check_classification_targets,
    discriminant_analysis,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

    from separable.moments.base import Solution
    from separable.moments.discriminant.covariance import Within
    from separable.statistics.moments import Moments
    from separable.statistics.sums import Sums
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats

__all__ = ["LinearDiscriminantAnalysis"]


class LDA(lda.LDA):
    """Our learner, with a covariance within classes that is given."""

    within: Floats | None = None

    def _within(self, sums: Moments, data: Data | None) -> tuple[Within, Sums, float]:
        if self.within is None:
            return super()._within(sums, data)
        values = sums.sums
        covariance = self.within * np.outer(values.scale, values.scale)
        return factor_within(covariance, np.diagonal(covariance) == 0), values, 0.0

    def _solve_rows(self, data: Data) -> Solution | None:
        return None if self.within is not None else super()._solve_rows(data)


def shrunk_covariance(X: Floats, shrinkage: Any) -> Floats:
    """Return the covariance of rows, shrunk to its mean variance; "auto": by Ledoit-Wolf.

    For Ledoit-Wolf the columns are standardized, as in scikit-learn.
    """
    n, d = X.shape
    X = X - X.mean(axis=0)
    scale = np.ones(d)
    if isinstance(shrinkage, str):
        scale = np.sqrt(np.mean(X**2, axis=0))
        scale[scale == 0] = 1.0
    X = X / scale
    covariance: Floats = X.T @ X / n
    share = shrinkage or 0.0
    if isinstance(shrinkage, str):
        trace, squares = float(np.trace(covariance)), float(np.sum(covariance**2))
        fourth = float(np.sum(np.sum(X**2, axis=1) ** 2)) / n**2
        share = ledoit_wolf(trace, squares, fourth, n, d)
    covariance *= 1.0 - share
    covariance.flat[:: d + 1] += share * np.trace(X.T @ X) / n / d
    return covariance * np.outer(scale, scale)


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
        priors = self.priors_.astype(np.float64)
        within = self._within(X, y, priors)
        learner = LDA(priors, covariance="mle", n_components=self.n_components)
        if self.solver != "svd":
            learner.within = within
        with quiet(UserWarning):
            learner.fit(X, y)
        coef, intercept = learner.coef_, learner.intercept_
        if self.solver != "svd" and len(self.classes_) > 2:
            coef, intercept = _uncentred(learner, X.shape[1])
        # As in scikit-learn, only the solver "svd" keeps float32, and the weights of two classes.
        dtype = X.dtype if self.solver == "svd" else np.dtype(np.float64)
        self._publish(learner, coef, intercept, X.dtype if len(self.classes_) == 2 else dtype)
        self.means_ = learner.means_.astype(X.dtype)
        self._publish_axes(learner, X, within, dtype)
        if self.store_covariance or self.solver != "svd":
            self.covariance_ = within
        return self

    def _within(self, X: Any, y: Any, priors: Floats) -> Any:
        """Return the covariances of the classes, estimated one by one, weighted by the priors."""
        if self.solver == "svd" and not self.store_covariance:
            return None
        rows = [X[y == label] for label in self.classes_]
        covariances = (self._covariance(each) for each in rows)
        return sum(prior * each for prior, each in zip(priors, covariances, strict=True))

    def _covariance(self, X: Any) -> Floats:
        """Return the covariance of rows by the given estimator, or shrunk."""
        if self.covariance_estimator is not None:
            self.covariance_estimator.fit(X)
            if not hasattr(self.covariance_estimator, "covariance_"):
                name = type(self.covariance_estimator).__name__
                raise ValueError(f"{name} does not have a covariance_ attribute")
            return np.atleast_2d(self.covariance_estimator.covariance_)
        return shrunk_covariance(np.asarray(X, dtype=np.float64), self.shrinkage)

    def _publish_axes(self, learner: LDA, X: Any, within: Any, dtype: Any) -> None:
        self._max_components = self._n_features_out = (
            min(len(self.classes_) - 1, X.shape[1])
            if self.n_components is None
            else self.n_components
        )
        if self.solver == "lsqr":
            return
        scalings, ratio = learner.scalings_, learner.explained_variance_ratio_
        if self.solver == "eigen":
            # The total covariance is estimated like that of a class, so it may be shrunk, too.
            values, vectors = linalg.eigh(self._covariance(X) - within, within)
            scalings, ratio = vectors[:, ::-1], values[::-1] / values.sum()
        self.scalings_ = scalings.astype(dtype)
        self.explained_variance_ratio_ = ratio[: self._max_components].astype(dtype)
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
        elif self.covariance_estimator is not None and self.shrinkage is not None:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two "
                "can be set."
            )

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
