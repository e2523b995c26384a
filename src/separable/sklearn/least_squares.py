"""scikit-learn's ``LinearRegression``, ``Ridge`` and ``RidgeClassifier`` over ours."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separable.certified.estimators.elastic_net import ElasticNet
from separable.moments.regression.least_squares import LeastSquares
from separable.moments.regression.ridge import Ridge as Learner
from separable.sklearn.base import Face, Several, quiet, weights_of
from separable.sklearn.theirs import linear_model, refuse_other_arrays, validate_data

if TYPE_CHECKING:
    from typing import Self

__all__ = ["LinearRegression", "Ridge", "RidgeClassifier"]


def floats(X: Any) -> Any:
    """Return the type of the weights: that of X if it is float32 or float64."""
    return X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)


class LinearRegression(Face, linear_model.LinearRegression):
    """Least squares with scikit-learn's parameters and attributes."""

    _solver_parameters = ("copy_X", "tol", "n_jobs")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        forms = False if self.positive else ["csr", "csc", "coo"]
        X, y = validate_data(self, X, y, accept_sparse=forms, y_numeric=True, multi_output=True)
        weight = weights_of(sample_weight, X)
        fit_intercept = bool(self.fit_intercept)
        learner = LeastSquares(fit_intercept, positive=bool(self.positive))
        with quiet(UserWarning):  # dependent columns: as in scikit-learn, the shortest weights
            learner.fit(X, y, weight)
        coef = learner.coef_ if y.ndim == 1 else np.atleast_2d(learner.coef_)
        self._publish(learner, coef, learner.intercept_ if fit_intercept else 0.0, floats(X))
        if not sparse.issparse(X) and not self.positive:
            self.rank_ = learner.rank_
        return self


class _RidgeFace(Face):
    """What the two ridge faces share."""

    _solver_parameters = ("copy_X", "max_iter", "tol", "solver", "random_state")

    def _solve(self: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_solver(X)
        weight = weights_of(sample_weight, X)
        alphas = np.ravel(np.asarray(self.alpha, dtype=np.float64))
        n_targets = 1 if y.ndim == 1 else y.shape[1]
        if len(alphas) not in (1, n_targets):
            raise ValueError(
                "Number of targets and number of penalties do not correspond: "
                f"{len(alphas)} != {n_targets}"
            )
        with quiet(UserWarning) if self.positive and not alphas.all() else nullcontext():
            if len(alphas) == 1:
                learner = self._learner(alphas[0], X, weight).fit(X, y, weight)
            else:
                learner = Several(
                    [
                        self._learner(alpha, X, weight).fit(X, target, weight)
                        for alpha, target in zip(alphas, y.reshape(len(y), -1).T, strict=True)
                    ]
                )
        intercept = learner.intercept_ if self.fit_intercept else 0.0
        self._publish(learner, learner.coef_, intercept, floats(X))
        self.n_iter_ = None
        self.solver_ = self._solver_name(X)

    def _learner(self: Any, alpha: float, X: Any, weight: Any) -> Any:
        fit_intercept = bool(self.fit_intercept)
        if not self.positive or alpha == 0:
            return Learner(float(alpha), fit_intercept, positive=bool(self.positive))
        total = X.shape[0] if weight is None else float(weight.sum())  # of any number of columns
        return ElasticNet(alpha / total, l1_ratio=0.0, positive=True, fit_intercept=fit_intercept)

    def _solver_name(self: Any, X: Any) -> str:
        """Return the solver that scikit-learn would name."""
        if self.solver != "auto":
            return str(self.solver)
        if self.positive:
            return "lbfgs"
        return "sparse_cg" if sparse.issparse(X) else "cholesky"

    def _check_solver(self: Any, X: Any) -> None:
        """Refuse what scikit-learn refuses."""
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError(
                "'lbfgs' solver can be used only when positive=True. Please use another solver."
            )
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(
                f"solver='{self.solver}' does not support positive fitting. Please set the solver "
                "to 'auto' or 'lbfgs', or set `positive=False`"
            )
        if (
            self.solver == "sag"
            and sparse.issparse(X)
            and self.fit_intercept
            and (self.max_iter is None and self.tol > 1e-4)
        ):
            warnings.warn(
                '"sag" solver requires many iterations to fit an intercept with sparse inputs. It '
                "is accepted and has no effect: separable solves directly.",
                stacklevel=4,
            )
        sparse_solvers = ("auto", "lbfgs", "lsqr", "sag", "sparse_cg")
        if sparse.issparse(X) and self.fit_intercept and self.solver not in sparse_solvers:
            raise ValueError(
                f"solver='{self.solver}' does not support fitting the intercept on sparse data. "
                "Please set the solver to 'auto' or 'lsqr', 'sparse_cg', 'sag', 'lbfgs' or set "
                "`fit_intercept=False`"
            )


class Ridge(_RidgeFace, linear_model.Ridge):
    """Ridge regression with scikit-learn's parameters and attributes, solved directly."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc", "coo"],
            dtype=[np.float64, np.float32],
            multi_output=True,
            y_numeric=True,
        )
        self._solve(X, y, sample_weight)
        return self


class RidgeClassifier(_RidgeFace, linear_model.RidgeClassifier):
    """Ridge regression on class labels -1 and 1, with scikit-learn's parameters and attributes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        refuse_other_arrays(self, X)
        X, y, sample_weight, Y = self._prepare_data(X, y, sample_weight, self.solver)
        self._solve(X, Y, sample_weight)
        return self
