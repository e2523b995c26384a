"""Our stochastic gradient descent with scikit-learn's stopping rule, sample weights and intercept.

The classes have the names of our learners, because models and files name their learner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.online import sgd_classifier, sgd_regressor
from separable.sklearn.base import Several, with_every_class

if TYPE_CHECKING:
    from typing import Self

    from separable.online.descent import Steps
    from separable.typing import Floats

__all__ = ["OneAgainstRest", "SGDClassifier", "SGDRegressor"]

#: Of the intercept with sparse rows, over that of the weights; and where gradients are cut.
SPARSE_INTERCEPT_RATE, LARGEST_GRADIENT = 0.01, 1e12


class _LikeScikitLearn:
    """A learner with scikit-learn's steps, whose ``tol`` is the fall of the loss itself."""

    #: Whether the rows are sparse.
    sparse_rows = False

    def smallest_fall(self: Any, first_loss: float) -> float:
        """Return by how much the loss must fall in an epoch."""
        del first_loss
        return 0.0 if self.tol is None else float(self.tol)

    def _steps(self) -> Steps:
        steps: Steps = super()._steps()  # type: ignore[misc]
        return steps._replace(
            one_step=True,
            intercept_rate=SPARSE_INTERCEPT_RATE if self.sparse_rows else 1.0,
            largest_gradient=LARGEST_GRADIENT,
        )

    def _optimal_start(self: Any) -> Any:
        """Return t0 of "optimal": the slope of the loss counts as 1, as scikit-learn has it."""
        alpha = float(self._level())
        return alpha**-0.75 if alpha > 0 else super()._optimal_start()  # type: ignore[misc]


class SGDClassifier(_LikeScikitLearn, sgd_classifier.SGDClassifier):
    """Classification with scikit-learn's steps."""


class SGDRegressor(_LikeScikitLearn, sgd_regressor.SGDRegressor):
    """Regression with scikit-learn's steps."""


class OneAgainstRest(Several):
    """A learner for each class against the rest: a class weight counts for its own rows alone.

    Parameters
    ----------
    learners : list of SGDClassifier
    classes : ndarray
    class_weights : ndarray
    """

    def __init__(self, learners: list[Any], classes: Any, class_weights: Floats) -> None:
        super().__init__(learners, classes)
        self.class_weights = class_weights

    @property
    def sparse_rows(self) -> bool:
        """Whether the rows are sparse."""
        return bool(self.learners[0].sparse_rows)

    @sparse_rows.setter
    def sparse_rows(self, value: bool) -> None:
        for each in self.learners:
            each.sparse_rows = value

    @property
    def evidence_(self) -> dict[str, bool]:
        """Whether all learners converged."""
        return {"converged": all(each.evidence_["converged"] for each in self.learners)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of all learners."""
        for each in self.learners:
            each.set_params(**params)
        return self

    def _binary(self, y: Any, sample_weight: Any) -> Any:
        """Yield for each class its learner, whether rows are of it, and their weights."""
        ones = np.ones(len(y)) if sample_weight is None else sample_weight
        for k, learner in enumerate(self.learners):
            label = (y == self.classes_[k]).astype(np.int64)
            yield k, learner, label, np.where(label, self.class_weights[k], 1.0) * ones

    def fit(self, X: Any, y: Any, coef: Any, intercept: Any, sample_weight: Any) -> Self:
        """Fit each learner to all rows."""
        for k, learner, label, weight in self._binary(y, sample_weight):
            w, b = (None if part is None else np.asarray(part)[[k]] for part in (coef, intercept))
            learner.fit(X, label, w, b, with_every_class(label, weight))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Fit each learner to the next rows."""
        first = {} if classes is None else {"classes": [0, 1]}
        for _, learner, label, weight in self._binary(y, sample_weight):
            learner.partial_fit(X, label, sample_weight=weight, **first)
        return self
