"""Logistic regression that chooses its own C: folds, strengths and classes in one pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from separable.certified.estimators.logistic_regression import (
    MULTI_CLASS,
    LogisticRegression,
    Logits,
    refuse_no_penalty,
)
from separable.certified.problem import Penalty
from separable.model.parameters import UNIT_INTERVAL, Requirement
from separable.model.predict.probability import probabilities
from separable.select.estimators.base_search import plain_of
from separable.select.estimators.c_search import CSearch, strengths_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.estimators.base import FoldData
    from separable.certified.fold_lanes import Learned
    from separable.fitting.splits import Split
    from separable.select.estimators.c_search import Table

__all__ = ["LogisticRegressionCV"]

#: Probabilities below this count as this, in the logarithm.
LEAST = float(np.finfo(np.float64).eps)

L1_RATIOS = Requirement(
    "a float from 0 to 1, or a sequence of such",
    lambda v: (
        UNIT_INTERVAL.holds(v)
        or (
            isinstance(v, list | tuple | np.ndarray)
            and len(v) > 0
            and all(UNIT_INTERVAL.holds(each) for each in v)
        )
    ),
)


def _score_of(table: Table) -> float:
    """Return the score that a table is chosen by; one that cannot be is chosen, to be refused."""
    return table.best_score if np.isfinite(table.mean).all() else np.inf


class LogisticRegressionCV(Logits, CSearch):
    """Logistic regression with the C that predicts best rows it has not seen.

    All folds, values of C and classes are learned side by side, in shared passes over the rows.
    Then all rows are learned with the best C, as ``LogisticRegression`` does. Of values that tie,
    the smallest C is taken.

    Parameters
    ----------
    Cs : int or sequence of float, default 10
        Strengths to try; an int is so many from 1e-4 to 1e4, evenly on a logarithmic scale.
    cv : int, splitter, list of splits or None, default None
        None: 5 folds of shuffled rows, or fewer where a class has fewer rows, at least 2. A number
        of folds is in the order of the rows, as scikit-learn's. Both with the same share of each
        class.
    scoring : str, callable or None, default None
        None: the log loss, negative. Otherwise a scorer of scikit-learn.
    select : {"min", "1se"}, default "min"
        The C of the best mean score, or the smallest whose mean score is within one standard
        error of the best.
    refit : bool, default True
        Learn all rows with the C that was chosen; False: there is no model.
    l1_ratios : float or sequence of float, default 0.0
        As ``l1_ratio`` in ``LogisticRegression``. Of several, that with the best score is taken,
        the first of those that tie; the tables below are its own.
    multi_class : {"multinomial", "ovr"}, default "multinomial"
        As in ``LogisticRegression``.
    fit_intercept : bool, default True
        Learn b.
    standardize : bool, default False
        Penalise the weights of standardised columns; each fold is standardised by the rows it
        trains on.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``; "balanced" by the rows that a
        fold trains on.
    tol : float or None, default None
        The requested relative gap of every model, each of which is then certified. None: models
        of the search stop at an estimated distance from the optimum that does not change their
        scores much, or at a gap of 1e-4 (sparse rows, l1); the last fit as in
        ``LogisticRegression``.
    max_iter : int, default 1000
        Most passes over the rows; with few columns, most steps, each of a few passes.
    random_state : int, RandomState or None, default 0
        The order of rows in passes, and the folds of ``cv=None``.
    n_jobs : int or None, default None
        Threads that share out the models; None: 1, -1: all. The answer has the same bits with any
        number.
    callback : callable, optional
        Called with the number of a pass and the relative gap so far, for each block of models;
        ``True`` ends its work.

    Attributes
    ----------
    C_ : float
        The C that was chosen.
    l1_ratio_ : float
        The share of l1 that was chosen, or given.
    l1_ratios_ : ndarray
        All that were tried.
    best_score_ : float
        Its mean score.
    Cs_ : ndarray of shape (S,)
    scores_ : ndarray of shape (F, S)
        Of each fold and C; the larger the better.
    cv_results_ : dict
        ``C``, ``mean_score``, ``standard_error``, one number a C, and ``fold_scores``, (S, F).
    certificates_path_ : ndarray of Certificate, shape (F, S, 1) or (F, S, k)
        With ``tol``: of each fold, C and model, one for classes learned together; None for a class
        that a fold has not learned.
    coefs_paths_ : ndarray of shape (F, S, k, d + 1)
        Weights, then intercepts; up to 10 million numbers.
    n_iter_ : ndarray of shape (F, S)
        Passes over the rows.
    model_, certificate_, certificates_, coef_, intercept_, classes_
        Of the last fit, as in ``LogisticRegression``.
    evidence_ : dict
        Those of ``LogisticRegression``, and ``C``, ``best_score``, ``standard_error``, ``scoring``,
        ``validation``, ``at_edge`` (whether the best C is the "smallest" or the "largest" that was
        tried: a ``GridEdgeWarning`` too), and ``search``: how many models there were, and with
        ``tol`` how many converged, and the worst gap.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = LogisticRegressionCV(Cs=[0.01, 0.1, 1, 10], standardize=True).fit(X, y)
    >>> search.C_, search.scores_.shape
    (1.0, (5, 4))
    >>> search.cv_results_["mean_score"].round(3)
    array([-0.177, -0.094, -0.07 , -0.113])
    >>> search.certificate_.converged
    True
    """

    def __init__(
        self,
        Cs: Any = 10,
        *,
        cv: Any = None,
        scoring: Any = None,
        select: str = "min",
        refit: bool = True,
        l1_ratios: Any = 0.0,
        multi_class: str = "multinomial",
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Any = None,
        tol: float | None = None,
        max_iter: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
        callback: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.select = select
        self.refit = refit
        self.l1_ratios = l1_ratios
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    _default_scoring = "neg_log_loss"
    _requirements: ClassVar[dict[str, Requirement]] = {
        **CSearch._requirements,
        "l1_ratios": L1_RATIOS,
        "multi_class": MULTI_CLASS,
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        refuse_no_penalty(self, strengths_of(self.Cs), self.l1_ratios)

    def _penalty(self) -> Penalty:
        """Return the penalty that is tried, or was chosen; before that the first to try."""
        now: float | None = getattr(self, "_l1_ratio", None)
        return Penalty(self._l1_ratios[0] if now is None else now)

    @property
    def _l1_ratios(self) -> list[float]:
        return [float(each) for each in np.atleast_1d(self.l1_ratios)]

    def _search(self, fold_data: FoldData, splits: list[Split], X: Any) -> Table:
        """Search with each share of l1 and keep the best."""
        tables = []
        for ratio in self._l1_ratios:
            self._l1_ratio = ratio
            tables.append(replace(super()._search(fold_data, splits, X), l1_ratio=ratio))
        best = int(np.argmax([_score_of(table) for table in tables]))
        self._l1_ratio = self._l1_ratios[best]
        return tables[best]

    def _found(self, table: Table) -> dict[str, Any]:
        return {**super()._found(table), "l1_ratio": table.l1_ratio}

    @property
    def l1_ratios_(self) -> NDArray[np.float64]:
        """The shares of l1 that were tried."""
        self._tabled()
        return np.array(self._l1_ratios)

    @property
    def l1_ratio_(self) -> float:
        """The share of l1 that was chosen."""
        return self._tabled().l1_ratio

    def _plain(self) -> LogisticRegression:
        return plain_of(self, LogisticRegression, l1_ratio=self._penalty().l1_ratio)

    def _shares_by(self) -> Literal["logistic", "softmax"]:
        return "softmax" if self._is_joint() else "logistic"

    def _default_score(self, learned: Learned, fold_data: FoldData, split: Split) -> float:
        """Return the log loss, negative: of a class that the fold has not learned, log(eps)."""
        code = fold_data.target[split.test]
        shares = probabilities(learned.scores, len(learned.codes), self._shares_by())
        index = np.searchsorted(learned.codes, code)
        known = np.isin(code, learned.codes)
        fraction = np.where(known, shares[np.arange(len(code)), np.where(known, index, 0)], 0.0)
        weight = None if fold_data.weight is None else fold_data.weight[split.test]
        return float(np.average(np.log(np.clip(fraction, LEAST, 1.0 - LEAST)), weights=weight))
