"""Logistic regression with a group lasso penalty."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from separable.certified.estimators.base_group_lasso import GroupLearner
from separable.fitting.base import with_parameters
from separable.losses.loss import LOGISTIC, Loss
from separable.model.linear_model import Link
from separable.model.parameters import CLASS_WEIGHT, Requirement

__all__ = ["GroupLassoClassifier"]


@with_parameters
class GroupLassoClassifier(GroupLearner):
    """Logistic regression with a group lasso penalty, with a certificate.

    Minimises (1/W) sum_i c_i log(1 + exp(-y_i (w.x_i + b))) + alpha sum_g sqrt(p_g) |w_g|, with
    y_i = -1, +1, c_i the weight of a row, 1 by default, W their sum, and |w_g| the length of the
    p_g weights of a group. b is never penalised. Three or more classes: one model a class,
    one-vs-rest.

    Parameters
    ----------
    groups : None, "columns", array-like or list of lists
        Which columns go together, as in `GroupLasso`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import GroupLassoClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> groups = ["mean"] * 10 + ["error"] * 10 + ["worst"] * 10
    >>> model = GroupLassoClassifier(0.08, groups=groups, standardize=True).fit(X, y)
    >>> model.dropped_groups_
    ['error']
    >>> model.certificate_.relative_gap < 1e-6
    True
    """

    _estimator_type = "classifier"

    _: KW_ONLY
    class_weight: Any = None

    _requirements: ClassVar[dict[str, Requirement]] = {"class_weight": CLASS_WEIGHT}

    def _loss(self) -> Loss:
        return LOGISTIC

    def _link(self) -> Link:
        return "logistic"
