"""Regression by stochastic gradient descent."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.model.parameters import AVERAGE, Requirement, one_of
from separable.online.base import partial_fit_numbers
from separable.online.base_sgd import LOSSES, SGDBase

__all__ = ["SGDRegressor"]


@accepts("verbose")
@with_parameters
class SGDRegressor(SGDBase):
    """Linear regression trained by stochastic gradient descent.

    Minimizes (1/n) sum of loss(w.x_i + b, y_i) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2),
    one row at a time; b is never penalized. With the default schedule and no penalty neither the
    columns nor y need scaling.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}
        (s - y)^2 / 2; quadratic up to ``epsilon``, linear beyond; max(0, |s - y| - epsilon); its
        square.
    epsilon : float
        Parameter of all but "squared_error", in units of y.
    validation_fraction : float
        Fraction of the rows to hold out.
    average : "auto", bool or int
        "auto": ``fit`` returns, and continues from, the mean of the weights over all epochs but
        the first, with the schedule "adaptive" and no l1 penalty; streams and other schedules do
        not average. True: average over all steps; an int: from that step on.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        Those of ``model_``, of shapes (d,) and (1,).
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

    _estimator_type = "regressor"

    loss: str = "squared_error"
    _: KW_ONLY
    power_t: float = 0.25
    average: bool | int | str = "auto"

    _requirements: ClassVar[dict[str, Requirement]] = {
        "loss": one_of(*(name for name, traits in LOSSES.items() if not traits.classes_only)),
        "average": Requirement(
            "'auto', a bool or an int >= 0",
            lambda v: v == "auto" if isinstance(v, str) else AVERAGE.holds(v),
        ),
    }

    partial_fit = partial_fit_numbers
