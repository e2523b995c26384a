"""scikit-learn's ``BayesianRidge`` over our ``BayesianRegression``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.moments.regression.bayesian_regression import BayesianRegression
from separable.sklearn.base import Face, weights_of
from separable.sklearn.theirs import linear_model, validate_data

if TYPE_CHECKING:
    from typing import Self

__all__ = ["BayesianRidge"]

#: The default of the four parameters of the hyperpriors, with which they are almost flat.
FLAT = 1e-6


class BayesianRidge(Face, linear_model.BayesianRidge):
    """Bayesian ridge regression with scikit-learn's parameters and attributes.

    The precisions maximize the evidence exactly, with flat hyperpriors; ``alpha_`` is the precision
    of the noise and ``lambda_`` that of the weights, as in scikit-learn.
    """

    _solver_parameters = ("max_iter", "tol", "alpha_init", "lambda_init", "copy_X", "verbose")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        given = [getattr(self, name) for name in ("alpha_1", "alpha_2", "lambda_1", "lambda_2")]
        if max(given) > FLAT:
            self._refuse(
                f"hyperpriors other than flat ones (got {given})", "Leave them at 1e-6 or less."
            )
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=True)
        weight = weights_of(sample_weight, X)
        n_features = X.shape[1]
        center, target = np.zeros(n_features), 0.0
        if self.fit_intercept:
            center = np.average(X, axis=0, weights=weight).astype(np.float64)
            target = float(np.average(y, weights=weight))
        # Centred rows without an intercept: the evidence then counts n rows, as scikit-learn's.
        learner = BayesianRegression(fit_intercept=False)
        learner.fit(np.asarray(X, np.float64) - center, np.asarray(y, np.float64) - target, weight)
        intercept: Any = 0.0
        if self.fit_intercept:
            intercept = X.dtype.type(target - center @ learner.coef_)
        self._publish(learner, learner.coef_, intercept, X.dtype)
        self.alpha_, self.lambda_ = map(X.dtype.type, (learner.alpha_, learner.lambda_))
        self.sigma_ = learner.sigma_.astype(X.dtype)
        self.X_offset_, self.X_scale_ = center.astype(X.dtype), np.ones(n_features, X.dtype)
        self.n_iter_ = learner.n_iter_
        self.scores_: Any = np.full(2, learner.log_evidence_) if self.compute_score else []
        return self
