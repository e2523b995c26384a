"""scikit-learn's ``Perceptron``, ``SGDClassifier`` and ``SGDRegressor`` over our descent.

The steps are those of scikit-learn's schedules and the stopping rule is its own; rows are shuffled
by our generator, so the weights of a run are not theirs to the digit.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separable.sklearn import descent_learners
from separable.sklearn.base import (
    Face,
    class_weights,
    quiet,
    weight_of_each_class,
    weights_of,
    with_every_class,
)
from separable.sklearn.theirs import (
    VERSION,
    ConvergenceWarning,
    check_classification_targets,
    check_partial_fit_first_call,
    linear_model,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Perceptron", "SGDClassifier", "SGDRegressor"]

#: The schedule "adaptive" of scikit-learn divides the step by this, until it is below the smallest.
SHRINK, SMALLEST_STEP = 5.0, 1e-6
NEGATIVE_POWER = (
    "Negative values for `power_t` are deprecated in version 1.8 and will raise an error in 1.10. "
    "Use values in the range [0.0, inf) instead."
)


class _DescentFace(Face):
    """What the three faces share."""

    _solver_parameters = ("verbose", "n_jobs")
    _kind: Any

    def _fit_rows(
        self: Any, learner: Any, X: Any, y: Any, weight: Any, coef_init: Any, intercept_init: Any
    ) -> Any:
        """Run the epochs and publish the weights."""
        if self.power_t < 0 and VERSION >= (1, 8):
            warnings.warn(NEGATIVE_POWER, FutureWarning, stacklevel=3)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        learner.sparse_rows = sparse.issparse(X)
        n_epochs, converged = self._run(learner, X, y, coef_init, intercept_init, weight)
        self._publish(learner, learner.coef_, np.atleast_1d(learner.intercept_), X.dtype)
        self.n_iter_ = n_epochs
        self.t_ = 1.0 + n_epochs * X.shape[0]
        if self.tol is not None and not converged and n_epochs >= self.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing "
                "max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _run(
        self: Any, learner: Any, X: Any, y: Any, coef: Any, intercept: Any, weight: Any
    ) -> tuple[int, bool]:
        """Return the number of epochs, and whether the stopping rule ended them."""
        with quiet(UserWarning):
            learner.fit(X, y, coef, intercept, weight)
        n_epochs, converged = learner.n_iter_, learner.evidence_["converged"]
        step = float(self.eta0) / SHRINK
        while (
            self.learning_rate == "adaptive" and n_epochs < self.max_iter and step >= SMALLEST_STEP
        ):
            learner.set_params(eta0=step, max_iter=self.max_iter - n_epochs)
            with quiet(UserWarning):
                learner.fit(X, y, learner.coef_, learner.intercept_, weight)
            n_epochs += learner.n_iter_
            converged = learner.evidence_["converged"]
            step /= SHRINK
        return n_epochs, converged

    def _learn_chunk(self: Any, learner: Any, X: Any, y: Any, weight: Any, **options: Any) -> Any:
        """Learn the rows once, in order, and publish the weights."""
        learner.sparse_rows = sparse.issparse(X)
        with quiet(UserWarning):
            learner.partial_fit(X, y, sample_weight=weight, **options)
        self._publish(learner, learner.coef_, np.atleast_1d(learner.intercept_), X.dtype)
        self.n_iter_ = 1
        self.t_ = getattr(self, "t_", 1.0) + X.shape[0]
        return self

    def _learner(self: Any) -> Any:
        if self.learning_rate in ("pa1", "pa2"):
            self._refuse(f"learning_rate={self.learning_rate!r}", "Use 'constant' or 'optimal'.")
        schedule = "constant" if self.learning_rate == "adaptive" else self.learning_rate
        return self._kind(
            loss=self.loss,
            penalty=self.penalty,
            alpha=float(self.alpha),
            l1_ratio=float(self.l1_ratio or 0.0),
            fit_intercept=bool(self.fit_intercept),
            max_iter=self.max_iter,
            tol=None if self.tol is None else float(self.tol),
            shuffle=bool(self.shuffle),
            epsilon=float(getattr(self, "epsilon", 0.1)),
            random_state=self.random_state,
            learning_rate=schedule,
            eta0=None if schedule == "optimal" else float(self.eta0),
            power_t=float(self.power_t),
            early_stopping=bool(self.early_stopping),
            validation_fraction=float(self.validation_fraction),
            n_iter_no_change=int(self.n_iter_no_change),
            average=self.average,
        )

    def _read(self: Any, X: Any, y: Any, *, reset: bool, numeric: bool) -> tuple[Any, Any]:
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            accept_large_sparse=False,
            reset=reset,
            y_numeric=numeric,
        )
        return X, y


class _ClassifierFace(_DescentFace):
    """What ``Perceptron`` and ``SGDClassifier`` share."""

    _kind = descent_learners.SGDClassifier

    def fit(
        self: Any,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Run epochs until the loss falls no more."""
        self._start()
        self._more_validate_params()
        X, y = self._read(X, y, reset=True, numeric=False)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class"
            )
        weight = weights_of(sample_weight, X)
        learner, weight = self._weighted(y, weight)
        weight = with_every_class(y, weight)
        return self._fit_rows(learner, X, y, weight, coef_init, intercept_init)

    def partial_fit(
        self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Learn more rows, once."""
        self._start()
        self._more_validate_params(for_partial_fit=True)
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use "
                "'balanced' weights, use compute_class_weight('balanced', classes=classes, y=y). "
                "In place of y you can use a large enough sample of the full training set target "
                "to properly estimate the class frequency distributions. Pass the resulting "
                "weights as the class_weight parameter."
            )
        first = not hasattr(self, "coef_")
        X, y = self._read(X, y, reset=first, numeric=False)
        check_partial_fit_first_call(self, classes)
        weight = weights_of(sample_weight, X)
        learner, weight = self._weighted(y, weight)
        if first:
            return self._learn_chunk(learner, X, y, weight, classes=self.classes_)
        return self._learn_chunk(self.learner_, X, y, weight)

    def _weighted(self: Any, y: Any, weight: Any) -> tuple[Any, Any]:
        """Return a learner and the weights of the rows, with those of the classes in one of them.

        Of three or more classes, the weight of a class counts in its own model.
        """
        if not self.class_weight or len(self.classes_) < 3:
            return self._learner(), class_weights(self.class_weight, self.classes_, y, weight)
        per_class = weight_of_each_class(self.class_weight, self.classes_, y, weight)
        learners = [self._learner() for _ in self.classes_]
        return descent_learners.OneAgainstRest(learners, self.classes_, per_class), weight


class SGDClassifier(_ClassifierFace, linear_model.SGDClassifier):
    """Classification by stochastic gradient descent, with scikit-learn's parameters."""


class Perceptron(_ClassifierFace, linear_model.Perceptron):
    """The perceptron with scikit-learn's parameters, penalty and stopping rule."""


class SGDRegressor(_DescentFace, linear_model.SGDRegressor):
    """Regression by stochastic gradient descent, with scikit-learn's parameters."""

    _kind = descent_learners.SGDRegressor

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Run epochs until the loss falls no more."""
        self._start()
        self._more_validate_params()
        X, y = self._read(X, y, reset=True, numeric=True)
        weight, learner = weights_of(sample_weight, X), self._learner()
        fitted: Self = self._fit_rows(learner, X, y, weight, coef_init, intercept_init)
        return fitted

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more rows, once."""
        self._start()
        self._more_validate_params(for_partial_fit=True)
        first = not hasattr(self, "coef_")
        X, y = self._read(X, y, reset=first, numeric=True)
        learner = self._learner() if first else self.learner_
        learned: Self = self._learn_chunk(learner, X, y, weights_of(sample_weight, X))
        return learned
