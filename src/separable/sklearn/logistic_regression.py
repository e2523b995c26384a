"""scikit-learn's ``LogisticRegression`` over ours."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.estimators.logistic_regression import LogisticRegression as Learner
from separable.fitting.separation_error import SeparationError
from separable.sklearn.base import (
    Face,
    class_weights,
    gap_tolerance,
    quiet,
    weights_of,
    with_constant,
    with_every_class,
)
from separable.sklearn.theirs import (
    VERSION,
    ConvergenceWarning,
    check_classification_targets,
    check_logistic_solver,
    linear_model,
    reported_fit,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

__all__ = ["LogisticRegression", "fit_learner"]

MAX_ITER = 1000
#: C in the place of infinity, if the classes are separable and no weights are optimal.
LARGEST_C = 1e6


def fit_learner(learner: Learner, X: Any, y: Any, weight: Any) -> Learner:
    """Fit the learner; if the classes are separable without a penalty, with almost none.

    scikit-learn returns the weights of its last iteration, with a ConvergenceWarning.
    """
    try:
        return learner.fit(X, y, weight)
    except SeparationError as error:
        warnings.warn(
            f"{error} The published weights are those of C={LARGEST_C:g}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    with quiet(ConvergenceWarning):
        return learner.set_params(C=LARGEST_C).fit(X, y, weight)


class LogisticRegression(Face, linear_model.LogisticRegression):
    """Logistic regression with scikit-learn's parameters and attributes, and a certificate.

    The solution is that of the penalty, C, the class weights and, with ``solver="liblinear"``, of
    the penalized intercept. The other solvers, ``tol`` and ``max_iter`` choose how it is computed:
    here the duality gap is closed in any case.
    """

    _solver_parameters = ("solver", "dual", "random_state", "verbose", "warm_start")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        penalty = self._resolve_penalty()
        if self.n_jobs is not None and VERSION >= (1, 8):
            warnings.warn(
                "'n_jobs' has no effect since 1.8 and will be removed in 1.10. You provided "
                f"'n_jobs={self.n_jobs}', please leave it unspecified.",
                FutureWarning,
                stacklevel=2,
            )
        solver = check_logistic_solver(self.solver, penalty, self.dual)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._check_classes(solver)
        weight = weights_of(sample_weight, X)
        weight = with_every_class(y, class_weights(self.class_weight, self.classes_, y, weight))
        C = np.inf if penalty is None else float(self.C)
        ratio = {"l1": 1.0, "elasticnet": float(self.l1_ratio or 0)}.get(str(penalty), 0.0)
        extra = solver == "liblinear" and self.fit_intercept
        learner = Learner(
            C,
            l1_ratio=0.0 if np.isinf(C) else ratio,
            multi_class=self._multi_class(solver),
            fit_intercept=self.fit_intercept and not extra,
            tol=gap_tolerance(self.tol, X),
            max_iter=max(MAX_ITER, self.max_iter),
        )
        with reported_fit(self, X, y, sample_weight):
            fit_learner(
                learner, with_constant(X, self.intercept_scaling) if extra else X, y, weight
            )
            coef, intercept = learner.coef_, learner.intercept_
            if extra:
                coef, intercept = coef[:, :-1], coef[:, -1] * self.intercept_scaling
            dtype = np.float64 if solver == "liblinear" else X.dtype
            self._publish(learner, coef, intercept, dtype)
            self.n_iter_ = np.asarray(learner.n_iter_, dtype=np.int32).max(keepdims=True).reshape(1)
        return self

    def _resolve_penalty(self) -> str | None:
        """Return the penalty from ``l1_ratio`` and C, or from the deprecated ``penalty``."""
        given = self.penalty
        if given == "deprecated":
            if self.l1_ratio is None:
                warnings.warn(
                    "'l1_ratio=None' was deprecated in version 1.8 and will trigger an error in "
                    "1.10. Use 0<=l1_ratio<=1 instead.",
                    FutureWarning,
                    stacklevel=3,
                )
            if np.inf == self.C:
                return None
            return {0: "l2", 1: "l1"}.get(self.l1_ratio or 0, "elasticnet")
        if self._parameter_default("penalty") == "deprecated":
            warnings.warn(
                "'penalty' was deprecated in version 1.8 and will be removed in 1.10. To avoid "
                "this warning, leave 'penalty' set to its default value and use 'l1_ratio' or 'C' "
                "instead. Use l1_ratio=0 instead of penalty='l2', l1_ratio=1 instead of "
                "penalty='l1', l1_ratio set to a float between 0 and 1 instead of "
                "penalty='elasticnet', and C=np.inf instead of penalty=None.",
                FutureWarning,
                stacklevel=3,
            )
        self._check_penalty(given)
        return None if given is None else str(given)

    def _check_penalty(self, given: str | None) -> None:
        ratio = self.l1_ratio
        if given != "elasticnet" and ratio is not None and 0 < ratio < 1:
            warnings.warn(
                "l1_ratio parameter is only used when penalty is 'elasticnet'. Got "
                f"(penalty={given})",
                stacklevel=4,
            )
        if (given == "l2" and ratio not in (0, None)) or (given == "l1" and ratio not in (1, None)):
            warnings.warn(
                f"Inconsistent values: penalty={given} with l1_ratio={ratio}. penalty is "
                "deprecated. Please use l1_ratio only.",
                stacklevel=4,
            )
        if given == "elasticnet" and ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        if given is None and self.C != 1.0:
            warnings.warn(
                "Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=4
            )

    def _check_classes(self, solver: str) -> None:
        n_classes = len(self.classes_)
        if solver == "liblinear" and n_classes > 2 and not hasattr(self, "multi_class"):
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification"
                " (n_classes >= 3). Either use another solver or wrap the "
                "estimator in a OneVsRestClassifier to keep applying a "
                "one-versus-rest scheme."
            )
        if n_classes < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {self.classes_[0]!r}"
            )

    def _multi_class(self, solver: str) -> str:
        """Return how three or more classes are learned; scikit-learn 1.8 has no ``multi_class``."""
        given = getattr(self, "multi_class", "deprecated")
        return "ovr" if given == "ovr" or solver == "liblinear" else "multinomial"
