"""Base class of classifiers that select C by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separable.fitting.fold_fits import PathSolver
from separable.fitting.scorers import check_scoring
from separable.model.parameters import BOOL, CLASS_WEIGHT, Requirement
from separable.select.estimators.base_search import (
    AnyValue,
    RegularizationSearch,
    grid_requirement,
)
from separable.select.estimators.search_table import SearchTable
from separable.typing import Floats


def values_of_C(Cs: Any) -> Floats:  # noqa: N802 - scikit-learn's word
    """Return the values that ``Cs`` means: an int is that many from 1e-4 to 1e4."""
    if isinstance(Cs, Integral):
        return np.logspace(-4, 4, int(Cs))
    return np.array(Cs, dtype=np.float64)


@dataclass(eq=False, repr=False)
class CSearch(RegularizationSearch):
    """Classifier that fits all folds and Cs as lanes, then all rows with the best C.

    Parameters
    ----------
    Cs : int or sequence of float
        Values of C to try; an int: that many from 1e-4 to 1e4, evenly on a logarithmic scale.
    cv : int, splitter, list of splits or None
        None: 5 folds of shuffled rows, fewer if a class has fewer rows, at least 2. An int: that
        many folds in the order of the rows, as in scikit-learn. Both are stratified by class.
    select : {"min", "1se"}
        The C with the best mean score, or the smallest C whose mean score is within one standard
        error of the best.
    refit : bool
        Refit with the selected C on all rows; False: there is no model.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into ``sample_weight``; "balanced" by the training rows
        of each fold.
    random_state : int, RandomState or None
        The order of rows in passes, and the folds of ``cv=None``.
    callback : callable or None
        Called with the number of a pass and the relative gap so far, for each block of models;
        returning ``True`` stops that block.

    Attributes
    ----------
    C_ : float
        The C that was chosen.
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
        Of the last fit, as in the learner without search.
    evidence_ : dict
        Those of the last fit, and ``C``, ``best_score``, ``standard_error``, ``scoring``,
        ``validation``, ``at_edge`` (whether the best C is the "smallest" or the "largest" that was
        tried: a ``GridEdgeWarning`` too), and ``search``: how many models there were, and with
        ``tol`` how many converged, and the worst gap.
    """

    _estimator_type = "classifier"

    Cs: Any = 10
    _: KW_ONLY
    refit: bool = True
    class_weight: Any = None

    _regularization = "C"
    _milder = "smaller Cs"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "Cs": grid_requirement(finite=False),
        "refit": BOOL,
        "class_weight": CLASS_WEIGHT,
    }

    def _grid(self, solver: PathSolver, ratios: Floats) -> Floats:
        del solver
        return np.tile(values_of_C(self.Cs), (len(ratios), 1))

    def _warns_of_edge(self, value: float) -> bool:
        return value < np.inf  # which is the largest of all

    def _evidence(self, table: SearchTable) -> dict[str, Any]:
        return {"C": table.value, **super()._evidence(table)}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of rows by ``scoring``, as scikit-learn's; None: the accuracy.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        if self.scoring is None:
            return float(super().score(X, y, sample_weight))
        weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(check_scoring(self, self.scoring)(self, X, y, **weighed))

    # ------------------------------------------------------------------ results

    def _by_fold(self, values: NDArray[AnyValue]) -> NDArray[AnyValue]:
        """Return values of the selected l1_ratio, by fold and C."""
        selected: NDArray[AnyValue] = values[:, self._searched().chosen[0]]
        return selected

    @property
    def C_(self) -> float:  # noqa: N802 - scikit-learn's word
        """The selected C."""
        return self._searched().value

    @property
    def Cs_(self) -> Floats:  # noqa: N802
        """The values of C that were tried, (S,)."""
        values: Floats = self._searched().values[0]
        return values

    @property
    def cv_results_(self) -> dict[str, Floats]:
        """The score of each C, with its standard error."""
        table = self._searched()
        row = table.chosen[0]
        return {
            "C": table.values[row],
            "mean_score": table.mean[row],
            "standard_error": table.standard_error[row],
            "fold_scores": table.scores[:, row].T,
        }

    @property
    def certificates_path_(self) -> NDArray[np.object_]:
        """The certificate of each fold, C and model, (F, S, k); one of classes learned together."""
        table = self._searched()
        if not table.known_certificates():
            raise AttributeError(
                f"The models of this search have no certificates: without tol, "
                f"{type(self).__name__} stops them at their estimated distance from the optimum. "
                "Give tol, such as tol=1e-4, to have each of them certified."
            )
        return table.tried

    @property
    def coefs_paths_(self) -> Floats:
        """The weights of each fold, C and class, and its intercept, (F, S, k, d + 1)."""
        return self._by_fold(self._paths())

    @property
    def dual_coef_(self) -> Floats:
        """The dual point that proves the certificate of the last fit, (k, n)."""
        return self._fitted().dual_coef_
