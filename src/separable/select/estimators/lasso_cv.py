"""The lasso that chooses its own alpha: folds and alphas from sums of products of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.certified.estimators.lasso import Lasso
from separable.select.estimators.alpha_search import AlphaSearch

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["LassoCV"]


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

    def __init__(
        self,
        alphas: Any = 100,
        *,
        eps: float = 1e-3,
        cv: Any = None,
        scoring: Any = None,
        select: str = "min",
        fit_intercept: bool = True,
        standardize: bool = False,
        positive: bool = False,
        tol: float | None = None,
        max_iter: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
        callback: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.scoring = scoring
        self.select = select
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
