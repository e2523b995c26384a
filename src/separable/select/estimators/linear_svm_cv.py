"""A linear support vector machine that chooses its own C: folds, strengths, classes in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.certified.estimators.linear_svm import LOSSES, PENALTIES, LinearSVM, check_penalty
from separable.model.parameters import Requirement, one_of
from separable.model.predict.probability import classes_of
from separable.select.estimators.base_search import plain_of
from separable.select.estimators.c_search import FINITE_C_GRID, CSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.certified.estimators.base import FoldData
    from separable.certified.fold_lanes import Learned
    from separable.certified.problem import Penalty
    from separable.fitting.splits import Split
    from separable.losses.base import Loss

__all__ = ["LinearSVMCV"]


class LinearSVMCV(CSearch):
    """A linear support vector machine with the C that predicts best rows it has not seen.

    All folds, strengths and classes are learned side by side, in one pass over the rows each time,
    and each with its own certificate. Then all rows are learned with the best C, as ``LinearSVM``
    does. Of strengths that tie, the smallest C is taken.

    Parameters
    ----------
    Cs : int or sequence of float, default 10
        Strengths to try; an int is so many from 1e-4 to 1e4, evenly on a logarithmic scale.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        What a row costs that is not on its side of the margin.
    penalty : {"l2", "l1"}, default "l2"
        What weights cost; "l1" goes with ``loss="squared_hinge"``.
    cv : int, splitter, list of splits or None, default None
        None: 5 folds of shuffled rows, or fewer where a class has fewer rows, at least 2. A number
        of folds is in the order of the rows, as scikit-learn's. Both with the same share of each
        class.
    scoring : str, callable or None, default None
        None: the accuracy. Otherwise a scorer of scikit-learn.
    select : {"min", "1se"}, default "min"
        The C of the best mean score, or the smallest whose mean score is within one standard
        error of the best.
    refit : bool, default True
        Learn all rows with the C that was chosen; False: there is no model.
    fit_intercept : bool, default True
        Learn b.
    standardize : bool, default False
        Penalise the weights of standardised columns; each fold is standardised by the rows it
        trains on.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``; "balanced" by the rows that a
        fold trains on.
    tol : float or None, default None
        The relative gap asked for. None: 1e-4 in the search; in the last fit as ``LinearSVM``.
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
    C_, best_score_, Cs_, scores_, cv_results_, certificates_path_, coefs_paths_, n_iter_
        As in ``LogisticRegressionCV``.
    model_, certificate_, certificates_, coef_, intercept_, classes_
        Of the last fit, as in ``LinearSVM``.
    evidence_ : dict
        As in ``LogisticRegressionCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LinearSVMCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = LinearSVMCV(Cs=[0.001, 0.01, 0.1, 1], standardize=True).fit(X, y)
    >>> search.C_, round(search.best_score_, 3)
    (0.1, 0.977)
    """

    _default_scoring = "accuracy"
    _requirements: ClassVar[dict[str, Requirement]] = {
        **CSearch._requirements,
        "Cs": FINITE_C_GRID,
        "loss": one_of(*LOSSES),
        "penalty": one_of(*PENALTIES),
    }

    def __init__(
        self,
        Cs: Any = 10,
        *,
        loss: str = "hinge",
        penalty: str = "l2",
        cv: Any = None,
        scoring: Any = None,
        select: str = "min",
        refit: bool = True,
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
        self.loss = loss
        self.penalty = penalty
        self.cv = cv
        self.scoring = scoring
        self.select = select
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_penalty(self, self.penalty, self.loss)

    def _loss(self) -> Loss:
        return LOSSES[self.loss]

    def _penalty(self) -> Penalty:
        return PENALTIES[self.penalty]

    def _plain(self) -> LinearSVM:
        return plain_of(self, LinearSVM)

    def _default_score(self, learned: Learned, fold_data: FoldData, split: Split) -> float:
        """Return the share of held-out rows that are right."""
        right = classes_of(learned.scores, np.array(learned.codes)) == fold_data.target[split.test]
        weight = None if fold_data.weight is None else fold_data.weight[split.test]
        return float(np.average(right, weights=weight))
