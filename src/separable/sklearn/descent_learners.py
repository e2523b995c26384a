"""Our stochastic gradient descent with scikit-learn's stopping rule.

The classes have the names of our learners, because models and files name their learner.
"""

from __future__ import annotations

from typing import Any

from separable.online import sgd_classifier, sgd_regressor

__all__ = ["SGDClassifier", "SGDRegressor"]


class _AbsoluteTolerance:
    """A learner whose ``tol`` is the fall of the loss itself, as in scikit-learn."""

    def smallest_fall(self: Any, first_loss: float) -> float:
        """Return by how much the loss must fall in an epoch."""
        del first_loss
        return 0.0 if self.tol is None else float(self.tol)


class SGDClassifier(_AbsoluteTolerance, sgd_classifier.SGDClassifier):
    """Classification whose tolerance is absolute."""


class SGDRegressor(_AbsoluteTolerance, sgd_regressor.SGDRegressor):
    """Regression whose tolerance is absolute."""
