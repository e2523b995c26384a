"""Regression by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from separable.data.rows import as_rows
from separable.fitting.targets import check_numbers
from separable.model.parameters import Requirement, one_of
from separable.online.base_regressor import OnlineRegressor
from separable.online.base_sgd import LOSSES, SGDBase, Targets

__all__ = ["SGDRegressor"]


class SGDRegressor(SGDBase, OnlineRegressor):
    """A linear regressor on any loss, by stochastic gradient descent.

    Minimises (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalised. With the default schedule and no penalty neither the
    columns nor y need scaling.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive"}, default "squared_error"
        (s - y)^2 / 2; the same with straight lines beyond ``epsilon``; max(0, |s - y| - epsilon).
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
        Of "huber" and "epsilon_insensitive", in units of y.
    random_state : int, RandomState or None, default 0
        The seed of the shuffles and of the held-out part.
    learning_rate : {"adaptive", "constant", "invscaling", "optimal"}, default "adaptive"
        "adaptive": a step for each weight from what its column and its gradients were so far, see
        docs/learners/sgd_classifier.md; it needs no tuning. "constant": eta0. "invscaling":
        eta0 / t^power_t. "optimal": 1 / (alpha (t0 + t - 1)), as scikit-learn's. (Its "adaptive"
        is another.)
    eta0 : float or None, default None
        The step; None: 0.15 for "adaptive", else 0.01. Not with "optimal", which has its own.
    power_t : float, default 0.25
        Of "invscaling".
    early_stopping : bool, default False
        Hold out a part of the rows, stop by its loss instead of the training loss, and end with
        the weights that were best on it.
    validation_fraction : float, default 0.1
        That part.
    n_iter_no_change : int, default 5
        See ``tol``.
    warm_start : bool, default False
        ``fit`` goes on from the previous fit.
    average : bool or int, default False
        End with the mean of the weights after each step; an int: of the steps from that one on.
        Not with an l1 penalty.

    Attributes
    ----------
    model_ : LinearModel
        What was learned, to predict, explain, save and merge.
    coef_, intercept_ : ndarray
        Views of it, (d,) and (1,).
    n_iter_ : int
        Epochs made.
    evidence_ : dict
        As of ``SGDClassifier``.

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
        n_iter_no_change: int = 5,
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
        """Learn from all rows, epoch after epoch.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            float32 and float64 are learned from as they are.
        y : array-like of shape (n,)
            The number to predict for each row.
        coef_init : array-like of shape (d,), optional
            The starting point w; default zeros.
        intercept_init : array-like of shape (1,), optional
            The starting point b; default zero.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k whole, 0 <= f < 1) is presented k times in place and once
            more with its gradient scaled by f; a row of weight 0 is absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = as_rows(X)
        y = check_numbers(y, rows.n_rows, type(self).__name__)
        targets = Targets(y, self._weigh(y, sample_weight), None)
        return self._fit_rows(X, rows, targets, coef_init, intercept_init)
