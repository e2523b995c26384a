"""Classification by stochastic gradient descent."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.model.parameters import CLASS_WEIGHT, Requirement, one_of
from separable.online.base import partial_fit_classes
from separable.online.base_sgd import LOSSES, SGDBase

if TYPE_CHECKING:
    from separable.model.linear_model import Link

__all__ = ["SGDClassifier"]

#: Losses for which sigma(score) is a probability.
PROBABILISTIC = ("log_loss", "sigmoid_mse")


@accepts("verbose", "n_jobs")
@with_parameters
class SGDClassifier(SGDBase):
    """Linear classifier trained by stochastic gradient descent.

    Minimizes (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalized. Three or more classes are fitted one-vs-rest, side by
    side in lanes. With the default schedule and no penalty the columns need no scaling.

    Parameters
    ----------
    loss : str
        "hinge" (linear SVM), "log_loss" (logistic regression), "perceptron", "squared_hinge",
        "modified_huber", "sigmoid_mse", which is (t - sigma(s))^2 for t = 0, 1 and not convex, so
        it may end in a local minimum; or, on y = -1, +1, "squared_error", "huber",
        "epsilon_insensitive", "squared_epsilon_insensitive".
    epsilon : float
        Parameter of "huber" and the two epsilon-insensitive losses.
    validation_fraction : float
        Fraction of the rows of each class to hold out.

    Attributes
    ----------
    evidence_ : dict
        ``epochs``, ``converged``, ``losses`` (mean loss of each epoch, each row evaluated before
        its update), with early stopping ``validation_losses`` and ``best_epoch``;
        ``progressive``: progressive validation, the mean loss before the update over rows and
        models, after 1, 2, 4, 8, ... new rows; ``convex``; ``rows_seen``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import SGDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SGDClassifier(loss="log_loss").fit(X, y).score(X, y) > 0.95  # columns as they are
    True
    """

    _estimator_type = "classifier"

    loss: str = "hinge"
    _: KW_ONLY
    power_t: float = 0.5
    class_weight: Any = None
    average: bool | int = False

    _requirements: ClassVar[dict[str, Requirement]] = {
        "loss": one_of(*LOSSES),
        "class_weight": CLASS_WEIGHT,
    }

    partial_fit = partial_fit_classes

    def _has_probabilities(self) -> bool:
        if self.loss not in PROBABILISTIC:
            raise AttributeError(
                f"probability estimates are not available for loss={self.loss!r}: its scores are "
                "not log-odds. Use loss='log_loss', or decision_function."
            )
        return True

    def _link(self) -> Link:
        return "logistic" if self._as_learned("loss") in PROBABILISTIC else "score"
