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

#: Losses whose model says sigma(score) is a probability.
PROBABILISTIC = ("log_loss", "sigmoid_mse")


def _has_probabilities(learner: SGDClassifier) -> bool:
    if learner.loss not in PROBABILISTIC:
        raise AttributeError(
            f"probability estimates are not available for loss={learner.loss!r}: its scores are "
            "not log-odds. Use loss='log_loss', or decision_function."
        )
    return True


class SGDClassifier(SGDBase, OnlineClassifier):
    """A linear classifier on any loss, by stochastic gradient descent.

    Minimises (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalised. Three classes and more: one model a class against the
    rest, side by side in lanes. With the default schedule and no penalty the columns need no
    scaling.

    Parameters
    ----------
    loss : str, default "hinge"
        "hinge" (linear SVM), "log_loss" (logistic regression), "perceptron", "squared_hinge",
        "sigmoid_mse", which is (t - sigma(s))^2 for t = 0, 1 and not convex: only a local optimum
        can be hoped for; or, on y = -1, +1, "squared_error", "huber", "epsilon_insensitive".
    penalty : {"auto", "l2", "l1", "elasticnet"} or None, default "auto"
        "auto" is "l2" where ``alpha`` is given, else no penalty, unlike scikit-learn's default: a
        penalty compares weights in the units of their columns, so it needs scaled columns.
    alpha : float or None, default None
        The level of the penalty, 1e-4 if a penalty is named without it; also in the steps of
        ``learning_rate="optimal"``.
    l1_ratio : float, default 0.15
        The fraction of l1 in "elasticnet".
    fit_intercept : bool, default True
        Whether to learn b.
    max_iter : int, default 1000
        The most epochs.
    tol : float or None, default 1e-3
        Stop when for ``n_iter_no_change`` epochs the loss did not fall by more than ``tol`` times
        the loss of the first epoch. None: make ``max_iter`` epochs.
    shuffle : bool, default True
        Shuffle the rows before each epoch; otherwise take them in the given order.
    epsilon : float, default 0.1
        Of "huber" and "epsilon_insensitive".
    random_state : int, RandomState or None, default 0
        The seed of the shuffles and of the held-out part.
    learning_rate : {"adaptive", "constant", "invscaling", "optimal"}, default "adaptive"
        "adaptive": a step for each weight from what its column and its gradients were so far, see
        docs/learners/sgd_classifier.md; it needs no tuning. "constant": eta0. "invscaling":
        eta0 / t^power_t. "optimal": 1 / (alpha (t0 + t - 1)), as scikit-learn's. (Its "adaptive"
        is another.)
    eta0 : float or None, default None
        The step; None: 0.15 for "adaptive", else 0.01. Not with "optimal", which has its own.
    power_t : float, default 0.5
        Of "invscaling".
    early_stopping : bool, default False
        Hold out a part of the rows, stop by its loss instead of the training loss, and end with
        the weights that were best on it.
    validation_fraction : float, default 0.1
        That part, of each class.
    n_iter_no_change : int, default 5
        See ``tol``.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``.
    warm_start : bool, default False
        ``fit`` goes on from the previous fit.
    average : bool or int, default False
        End with the mean of the weights after each step; an int: of the steps from that one on.
        Not with an l1 penalty.

    Attributes
    ----------
    model_ : LinearModel
        What was learned, to predict, explain, save and merge.
    coef_, intercept_, classes_ : ndarray
        Views of it.
    n_iter_ : int
        Epochs made.
    evidence_ : dict
        ``epochs``, ``converged``, ``losses`` (the mean loss of each epoch, each row's before it
        is learned from), with early stopping ``validation_losses`` and ``best_epoch``;
        ``progressive``: the mean loss before learning, over rows and models, after 1, 2, 4, 8,
        ... rows that were new; ``convex``; ``rows_seen``.

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
        n_iter_no_change: int = 5,
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
        """Learn from all rows, epoch after epoch.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            float32 and float64 are learned from as they are.
        y : array-like of shape (n,)
            The class of each row; at least two classes.
        coef_init : array-like of shape (k, d), optional
            The starting point w; default zeros.
        intercept_init : array-like of shape (k,), optional
            The starting point b; default zeros.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k whole, 0 <= f < 1) is presented k times in place and once
            more with its gradient scaled by f; a row of weight 0 is absent.

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
        """Return the probability of each class, (n, K): sigma(score), divided by their sum."""
        return self._weights_only().predict_proba(self._finite_rows(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities, exact where these are tiny, (n, K)."""
        return model_log_probabilities(self._weights_only(), self.decision_function(X))

    def _link(self) -> Link:
        return "logistic" if self._as_learned("loss") in PROBABILISTIC else "score"
