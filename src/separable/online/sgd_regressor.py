"""Regression by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from separable.data.rows import as_rows
from separable.fitting.targets import check_numbers
from separable.model.parameters import Requirement, one_of
from separable.online.base import OnlineRegressor
from separable.online.base_sgd import LOSSES, SGDBase, Targets

__all__ = ["SGDRegressor"]


class SGDRegressor(SGDBase, OnlineRegressor):
    """Linear regression trained by stochastic gradient descent.

    Minimizes (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalized. With the default schedule and no penalty neither the
    columns nor y need scaling.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default "squared_error"
        (s - y)^2 / 2; quadratic up to ``epsilon``, linear beyond; max(0, |s - y| - epsilon).
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
        Parameter of "huber" and "epsilon_insensitive", in units of y.
    random_state : int, RandomState or None, default 0
        Seed for shuffling and for the held-out rows.
    learning_rate : {"adaptive", "constant", "invscaling", "optimal"}, default "adaptive"
        "adaptive": a per-weight step size from the column values and gradients so far, see
        docs/learners/sgd_classifier.md; it needs no tuning. "constant": eta0. "invscaling":
        eta0 / t^power_t. "optimal": 1 / (alpha (t0 + t - 1)), as in scikit-learn. (Its "adaptive"
        is a different schedule.)
    eta0 : float or None, default None
        Step size; None: 0.15 for "adaptive", else 0.01. Must be None with "optimal".
    power_t : float, default 0.25
        Exponent of "invscaling".
    early_stopping : bool, default False
        Hold out some rows, stop by the loss on them instead of the training loss, and return the
        weights with the smallest held-out loss.
    validation_fraction : float, default 0.1
        Fraction of the rows to hold out.
    n_iter_no_change : int, default 3
        See ``tol``.
    warm_start : bool, default False
        ``fit`` continues from the previous fit.
    average : bool or int, default False
        Average the weights over the steps; an int: from that step on. Not available with an l1
        penalty.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model; it predicts, explains, saves and merges.
    coef_, intercept_ : ndarray
        Those of ``model_``, of shapes (d,) and (1,).
    n_iter_ : int
        Number of epochs.
    evidence_ : dict
        As for ``SGDClassifier``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import SGDRegressor
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> SGDRegressor().fit(X, y).score(X, y) > 0.5  # columns as they are
    True
    """

    _requirements: ClassVar[dict[str, Requirement]] = {
        "loss": one_of(*(name for name, traits in LOSSES.items() if not traits.classes_only)),
        **SGDBase._requirements,
    }

    def __init__(
        self,
        loss: str = "squared_error",
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
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
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
            The number to predict for each row.
        coef_init : array-like of shape (d,), optional
            Initial weights; default zeros.
        intercept_init : array-like of shape (1,), optional
            Initial intercept; default 0.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k an integer, 0 <= f < 1) is presented k times in a row and once
            more with its gradient scaled by f; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = as_rows(X)
        y = check_numbers(y, rows.n_rows, type(self).__name__)
        targets = Targets(y, self._weigh(y, sample_weight), None)
        return self._fit_rows(X, rows, targets, coef_init, intercept_init)
