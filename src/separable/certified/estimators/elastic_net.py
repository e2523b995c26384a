"""The elastic net: least squares with an l1 and an l2 penalty, with a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from separable.accepted_parameters import accepts
from separable.certified.estimators.base_elastic_net import PenalisedSquares
from separable.certified.estimators.sign_constraints import check_constrained, ridge_of
from separable.fitting.base import with_parameters
from separable.model.parameters import UNIT_INTERVAL, Requirement
from separable.penalties.elastic_net import ElasticNetPenalty

__all__ = ["ElasticNet"]


@accepts("precompute", "copy_X", "random_state", "selection")
@with_parameters
class ElasticNet(PenalisedSquares):
    """Least squares with a mixture of the l1 and the l2 penalty.

    Minimises 1/(2 W) sum_i c_i (y_i - w.x_i - b)^2 + alpha p(w), with the penalty
    p(w) = l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2, c_i the weight of a row, 1 by default, and W
    their sum: the objective of scikit-learn's ``ElasticNet``. b is never penalised. The l1 part
    makes weights 0; the l2 part shares a weight out among columns that say the same, and makes the
    optimum unique.

    Parameters
    ----------
    l1_ratio : float
        From 0, the l2 penalty alone, to 1, that of ``Lasso``.
    monotonic_cst : array-like of int, or mapping of column to int, optional
        The sign of the weight of each column: 1, predictions increase with the column, -1, they
        decrease, 0, either. With ``l1_ratio=0``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNet(alpha=0.01, l1_ratio=0.9).fit(X, y)
    >>> model.coef_.round(1)
    array([  15.6, -134.7,  394.4,  249.4,  -15.2,  -59.3, -177.2,  117.7,
            337.9,  107.8])
    >>> model.certificate_.converged, model.evidence_["nonzeros"]
    (True, 10)
    """

    _: KW_ONLY
    l1_ratio: float = 0.5
    monotonic_cst: Any = None

    _requirements: ClassVar[dict[str, Requirement]] = {"l1_ratio": UNIT_INTERVAL}

    def _ratio(self) -> float:
        return float(self.l1_ratio)

    def _penalty(self) -> ElasticNetPenalty:
        return ridge_of(self, super()._penalty())

    def _check_constraints(self) -> None:
        is_ridge = self.l1_ratio == 0 and self.alpha > 0 and not self.positive
        remedy = "l1_ratio=0, positive=False and alpha above 0"
        check_constrained(self, is_ridge=bool(is_ridge), remedy=remedy)
