"""The elastic net that chooses its own alpha: folds and alphas from sums of products of columns."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from separable.accepted_parameters import accepts
from separable.certified.estimators.elastic_net import ElasticNet
from separable.fitting.base import with_parameters
from separable.model.parameters import Requirement
from separable.select.estimators.alpha_search import AlphaSearch
from separable.select.estimators.base_search import L1_RATIOS

__all__ = ["ElasticNetCV"]


@accepts("n_alphas", "precompute", "copy_X", "verbose", "selection")
@with_parameters
class ElasticNetCV(AlphaSearch):
    """The elastic net with the alpha, and the l1_ratio, that predict best rows they have not seen.

    With many more rows than columns the rows are read once, for the products of columns of each
    fold: what a fold learns from is merged from the sums of the others, all alphas are learned from
    them, each with its certificate, and the error of the rows held out follows from theirs. Where
    sums lack the digits the rows are read again. Then all rows are learned with the best alpha, as
    ``ElasticNet`` does. Of alphas that tie the largest is taken.

    Parameters
    ----------
    l1_ratio : float or sequence of float
        Mixtures of the l1 and the l2 penalty to try, each with its own alphas.
    select : {"min", "1se"}
        The alpha of the best mean score, or the largest whose mean score is within one standard
        error of the best, of the best l1_ratio.
    tol : float or None
        Requested relative duality gap, as in ``ElasticNet``.

    Attributes
    ----------
    l1_ratio_ : float
        The l1_ratio that was chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = ElasticNetCV(l1_ratio=[0.5, 0.9, 1.0]).fit(X, y)
    >>> round(search.alpha_, 3), search.mse_path_.shape
    (0.028, (3, 100, 5))
    >>> search.certificate_.converged, search.evidence_["nonzeros"]
    (True, 8)
    """

    _: KW_ONLY
    l1_ratio: Any = 0.5

    _kind, _ratios = ElasticNet, "l1_ratio"
    _requirements: ClassVar[dict[str, Requirement]] = {"l1_ratio": L1_RATIOS}

    @property
    def l1_ratio_(self) -> float:
        """The l1_ratio that was chosen."""
        return self._searched().ratio
