"""Logistic regression that selects C by cross-validation: folds, Cs and classes as lanes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from separable.accepted_parameters import accepts
from separable.certified.estimators.logistic_regression import (
    MULTI_CLASS,
    LogisticRegression,
    ratio_of_penalty,
    refuse_no_penalty,
)
from separable.fitting.base import with_parameters
from separable.fitting.fold_fits import FoldData, FoldPath
from separable.fitting.splits import Split
from separable.model.linear_model import Link
from separable.model.parameters import Requirement
from separable.model.predict.probability import probabilities
from separable.select.estimators.base_search import L1_RATIOS, AnyValue
from separable.select.estimators.c_search import CSearch, values_of_C
from separable.select.estimators.search_table import SearchTable

__all__ = ["LogisticRegressionCV"]

#: Probabilities below this count as this, in the logarithm.
LEAST = float(np.finfo(np.float64).eps)


@accepts("penalty", "solver", "dual", "intercept_scaling", "verbose", "use_legacy_attributes")
@with_parameters
class LogisticRegressionCV(CSearch):
    """Logistic regression with the C that predicts best rows it has not seen.

    All folds, values of C and classes are learned side by side, in shared passes over the rows.
    Then all rows are learned with the best C, as ``LogisticRegression`` does. Of values that tie,
    the smallest C is taken.

    Parameters
    ----------
    scoring : str, callable or None
        None: the log loss, negative. Otherwise a scorer of scikit-learn.
    l1_ratios : float or sequence of float
        As ``l1_ratio`` in ``LogisticRegression``. Of several, that with the best score is taken,
        the first of those that tie; the tables below are its own.
    multi_class : {"multinomial", "ovr"}
        As in ``LogisticRegression``.
    monotonic_cst : array-like of int, or mapping of column to int, optional
        As in ``LogisticRegression``.
    tol : float or None
        The requested relative gap of every model, each of which is then certified. None: models
        of the search stop at an estimated distance from the optimum that does not change their
        scores much, or at a gap of 1e-4 (text, l1); the last fit as in
        ``LogisticRegression``.

    Attributes
    ----------
    l1_ratio_ : float
        The selected or given l1_ratio.
    l1_ratios_ : ndarray
        All that were tried.
    scores_, n_iter_ : ndarray of shape (F, R, S)
        Of each fold, l1_ratio and C, as scikit-learn has them from 1.10 on, or with
        ``use_legacy_attributes=False``.
    coefs_paths_ : ndarray of shape (F, R, S, k, d + 1)
        Weights, then intercepts; up to 10 million numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = LogisticRegressionCV(Cs=[0.01, 0.1, 1, 10], standardize=True).fit(X, y)
    >>> search.C_, search.scores_.shape
    (1.0, (5, 1, 4))
    >>> search.cv_results_["mean_score"].round(3)
    array([-0.177, -0.094, -0.07 , -0.113])
    >>> search.certificate_.converged
    True
    """

    _: KW_ONLY
    l1_ratios: Any = 0.0
    multi_class: str = "multinomial"
    monotonic_cst: Any = None

    _kind, _ratios = LogisticRegression, "l1_ratios"
    _default_scoring = "neg_log_loss"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "l1_ratios": L1_RATIOS,
        "multi_class": MULTI_CLASS,
    }

    def _apply_accepted(self, name: str, value: Any) -> bool:
        if name == "penalty":
            self.l1_ratios = ratio_of_penalty(self, value, self.l1_ratios)
            self.Cs = [np.inf] if value is None else self.Cs
        return name == "penalty"

    def check_parameters(self) -> None:
        """Check the parameters; C and l1_ratio must fit together."""
        super().check_parameters()
        refuse_no_penalty(self, values_of_C(self.Cs), self.l1_ratios)

    def _link(self) -> Link:
        return "softmax" if self.multi_class == "multinomial" else "logistic"

    def _evidence(self, table: SearchTable) -> dict[str, Any]:
        return {**super()._evidence(table), "l1_ratio": table.ratio}

    def _default_scores(self, models: FoldPath, data: FoldData, split: Split) -> list[float]:
        """Return the log loss, negative: of a class that the fold has not learned, log(eps)."""
        weight = None if data.weight is None else data.weight[split.test]
        assert data.classes is not None
        assert models.classes is not None
        label, codes = data.target[split.test], np.searchsorted(data.classes, models.classes)
        known: Any = True
        column, rows = label, np.arange(len(label))
        if len(codes) < len(data.classes):
            known = np.isin(label, codes)
            column = np.where(known, np.searchsorted(codes, label), 0)
        link: Literal["logistic", "softmax"] = "logistic"
        if self.multi_class == "multinomial":
            link = "softmax"
        result = []
        for position in range(len(models.indices)):
            proba = probabilities(models.scores(position), len(codes), link)
            own = np.where(known, proba[rows, column], 0.0)
            logs = np.log(np.minimum(np.maximum(own, LEAST), 1.0 - LEAST))
            mean = logs.mean() if weight is None else np.average(logs, weights=weight)
            result.append(float(mean))
        return result

    # ------------------------------------------------------------------ results

    def _by_fold(self, values: NDArray[AnyValue]) -> NDArray[AnyValue]:
        """Return values by fold, l1_ratio and C."""
        return values

    @property
    def l1_ratios_(self) -> NDArray[np.float64]:
        """The l1_ratios that were tried."""
        return self._searched().ratios

    @property
    def l1_ratio_(self) -> float:
        """The selected l1_ratio."""
        return self._searched().ratio
