"""Linear SVM that selects C by cross-validation: folds, Cs and classes as lanes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from separable.accepted_parameters import accepts
from separable.certified.estimators.linear_svm import LOSSES, PENALTIES, LinearSVM, check_penalty
from separable.fitting.base import with_parameters
from separable.fitting.fold_fits import FoldData, FoldPath
from separable.fitting.splits import Split
from separable.model.parameters import Requirement, one_of
from separable.model.predict.probability import classes_of
from separable.select.estimators.base_search import grid_requirement
from separable.select.estimators.c_search import CSearch

__all__ = ["LinearSVMCV"]


@accepts("dual", "multi_class", "intercept_scaling", "verbose")
@with_parameters
class LinearSVMCV(CSearch):
    """A linear support vector machine with the C that predicts best rows it has not seen.

    Folds, values of C and classes are learned side by side, in one pass over the rows each time,
    and each with its own certificate. Then all rows are learned with the best C, as ``LinearSVM``
    does. Ties go to the smallest C.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        What a row costs that is not on its side of the margin.
    penalty : {"l2", "l1"}
        What weights cost; "l1" goes with ``loss="squared_hinge"``.
    monotonic_cst : array-like of int, or mapping of column to int, optional
        As in ``LinearSVM``.
    scoring : str, callable or None
        None: the accuracy. Otherwise a scorer of scikit-learn.
    tol : float or None
        Requested relative duality gap. None: 1e-4 in the search; in the last fit as ``LinearSVM``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LinearSVMCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = LinearSVMCV(Cs=[0.001, 0.01, 0.1, 1], standardize=True).fit(X, y)
    >>> search.C_, round(search.best_score_, 3)
    (0.1, 0.977)
    """

    _: KW_ONLY
    loss: str = "hinge"
    penalty: str = "l2"
    monotonic_cst: Any = None

    _kind = LinearSVM
    _default_scoring = "accuracy"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "Cs": grid_requirement(finite=True),
        "loss": one_of(*LOSSES),
        "penalty": one_of(*PENALTIES),
    }

    def check_parameters(self) -> None:
        """Check the parameters; penalty and loss must fit together."""
        super().check_parameters()
        check_penalty(self, self.penalty, self.loss)

    def _default_scores(self, models: FoldPath, data: FoldData, split: Split) -> list[float]:
        """Return the fraction of held-out rows that are right."""
        weight = None if data.weight is None else data.weight[split.test]
        assert data.classes is not None
        assert models.classes is not None
        label, codes = data.target[split.test], np.searchsorted(data.classes, models.classes)
        return [
            float(np.average(classes_of(models.scores(k), codes) == label, weights=weight))
            for k in range(len(models.indices))
        ]
