"""The lasso, least squares with an l1 penalty, with a certificate."""

from __future__ import annotations

from separable.accepted_parameters import accepts
from separable.certified.estimators.base_elastic_net import PenalisedSquares
from separable.fitting.base import with_parameters

__all__ = ["Lasso"]


@accepts("precompute", "copy_X", "random_state", "selection")
@with_parameters
class Lasso(PenalisedSquares):
    """Least squares with an l1 penalty, which makes weights of columns 0 that help little.

    Minimises 1/(2 W) sum_i c_i (y_i - w.x_i - b)^2 + alpha |w|_1 with c_i the weight of a row, 1 by
    default, and W their sum: the objective of scikit-learn's ``Lasso``. b is never penalised.

    With many more rows than columns the rows are read once, for the products of columns, and once
    more for the certificate; otherwise they are read column by column.

    Parameters
    ----------
    alpha : float
        Multiplier of the penalty, above 0. From ``max_j |sum_i c_i (x_ij - mean_j) y_i| / W`` on
        all weights are 0. ``LassoCV`` chooses it; ``LeastSquares`` has no penalty.

    Attributes
    ----------
    dual_coef_ : ndarray, shape (1, n)
        The dual point that proves the certificate: its products with the columns are at most
        alpha.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Lasso(alpha=1.0).fit(X, y)
    >>> model.coef_.round(1)
    array([  0. ,   0. , 367.7,   6.3,   0. ,   0. ,   0. ,   0. , 307.6,   0. ])
    >>> model.certificate_.relative_gap < 1e-12
    True
    """
