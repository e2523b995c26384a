"""Classification by stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils.metaestimators import available_if

from separable.data.rows import as_rows
from separable.fitting.targets import check_labels
from separable.model.parameters import CLASS_WEIGHT, Requirement, one_of
from separable.model.predict.probability import model_log_probabilities
from separable.online.base_classifier import OnlineClassifier
from separable.online.base_sgd import LOSSES, SGDBase, Targets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.model.linear_model import Link

__all__ = ["SGDClassifier"]

#: Losses for which sigma(score) is a probability.
PROBABILISTIC = ("log_loss", "sigmoid_mse")


def _has_probabilities(learner: SGDClassifier) -> bool:
    if learner.loss not in PROBABILISTIC:
        raise AttributeError(
            f"probability estimates are not available for loss={learner.loss!r}: its scores are "
            "not log-odds. Use loss='log_loss', or decision_function."
        )
    return True


class SGDClassifier(SGDBase, OnlineClassifier):
    """Linear classifier trained by stochastic gradient descent.

    Minimizes (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalized. Three or more classes are fitted one-vs-rest, side by
    side in lanes. With the default schedule and no penalty the columns need no scaling.

    Parameters
    ----------
    loss : str, default "hinge"
        "hinge" (linear SVM), "log_loss" (logistic regression), "perceptron", "squared_hinge",
        "sigmoid_mse", which is (t - sigma(s))^2 for t = 0, 1 and not convex, so it may end in a
        local minimum; or, on y = -1, +1, "squared_error", "huber", "epsilon_insensitive".
    penalty : {"auto", "l2", "l1", "elasticnet"} or None, default "auto"
        "auto" is "l2" if ``alpha`` is set, else no penalty, unlike scikit-learn's default: a
        penalty depends on the units of the columns, so it needs scaled columns.
    alpha : float or None, default None
        Regularization parameter; 1e-4 if a penalty is set without it. ``learning_rate="optimal"``
        uses it too.
    l1_ratio : float, default 0.15
        Weight of the l1 term in "elasticnet".
    fit_intercept : bool, default True
        Whether to learn b.
    max_iter : int, default 1000
        Maximum number of epochs.
    tol : float or None, default 1e-3
        Stop when the loss has not fallen by more than ``tol`` times the loss of the first epoch
        for ``n_iter_no_change`` epochs. None: run ``max_iter`` epochs.
    shuffle : bool, default True
        Shuffle the rows before each epoch; otherwise take them in the given order.
    epsilon : float, default 0.1
        Parameter of "huber" and "epsilon_insensitive".
    random_state : int, RandomState or None, default 0
        Seed for shuffling and for the held-out rows.
    learning_rate : {"adaptive", "constant", "invscaling", "optimal"}, default "adaptive"
        "adaptive": a per-weight step size from the column values and gradients so far, see
        docs/learners/sgd_classifier.md; it needs no tuning. "constant": eta0. "invscaling":
        eta0 / t^power_t. "optimal": 1 / (alpha (t0 + t - 1)), as in scikit-learn. (Its "adaptive"
        is a different schedule.)
    eta0 : float or None, default None
        Step size; None: 0.15 for "adaptive", else 0.01. Must be None with "optimal".
    power_t : float, default 0.5
        Exponent of "invscaling".
    early_stopping : bool, default False
        Hold out some rows, stop by the loss on them instead of the training loss, and return the
        weights with the smallest held-out loss.
    validation_fraction : float, default 0.1
        Fraction of the rows of each class to hold out.
    n_iter_no_change : int, default 3
        See ``tol``.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``.
    warm_start : bool, default False
        ``fit`` continues from the previous fit.
    average : bool or int, default False
        Average the weights over the steps; an int: from that step on. Not available with an l1
        penalty.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model; it predicts, explains, saves and merges.
    coef_, intercept_, classes_ : ndarray
        Those of ``model_``.
    n_iter_ : int
        Number of epochs.
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

    _requirements: ClassVar[dict[str, Requirement]] = {
        "loss": one_of(*LOSSES),
        **SGDBase._requirements,
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "auto",
        alpha: float | None = None,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        epsilon: float = 0.1,
        random_state: Any = 0,
        learning_rate: str = "adaptive",
        eta0: float | None = None,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            float32 and float64 are used without conversion.
        y : array-like of shape (n,)
            The class of each row; at least two classes.
        coef_init : array-like of shape (k, d), optional
            Initial weights; default zeros.
        intercept_init : array-like of shape (k,), optional
            Initial intercepts; default zeros.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k an integer, 0 <= f < 1) is presented k times in a row and once
            more with its gradient scaled by f; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = as_rows(X)
        y = check_labels(y, rows.n_rows, type(self).__name__)
        classes, label, counted = self._weigh(y, sample_weight)
        return self._fit_rows(X, rows, Targets(label, counted, classes), coef_init, intercept_init)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, (n, K): sigma(score), normalized to sum to 1."""
        return self._weights_only().predict_proba(self._finite_rows(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log-probabilities, (n, K), accurate also where a probability underflows."""
        return model_log_probabilities(self._weights_only(), self.decision_function(X))

    def _link(self) -> Link:
        return "logistic" if self._as_learned("loss") in PROBABILISTIC else "score"
