"""Regression by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

from separable.estimator import RegressorMixin
from separable.model.parameters import AVERAGE, Requirement, one_of
from separable.online.base import partial_fit_numbers
from separable.online.base_sgd import LOSSES, SGDBase

__all__ = ["SGDRegressor"]


class SGDRegressor(RegressorMixin, SGDBase):
    """Linear regression trained by stochastic gradient descent.

    Minimizes (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalized. With the default schedule and no penalty neither the
    columns nor y need scaling.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive"}
        (s - y)^2 / 2; quadratic up to ``epsilon``, linear beyond; max(0, |s - y| - epsilon).
    epsilon : float
        Parameter of "huber" and "epsilon_insensitive", in units of y.
    validation_fraction : float
        Fraction of the rows to hold out.
    average : "auto", bool or int
        "auto": ``fit`` returns, and continues from, the mean of the weights over all epochs but
        the first, with the schedule "adaptive" and no l1 penalty; streams and other schedules do
        not average. True: average over all steps; an int: from that step on.

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
        "average": Requirement(
            "'auto', a bool or an int >= 0",
            lambda v: v == "auto" if isinstance(v, str) else AVERAGE.holds(v),
        ),
    }

    partial_fit = partial_fit_numbers

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "auto",
        alpha: float | None = None,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 2e-2,
        shuffle: bool = True,
        epsilon: float = 0.1,
        random_state: Any = 0,
        learning_rate: str = "adaptive",
        eta0: float | None = None,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        average: bool | int | str = "auto",
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
