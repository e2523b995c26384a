"""Our stochastic gradient descent with scikit-learn's stopping rule, sample weights and intercept.

The classes have the names of our learners, because models and files name their learner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.online import sgd_classifier, sgd_regressor

if TYPE_CHECKING:
    from separable.online.descent import Steps

__all__ = ["SGDClassifier", "SGDRegressor"]

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
