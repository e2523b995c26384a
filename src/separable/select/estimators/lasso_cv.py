"""The lasso that chooses its own alpha: folds and alphas from sums of products of columns."""

from __future__ import annotations

from separable.accepted_parameters import accepts
from separable.certified.estimators.lasso import Lasso
from separable.fitting.base import with_parameters
from separable.select.estimators.alpha_search import AlphaSearch

__all__ = ["LassoCV"]


@accepts("n_alphas", "precompute", "copy_X", "verbose", "selection")
@with_parameters
class LassoCV(AlphaSearch):
    """The lasso with the alpha that predicts best rows it has not seen.

    With many more rows than columns the rows are read once, for the products of columns of each
    fold: what a fold learns from is merged from the sums of the others, all alphas are learned from
    them, each with its certificate, and the error of the rows held out follows from theirs. Where
    sums lack the digits the rows are read again. Then all rows are learned with the best alpha, as
    ``Lasso`` does. Of alphas that tie the largest is taken.

    Parameters
    ----------
    tol : float or None
        Requested relative duality gap, as in ``Lasso``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = LassoCV().fit(X, y)
    >>> round(search.alpha_, 3), search.mse_path_.shape
    (0.028, (100, 5))
    >>> search.certificate_.converged, search.evidence_["nonzeros"]
    (True, 8)
    """

    _kind, _ratios = Lasso, 1.0
