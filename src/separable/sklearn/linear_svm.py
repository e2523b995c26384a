"""scikit-learn's ``LinearSVC`` and ``LinearSVR`` over ours.

Their intercept is penalized: it is the weight of a column of the constant ``intercept_scaling``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.estimators.linear_svm import LinearSVM
from separable.certified.estimators.linear_svr import LinearSVR as Learner
from separable.moments.regression.ridge import Ridge
from separable.sklearn.base import (
    Face,
    Several,
    class_weights,
    gap_tolerance,
    weights_of,
    with_constant,
    with_every_class,
)
from separable.sklearn.theirs import (
    check_classification_targets,
    check_liblinear_options,
    resolve_dual,
    svm,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

__all__ = ["LinearSVC", "LinearSVR"]

MAX_ITER = 1000


class LinearSVC(Face, svm.LinearSVC):
    """Support vector machine with scikit-learn's parameters and attributes, and a certificate.

    ``intercept_scaling`` chooses the answer, as in scikit-learn; ``dual``, ``tol`` and ``max_iter``
    choose how it is computed.
    """

    _solver_parameters = ("dual", "random_state", "verbose")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._check_options(X)
        weight = weights_of(sample_weight, X)
        rows = with_constant(X, self.intercept_scaling) if self.fit_intercept else X
        by_class = class_weights(self.class_weight, self.classes_, y, weight)
        if by_class is weight or len(self.classes_) == 2:
            learner: Any = self._learner(X).fit(rows, y, with_every_class(y, by_class))
        else:
            # As in LIBLINEAR, a class has its weight against the rest, and the rest weight 1.
            assert by_class is not None
            plain = np.ones(len(y)) if weight is None else weight
            learners = []
            for label in self.classes_:
                own = y == label
                against = with_every_class(own, np.where(own, by_class, plain))
                learners.append(self._learner(X).fit(rows, own, against))
            learner = Several(learners, self.classes_)
        _publish(self, learner, X.shape[1], learner.coef_)
        return self

    def _learner(self, X: Any) -> LinearSVM:
        return LinearSVM(
            float(self.C),
            loss=self.loss,
            penalty=self.penalty,
            fit_intercept=False,
            tol=gap_tolerance(self.tol, X),
            max_iter=max(MAX_ITER, self.max_iter),
        )

    def _check_options(self, X: Any) -> None:
        if self.multi_class == "crammer_singer":
            self._refuse(
                "multi_class='crammer_singer'",
                "Use 'ovr', or separable.LogisticRegression, which learns all classes together.",
            )
        dual = resolve_dual(self.dual, self.loss, self.penalty, self.multi_class, X)
        check_liblinear_options(self.multi_class, self.penalty, self.loss, dual)
        _check_scaling(self)
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {self.classes_[0]!r}"
            )


class LinearSVR(Face, svm.LinearSVR):
    """Support vector regression with scikit-learn's parameters and attributes."""

    _solver_parameters = ("dual", "random_state", "verbose")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows."""
        self._start()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        dual = resolve_dual(self.dual, self.loss, "l2", "ovr", X)
        check_liblinear_options("ovr", "l2", self.loss, dual)
        _check_scaling(self)
        weight = weights_of(sample_weight, X)
        learner = self._learner(X)
        learner.fit(
            with_constant(X, self.intercept_scaling) if self.fit_intercept else X, y, weight
        )
        _publish(self, learner, X.shape[1], np.atleast_2d(learner.coef_))
        self.coef_ = self.coef_.ravel()
        return self

    def _learner(self, X: Any) -> Any:
        if self.loss == "squared_epsilon_insensitive":
            if self.epsilon > 0:
                self._refuse(
                    "loss='squared_epsilon_insensitive' with epsilon > 0",
                    "Use epsilon=0, the squared error, or loss='epsilon_insensitive'.",
                )
            return Ridge(1 / (2 * float(self.C)), fit_intercept=False)
        return Learner(
            float(self.C),
            epsilon=float(self.epsilon),
            fit_intercept=False,
            tol=gap_tolerance(self.tol, X),
            max_iter=max(MAX_ITER, self.max_iter),
        )


def _check_scaling(face: Any) -> None:
    if face.fit_intercept and face.intercept_scaling <= 0:
        raise ValueError(
            f"Intercept scaling is {face.intercept_scaling!r} but needs to be greater than 0. To "
            "disable fitting an intercept, set fit_intercept=False."
        )


def _publish(face: Any, learner: Any, n_features: int, coef: Any) -> None:
    """Split the weight of the constant column from the others."""
    intercept = coef[:, n_features:].ravel() * face.intercept_scaling
    face._publish(
        learner, coef[:, :n_features], intercept if face.fit_intercept else 0.0, np.float64
    )
    face.n_iter_ = int(np.max(getattr(learner, "n_iter_", 1)))
