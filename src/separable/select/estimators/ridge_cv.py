"""Ridge regression that selects alpha by exact cross-validation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separable.accepted_parameters import accepts
from separable.data.rows import largest_magnitude
from separable.fitting.base import with_parameters
from separable.fitting.best_candidate import GridEdgeWarning, refuse_undefined, warn_of_edge
from separable.fitting.scorers import SCORING, check_scoring
from separable.fitting.splits import CV, GIVE_SPLITTER, read_folds
from separable.model.linear_model import LinearModel
from separable.model.parameters import BOOL, Requirement
from separable.moments.base import Solution
from separable.moments.regression.base_squares import SquaresRegressor
from separable.moments.regression.column_side import column_side
from separable.moments.regression.rank_warning import RankWarning
from separable.moments.regression.ridge import Ridge
from separable.moments.regression.ridge_validation import (
    Folds,
    Scores,
    check_splits,
    folds_of,
    score_fold_fits,
    score_folds,
    score_left_out,
    score_left_out_sparse,
    score_left_out_wide,
)
from separable.moments.regression.row_side import RowSide
from separable.moments.regression.sparse_ridge import SparseRidge, is_sparse_and_large
from separable.statistics.moments import Moments
from separable.statistics.weighted_rows import Data
from separable.typing import Floats

__all__ = ["RidgeCV"]

#: The default grid, in units of the mean squared length of the centred columns.
STEPS = 10.0 ** (np.arange(-18, 10) / 3)
#: The smallest alpha of the default grid, and the inverse of the largest.
SMALLEST_ALPHA = 1e-300
#: Fourth powers of y between 2^-EXPONENT and 2^EXPONENT stay in the range of float64.
EXPONENT = 200
#: The largest power of two by which y is multiplied.
MOST_EXPONENT = 1000
#: Squares of smaller numbers lose digits.
SMALLEST_SQUARED = 1e-145


def _is_alphas(value: Any) -> bool:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    whole = numbers.ndim == 1 and len(numbers) > 0
    return whole and bool((np.isfinite(numbers) & (numbers >= 0)).all())


ALPHAS = Requirement(
    "None or a sequence of finite floats >= 0", lambda v: v is None or _is_alphas(v)
)


@accepts("gcv_mode", "store_cv_results", "alpha_per_target")
@with_parameters
class RidgeCV(SquaresRegressor):
    """Ridge regression with alpha selected by exact cross-validation.

    Cross-validation is exact and costs little more than one fit. The rows are read once for their
    sums. What a fold learns from is merged from the sums of the others, one eigendecomposition
    gives the weights of all alphas, and the error of the rows held out follows from their sums.
    Leaving out one row at a time needs one more pass for the leverages. Then all rows are fitted
    with the best alpha, from the same sums, as ``Ridge`` does. Of alphas that tie the largest is
    taken.

    More than 600 sparse columns need no products of columns: all alphas of a fold are lanes of
    conjugate gradients, as in ``Ridge``. Leaving out one row at a time is as quick where one
    feature has most of the columns, one-hot, and all others are few.

    Where sums lack the digits, the rows are read again: errors below 1e-6 of what there was to
    predict, rows with a leverage above 1 - 1e-6, and alphas so small that eigenvalues say nothing.

    Parameters
    ----------
    alphas : sequence of float or None
        Penalties to try, as in ``Ridge``. By default 28 of them, three a decade, from 1e-6 to 1e3
        times the mean squared length of the centred columns.
    cv : None, int, splitter or list of splits
        None: leave out one row at a time, exactly. k: k folds of neighbouring rows, as
        ``sklearn.model_selection.KFold(k)``. Any of scikit-learn's splitters; where its folds are
        not a partition of the rows, the sums of each fold are added up by themselves.
    scoring : None, str or callable
        None: the mean squared error, negative. Otherwise a scorer of scikit-learn; it is called
        with predictions in the place of X, with cv=None once for all rows.

    Attributes
    ----------
    alpha_ : float
        The best.
    best_score_ : float
        Its mean score; the larger the better.
    cv_results_ : dict
        ``alpha``, ``mean_score``, ``standard_error``, one number an alpha, and with folds
        ``fold_scores``, (A, F).
    coef_ : ndarray of shape (d,) or (t, d)
    intercept_ : float or ndarray of shape (t,)
    evidence_ : dict
        As of ``Ridge``, and ``alpha``, ``best_score``, ``standard_error``, ``validation`` and
        ``at_edge``: whether the best alpha is the "smallest" or the "largest" that was tried. Of a
        grid that was given, this is a ``GridEdgeWarning`` too.

    Examples
    --------
    >>> import numpy as np
    >>> from separable import RidgeCV
    >>> X, y = np.arange(7)[:, None], [1, 0, 3, 1, 2, 4, 2]
    >>> search = RidgeCV(alphas=[0.1, 1, 10, 100]).fit(X, y)
    >>> search.alpha_
    10.0
    >>> search.cv_results_["mean_score"].round(3)
    array([-2.013, -1.973, -1.82 , -1.963])
    """

    alphas: Any = None
    cv: Any = None
    fit_intercept: bool = True
    scoring: Any = None

    _column_target = "intercept"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "alphas": ALPHAS,
        "cv": CV,
        "fit_intercept": BOOL,
        "scoring": SCORING,
    }

    #: What was chosen before more rows came.
    _choice: tuple[float, Scores | None] = field(init=False)

    @property
    def alpha_(self) -> float:
        """The best alpha."""
        return float(self._learned("alpha"))

    @property
    def best_score_(self) -> float:
        """The mean score of the best alpha; the larger the better."""
        scores = self._scores()
        return float(scores.mean[scores.best])

    @property
    def cv_results_(self) -> dict[str, Floats]:
        """The score of each alpha, with its standard error."""
        scores = self._scores()
        table = {
            "alpha": scores.alphas,
            "mean_score": scores.mean,
            "standard_error": scores.standard_error,
        }
        return table if scores.folds is None else table | {"fold_scores": scores.folds}

    def _scores(self) -> Scores:
        scores: Scores | None = self._learned("scores")
        if scores is None:
            raise AttributeError(
                "A model from a file knows its alpha, not the scores of the others. Its "
                "evidence_ has the best score."
            )
        return scores

    # ------------------------------------------------------------------ searching

    def _penalty(self) -> float | None:
        return None  # it depends on the rows

    def _sums_of(self, data: Data) -> Moments:
        self._folds: Folds | None = None
        if self.cv is None:
            return super()._sums_of(data)
        self._folds = folds_of(data, self._splits(data), self._new_sums)
        return self._folds.total

    def _splits(self, data: Data) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        X, n = data.rows.to_matrix(), data.rows.n_rows
        folds = read_folds(self.cv, self, X, data.y, None, n, remedy=GIVE_SPLITTER, stacklevel=4)
        splits = [(fold.train, fold.test) for fold in folds]
        check_splits(data, splits)
        return splits

    def _grid(self, mean_square: float, data: Data) -> Floats:
        """Return the alphas to try; warn where float64 cannot hold those of the default grid."""
        if self.alphas is not None:
            return np.array(self.alphas, dtype=np.float64)
        if mean_square == 0 and not 0 < largest_magnitude(data.rows, data.X) < SMALLEST_SQUARED:
            mean_square = 1.0  # all columns are constant: their squares do not vanish
        with np.errstate(over="ignore", under="ignore"):
            grid = STEPS * mean_square
        kept = grid
        if not (grid[0] >= SMALLEST_ALPHA and grid[-1] <= 1.0 / SMALLEST_ALPHA):
            kept = np.clip(grid, SMALLEST_ALPHA, 1.0 / SMALLEST_ALPHA)
            size = "small" if grid[0] < SMALLEST_ALPHA else "large"
            warnings.warn(
                f"The values of X are so {size} that float64 does not hold the default alphas, "
                "1e-6 to 1e3 times the mean squared length of a column: only those from "
                f"{kept[0]:.3g} to {kept[-1]:.3g} were tried, and the best may not be among them. "
                "Scale the columns, for example with sklearn.preprocessing.StandardScaler.",
                GridEdgeWarning,
                stacklevel=6,
            )
            kept = np.unique(kept)
        return kept

    def _target_exponent(self, data: Data) -> int:
        """Return the power of two that brings y to about 1, where its fourth powers leave float64.

        A scorer sees y as it is, so it is refused numbers whose squares vanish.
        """
        size = float(np.abs(data.numbers).max(initial=0.0))
        if self.scoring is not None and 0 < size < SMALLEST_SQUARED:
            raise ValueError(
                f"Input y is at most {size:g} from 0: squares of numbers below "
                f"{SMALLEST_SQUARED:g} vanish in float64, and scoring={self.scoring!r:.40} may "
                "compute them. Divide y by its size, or use scoring=None."
            )
        exponent = -math.frexp(size)[1]
        is_far = self.scoring is None and size > 0 and abs(exponent) > EXPONENT
        return min(exponent, MOST_EXPONENT) if is_far else 0

    def _scorer(self) -> Any:
        return None if self.scoring is None else check_scoring(self, self.scoring)

    def _needs_rows(self) -> bool:
        return True  # alpha is chosen by rows left out

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        if data is None:
            alpha, scores = self._choice
            return self._with_evidence(self._solve_squares(sums, None, alpha), alpha, scores)
        folds, self._folds = self._folds, None
        exponent = self._target_exponent(data)
        if exponent == 0:
            scores = self._search(sums, data, folds)
        else:
            scaled = _with_scaled_target(data, exponent)
            if folds is not None:
                folds = folds_of(scaled, folds.splits, self._new_sums)
            total = self._new_sums().add_data(scaled) if folds is None else folds.total
            scores = self._search(total, scaled, folds).of_scaled_target(exponent)
        alpha = self._chosen(scores)
        return self._with_evidence(self._solve_squares(sums, data, alpha), alpha, scores)

    def _search(self, sums: Moments, data: Data, folds: Folds | None) -> Scores:
        intercept = bool(self.fit_intercept)
        side = column_side(sums, fit_intercept=intercept)
        with np.errstate(over="ignore"):
            alphas = self._grid(side.trace / side.n_features / side.unit / side.unit, data)
        if folds is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RankWarning)
                return score_folds(
                    data, folds, alphas, self._scorer(), self._fit_summed, fit_intercept=intercept
                )
        _refuse_one_row(data)
        data = data.present()
        return score_left_out(
            data,
            side,
            alphas,
            self._scorer(),
            lambda alpha: _without_rank_warning(self._left_out_tall, sums, data, alpha),
            lambda row, alpha: _without_rank_warning(self._score_without, data, row, alpha),
        )

    def _solve_rows(self, data: Data) -> Solution | None:
        if is_sparse_and_large(data):
            solution = self._search_sparse(data)
            if solution is not None:
                return solution
        if not data.is_wide:
            return None
        exponent, intercept = self._target_exponent(data), bool(self.fit_intercept)
        scaled = _with_scaled_target(data, exponent)
        present = scaled.present()
        side = RowSide(present, fit_intercept=intercept)
        alphas = self._grid(side.squares / side.rows.n_features, present)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            if self.cv is None:
                _refuse_one_row(data)
                scores = score_left_out_wide(
                    present,
                    side,
                    alphas,
                    self._scorer(),
                    lambda alpha: self._left_out_wide(present, alpha),
                )
            else:
                candidates = [Ridge(alpha, intercept) for alpha in alphas.tolist()]
                scores = score_fold_fits(
                    scaled, self._splits(data), candidates, alphas, self._scorer()
                )
        scores = scores.of_scaled_target(exponent)
        alpha = self._chosen(scores)
        solution = self._solve_wide(data, alpha, side if exponent == 0 else None)
        assert solution is not None
        return self._with_evidence(solution, alpha, scores)

    def _search_sparse(self, data: Data) -> Solution | None:
        """Search and fit many sparse columns from the rows; None if another way is better."""
        present, intercept = data.present(), bool(self.fit_intercept)
        system = SparseRidge(present, fit_intercept=intercept)
        if self._target_exponent(data) != 0 or not system.is_usable:
            return None
        alphas = self._grid(system.mean_square, present)
        if not alphas.all():
            return None
        if self.cv is None:
            _refuse_one_row(data)
            scores = score_left_out_sparse(
                present,
                system,
                alphas,
                self._scorer(),
                lambda row, alpha: self._score_without(present, row, alpha),
            )
            if scores is None:
                return None
        else:
            candidates = [Ridge(alpha, intercept) for alpha in alphas.tolist()]
            splits = self._splits(data)
            scores = score_fold_fits(data, splits, candidates, alphas, self._scorer())
        alpha = self._chosen(scores)
        solution = self._solve_sparse(data, alpha, system)
        return None if solution is None else self._with_evidence(solution, alpha, scores)

    def _chosen(self, scores: Scores) -> float:
        """Return the best alpha; warn if it is at the edge of a given grid."""
        refuse_undefined("alpha", scores.alphas, scores.mean, is_regression=True)
        alpha = float(scores.alphas[scores.best])
        if scores.edge is not None and self.alphas is not None and alpha > 0:  # 0 is the least
            warn_of_edge("alpha", alpha, scores.edge, stacklevel=4)
        return alpha

    def _with_evidence(self, solution: Solution, alpha: float, scores: Scores | None) -> Solution:
        learned = solution.learned | {"alpha": alpha, "scores": scores}
        evidence: dict[str, Any] = solution.evidence | {"alpha": alpha}
        if scores is not None:
            error = float(scores.standard_error[scores.best])
            folds = scores.folds
            evidence |= {
                "best_score": float(scores.mean[scores.best]),
                "standard_error": error if math.isfinite(error) else None,
                "validation": "leave-one-out" if folds is None else f"{folds.shape[1]} folds",
                "at_edge": scores.edge,
            }
        return replace(solution, evidence=evidence, learned=learned)

    # ------------------------------------------------------------------ going on

    def to_ridge(self) -> Ridge:
        """Return ``Ridge`` with the selected alpha and the same sums, for further training.

        Returns
        -------
        Ridge
        """
        return self._passed_on(Ridge(self.alpha_, self.fit_intercept), self._summed().copy())

    @property
    def partial_fit(self) -> Any:
        """Not there: a stream leaves no rows to validate with."""
        raise AttributeError(
            "RidgeCV has no partial_fit: a stream leaves no rows to validate with. Call fit, then "
            "go on with to_ridge(), whose alpha is the one that was chosen."
        )

    def merge(self, *others: Self) -> Self:
        """Return an estimator that has learned from the rows of this one and of others.

        Parameters
        ----------
        *others
            Fitted estimators of the same parameters and columns that chose the same alpha.

        Returns
        -------
        estimator
        """
        self._check_same_alpha(others)
        return super().merge(*others)

    def subtract(self, *others: Self) -> Self:
        """Return an estimator that has not learned from the rows of others: it undoes ``merge``.

        Parameters
        ----------
        *others
            Fitted estimators of the same parameters and columns that chose the same alpha, of
            rows that this one has learned from. alpha stays: it is not chosen again.

        Returns
        -------
        estimator
        """
        self._check_same_alpha(others)
        return super().subtract(*others)

    def _check_same_alpha(self, others: tuple[Self, ...]) -> None:
        for number, other in enumerate(others, start=2):
            if type(other) is type(self) and other.alpha_ != self.alpha_:
                raise ValueError(
                    f"Estimator {number} chose alpha={other.alpha_:g}, the first "
                    f"{self.alpha_:g}. Decide for one, and use Ridge(alpha=...) instead."
                )

    def _with_sums(self, sums: Moments) -> Self:
        made = super()._with_sums(sums)
        made._choice = self._learned("alpha"), None
        return made

    def _resume(self, model: LinearModel) -> None:
        alpha: Any = model.evidence.get("alpha")
        if not isinstance(alpha, float | int) or not 0 <= alpha < math.inf:
            raise ValueError("The model does not say which alpha was chosen.")
        self._choice = float(alpha), None

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as a file keeps them."""
        plain = super()._plain_parameters()
        if plain["alphas"] is not None:
            plain["alphas"] = np.asarray(plain["alphas"], dtype=np.float64).tolist()
        return plain


def _without_rank_warning(scores: Callable[..., Floats], *given: Any) -> Floats:
    """Return the scores of a refit; the final fit reports linearly dependent columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return scores(*given)


def _refuse_one_row(data: Data) -> None:
    if data.n_counted < 2:
        raise ValueError(
            f"RidgeCV needs at least two rows to leave one out, but {data.n_counted} was given "
            "(n_samples = 1), or all others have weight 0. Use Ridge."
        )


def _with_scaled_target(data: Data, exponent: int) -> Data:
    return data if exponent == 0 else replace(data, y=np.ldexp(data.y, exponent))
