"""The group lasso (Yuan and Lin, 2006)."""

from __future__ import annotations

from separable.certified.estimators.base_group_lasso import GroupLearner
from separable.fitting.base import with_parameters
from separable.losses.loss import SQUARED_ERROR, Loss

__all__ = ["GroupLasso"]


@with_parameters
class GroupLasso(GroupLearner):
    """The group lasso: least squares with group-wise sparsity, with a certificate.

    Minimises (1/2W) sum_i c_i (y_i - w.x_i - b)^2 + alpha sum_g sqrt(p_g) |w_g|, with c_i the
    weight of a row, 1 by default, W their sum, and |w_g| the length of the p_g weights of a group.
    b is never penalised. With groups of one column it is the lasso.

    Parameters
    ----------
    groups : None, "columns", array-like or list of lists
        Which columns go together: a label for each column, such as ``encoder.sources``, or lists of
        columns by number (a column that is in none is alone). "columns": those that one raw column
        became, so that a category enters or leaves whole; an encoder has to say it, which
        ``TableRegressor`` sees to. None: each column is alone.

    Examples
    --------
    >>> import numpy as np
    >>> from separable import GroupLasso
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> y = X @ [2.0, 1.0, 0.1, 0.0]
    >>> model = GroupLasso(0.5, groups=["size", "size", "colour", "colour"]).fit(X, y)
    >>> model.kept_groups_, model.dropped_groups_
    (['size'], ['colour'])
    >>> model.certificate_.relative_gap < 1e-6
    True
    """

    _estimator_type = "regressor"

    alpha: float = 1.0

    def _loss(self) -> Loss:
        return SQUARED_ERROR
