"""Linear support vector regression, with a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from separable.accepted_parameters import accepts
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.linear_svm import PENALISED
from separable.fitting.base import with_parameters
from separable.fitting.fold_fits import FoldData
from separable.losses.loss import Loss, epsilon_insensitive
from separable.model.parameters import NOT_NEGATIVE, Requirement

__all__ = ["LinearSVR"]


@accepts("dual", "intercept_scaling", "verbose", "loss")
@with_parameters
class LinearSVR(CertifiedEstimator):
    """Linear support vector regression with a certificate of suboptimality.

    Minimises 1/2 |w|^2 + C sum_i c_i max(0, |y_i - w.x_i - b| - epsilon) with c_i the weight of a
    row, 1 by default: errors up to epsilon cost nothing, larger ones in proportion. This is the
    objective of scikit-learn's ``SVR(kernel="linear")``; its ``LinearSVR`` penalises b too.

    Parameters
    ----------
    epsilon : float
        Errors up to it cost nothing, in the units of y.
    tol : float or None
        The requested relative gap. None: 1e-6, and up to 20 000 numbers to rounding.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100).fit(X, y)
    >>> model.certificate_.relative_gap < 1e-6
    True
    >>> round(model.score(X, y), 2)
    0.48
    """

    _estimator_type = "regressor"
    _takes_targets = True

    C: float = 1.0
    _: KW_ONLY
    epsilon: float = 0.0
    random_state: Any = 0
    n_jobs: int | None = None

    _requirements: ClassVar[dict[str, Requirement]] = {
        "C": PENALISED,
        "epsilon": NOT_NEGATIVE,
    }

    def _loss(self) -> Loss:
        return epsilon_insensitive(float(self.epsilon))

    def _has_left_out(self, data: FoldData) -> bool:
        del data
        return True
