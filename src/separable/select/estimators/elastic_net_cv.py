"""The elastic net that chooses its own alpha: folds and alphas from sums of products of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.certified.estimators.elastic_net import ElasticNet
from separable.model.parameters import UNIT_INTERVAL, Requirement
from separable.select.estimators.alpha_search import AlphaSearch
from separable.select.estimators.base_search import plain_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["ElasticNetCV"]


def _is_ratios(value: Any) -> bool:
    if UNIT_INTERVAL.holds(value):
        return True
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    whole = numbers.ndim == 1 and len(numbers) > 0
    return whole and bool(((numbers >= 0) & (numbers <= 1)).all())


RATIOS = Requirement("a float from 0 to 1 or a sequence of such", _is_ratios)


class ElasticNetCV(AlphaSearch):
    """The elastic net with the alpha, and the l1_ratio, that predict best rows they have not seen.

    With many more rows than columns the rows are read once, for the products of columns of each
    fold: what a fold learns from is merged from the sums of the others, all alphas are learned from
    them, each with its certificate, and the error of the rows held out follows from theirs. Where
    sums lack the digits the rows are read again. Then all rows are learned with the best alpha, as
    ``ElasticNet`` does. Of alphas that tie the largest is taken.

    Parameters
    ----------
    alphas : int or sequence of float, default 100
        Strengths to try; an int is so many, evenly on a logarithmic scale, from the smallest alpha
        that makes all weights 0 down to ``eps`` times it.
    l1_ratio : float or sequence of float, default 0.5
        Mixtures of the l1 and the l2 penalty to try, each with its own alphas.
    eps : float, default 1e-3
        The smallest alpha over the largest, where ``alphas`` is an int.
    cv : int, splitter, list of splits or None, default None
        None: 5 folds of shuffled rows. A number of folds is in the order of the rows, as
        scikit-learn's.
    scoring : str, callable or None, default None
        None: the mean squared error, negative. Otherwise a scorer of scikit-learn.
    select : {"min", "1se"}, default "min"
        The alpha of the best mean score, or the largest whose mean score is within one standard
        error of the best, of the best l1_ratio.
    fit_intercept : bool, default True
        Learn b.
    standardize : bool, default False
        Penalise the weights of standardised columns; each fold is standardised by the rows it
        trains on.
    positive : bool, default False
        Allow no weight below 0.
    tol : float or None, default None
        The relative gap asked for, as in ``ElasticNet``.
    max_iter : int, default 1000
        Most passes over the columns, of each model.
    random_state : int, RandomState or None, default 0
        The folds of ``cv=None``.
    n_jobs : int or None, default None
        Threads that share out the folds; None: 1, -1: all. The answer has the same bits with any
        number.
    callback : callable, optional
        Called with the number of a pass and the relative gap so far, for each model; ``True`` ends
        the work.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        Those that were chosen.
    best_score_ : float
        Its mean score.
    alphas_ : ndarray of shape (S,) or (R, S)
    mse_path_ : ndarray of shape (S, F) or (R, S, F)
        The mean squared error of each fold.
    scores_ : ndarray of shape (F, S) or (F, R, S)
        Of each fold and alpha; the larger the better.
    cv_results_ : dict
        ``alpha``, ``l1_ratio``, ``mean_score``, ``standard_error``, one number each, and
        ``fold_scores``, (R S, F).
    certificates_path_ : ndarray of Certificate, shape (F, S) or (F, R, S)
        Of each fold and alpha.
    coefs_paths_ : ndarray of shape (F, S, d + 1) or (F, R, S, d + 1)
        Weights, then intercepts; up to 10 million numbers.
    n_iter_ : ndarray of shape (F, S) or (F, R, S)
        Passes over the columns.
    model_, certificate_, dual_gap_, coef_, intercept_
        Of the last fit, as in ``ElasticNet``.
    evidence_ : dict
        Those of ``ElasticNet``, and ``alpha``, ``l1_ratio``, ``best_score``, ``standard_error``,
        ``scoring``, ``validation``, ``at_edge`` (whether the best alpha is the "smallest" or the
        "largest" that was tried; of alphas that were given a ``GridEdgeWarning`` too), and
        ``search``: how many models there were, how many converged, and the worst gap.

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

    _requirements: ClassVar[dict[str, Requirement]] = {
        "l1_ratio": RATIOS,
        **AlphaSearch._requirements,
    }

    def __init__(
        self,
        alphas: Any = 100,
        *,
        l1_ratio: Any = 0.5,
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
        self.l1_ratio = l1_ratio
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

    @property
    def l1_ratio_(self) -> float:
        """The l1_ratio that was chosen."""
        return self._tabled().ratio

    def _ratios(self) -> NDArray[np.float64]:
        return np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))

    def _plain(self, alpha: float, ratio: float) -> ElasticNet:
        return plain_of(self, ElasticNet, alpha=alpha, l1_ratio=ratio)
