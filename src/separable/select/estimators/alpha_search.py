"""Base class of regressors that select alpha by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separable.fitting.base import Ineffective
from separable.fitting.fold_fits import PathSolver
from separable.model.parameters import BOOL, FRACTION, Requirement
from separable.select.estimators.base_search import (
    AnyValue,
    RegularizationSearch,
    grid_requirement,
)
from separable.select.estimators.search_table import SearchTable, falling_alphas
from separable.typing import Floats


@dataclass(eq=False, repr=False)
class AlphaSearch(RegularizationSearch):
    """Regressor that fits all folds and alphas, then all rows with the best alpha.

    Parameters
    ----------
    alphas : int or sequence of float
        Values of alpha to try; an int: that many, evenly on a logarithmic scale, from the smallest
        alpha that makes all weights 0 down to ``eps`` times it.
    eps : float
        The smallest alpha over the largest, if ``alphas`` is an int.
    cv : int, splitter, list of splits or None
        None: 5 folds of shuffled rows. An int: that many folds in the order of the rows, as in
        scikit-learn.
    select : {"min", "1se"}
        The alpha with the best mean score, or the largest alpha whose mean score is within one
        standard error of the best.
    positive : bool
        Constrain the weights to be non-negative.
    max_iter : int
        Maximum number of passes over the columns, for each model.
    random_state : int, RandomState or None
        The folds of ``cv=None``.
    callback : callable or None
        Called with the number of a pass and the relative gap so far, for each model; returning
        ``True`` stops the search.

    Attributes
    ----------
    alpha_ : float
        The alpha that was chosen.
    best_score_ : float
        Its mean score.
    alphas_ : ndarray of shape (S,), or (R, S) for R values of l1_ratio
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
    n_iter_ : int
        Passes over the columns of the last fit; ``n_iter_path_`` has those of each fold and alpha,
        (F, S) or (F, R, S).
    model_, certificate_, dual_gap_, coef_, intercept_
        Of the last fit, as in the learner without search.
    evidence_ : dict
        Those of the last fit, and ``alpha``, ``l1_ratio``, ``best_score``, ``standard_error``,
        ``scoring``, ``validation``, ``at_edge`` (whether the best alpha is the "smallest" or the
        "largest" that was tried; of alphas that were given a ``GridEdgeWarning`` too), and
        ``search``: how many models there were, how many converged, and the worst gap.
    """

    _estimator_type = "regressor"

    alphas: Any = 100
    _: KW_ONLY
    eps: float = 1e-3
    positive: bool = False

    _regularization = "alpha"
    _milder = "larger alphas"
    _default_scoring = "neg_mean_squared_error"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "alphas": grid_requirement(finite=True),
        "eps": FRACTION,
        "positive": BOOL,
    }
    _ineffective: ClassVar[tuple[Ineffective, ...]] = (
        Ineffective(
            "eps",
            lambda learner: not isinstance(learner.alphas, Integral),
            "where alphas are given one by one",
            "Give a number of alphas, or leave eps at its default.",
        ),
    )

    def _apply_accepted(self, name: str, value: Any) -> bool:
        if name == "n_alphas":
            self.alphas = value
        return name == "n_alphas"

    def _grid(self, solver: PathSolver, ratios: Floats) -> Floats:
        if not isinstance(self.alphas, Integral):
            given = np.sort(np.array(self.alphas, dtype=np.float64))[::-1]
            return np.tile(given, (len(ratios), 1))
        if (ratios == 0).any():
            raise ValueError(
                "With l1_ratio=0 no alpha makes all weights 0, so that there is none to start "
                "from. Give a list of alphas, or use RidgeCV."
            )
        largest = [solver.beside(self._learner(ratio)).largest() for ratio in ratios.tolist()]
        return np.array([falling_alphas(each, self.eps, int(self.alphas)) for each in largest])

    def _warns_of_edge(self, value: float) -> bool:
        del value
        return not isinstance(self.alphas, Integral)

    def _evidence(self, table: SearchTable) -> dict[str, Any]:
        return {"alpha": table.value, "l1_ratio": table.ratio, **super()._evidence(table)}

    # ------------------------------------------------------------------ results

    def _by_fold(self, values: NDArray[AnyValue]) -> NDArray[AnyValue]:
        """Return values by fold, l1_ratio and alpha; without the second if there is one."""
        return values[:, 0] if len(self._searched().ratios) == 1 else values

    @property
    def alpha_(self) -> float:
        """The selected alpha."""
        return self._searched().value

    @property
    def alphas_(self) -> Floats:
        """The alphas that were tried, (S,), or (R, S) for several l1_ratio with grids of their own.

        Alphas that were given are the same for each.
        """
        values = self._searched().values
        alphas: Floats = values if isinstance(self.alphas, Integral) else values[0]
        return alphas[0] if alphas.ndim == 2 and len(alphas) == 1 else alphas

    @property
    def mse_path_(self) -> Floats:
        """The mean squared error of each alpha and fold, (S, F) or (R, S, F)."""
        return np.moveaxis(self._by_fold(self._searched().errors), 0, -1)

    @property
    def dual_coef_(self) -> Floats:
        """Not there: the certificate of a search comes from sums."""
        raise AttributeError(
            f"{type(self).__name__} has no dual_coef_. Fit "
            f"{type(self._learner(1.0)).__name__} with the alpha that was chosen."
        )

    @property
    def cv_results_(self) -> dict[str, Floats]:
        """The score of each l1_ratio and alpha, one after the other, with its standard error."""
        table = self._searched()
        return {
            "alpha": table.values.ravel(),
            "l1_ratio": np.repeat(table.ratios, table.values.shape[1]),
            "mean_score": table.mean.ravel(),
            "standard_error": table.standard_error.ravel(),
            "fold_scores": table.scores.reshape(len(table.scores), -1).T,
        }

    @property
    def certificates_path_(self) -> NDArray[np.object_]:
        """The certificate of each fold and alpha, (F, S) or (F, R, S)."""
        return self._by_fold(self._searched().certificates[..., 0])

    @property
    def coefs_paths_(self) -> Floats:
        """Weights of each fold and alpha, then the intercept, (F, S, d + 1) or (F, R, S, d + 1)."""
        return self._by_fold(self._paths()[..., 0, :])

    @property
    def n_iter_(self) -> int:
        """Passes of the last fit, to all rows."""
        return int(self._fitted().n_iter_)

    @property
    def n_iter_path_(self) -> NDArray[np.int64]:
        """Passes of each fold and alpha, (F, S) or (F, R, S)."""
        return self._by_fold(self._searched().n_iter)

    @property
    def dual_gap_(self) -> float:
        """The gap of the certificate: the objective is at most so much above the optimum."""
        return self.certificate_.gap
