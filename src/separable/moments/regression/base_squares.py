"""Exact least squares with or without an l2 penalty: the base of its learners."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh, qr, svd

from separable.data.rows import Rows
from separable.estimator import convergence_warning
from separable.fitting.base import one_or_list
from separable.fitting.targets import check_targets, weigh_rows
from separable.linalg.lstsq import lstsq
from separable.model.predict.scores import linear_scores
from separable.moments.base import MomentEstimator, Solution, warn_of_dominant_values
from separable.moments.regression.design import (
    Design,
    Factor,
    dependent_columns,
    design_of,
    error_of_weights,
    exact_condition,
    factor_from_gram,
    factor_from_rows,
    minimum_norm,
    refine,
    squared_condition,
)
from separable.moments.regression.leverage import MIN_LEFT, leverages
from separable.moments.regression.non_negative import solve_non_negative
from separable.moments.regression.rank_warning import DependentColumns, RankWarning
from separable.moments.regression.row_side import RowSide, ridge_weights, smallest_weights
from separable.moments.regression.sparse_ridge import (
    SparseRidge,
    is_sparse_and_large,
    may_stop_early,
)
from separable.statistics.dominant_columns import SQUARES, dominant_values
from separable.statistics.moments import Moments
from separable.statistics.precision import check_weights
from separable.statistics.weighted_rows import Data, checked_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.linear_model import Link
    from separable.typing import Floats


__all__ = ["SquaresRegressor"]

EPS = float(np.finfo(np.float64).eps)
#: Squared condition number, as estimated, from which the weights are refined; small data always
#: are, ...
REFINE_CONDITION = 1e2
SMALL_SIZE = 10_000
#: ... up to which sums replace the rows of a fold, ...
SUMS_CONDITION = 1e3
#: ... from which R comes from a QR decomposition of the rows instead of the Gram matrix, ...
QR_CONDITION = 1e7
#: ... and from which the Gram matrix alone has too little precision to solve at all.
MAX_CONDITION = 1e13
#: Multiplications (rows times columns squared) above which a ridge fit refines the solution of the
#: normal equations up to this squared condition number, instead of factoring the rows.
QR_WORK = 2e9
REFINED_CONDITION = 1e10
#: What to do about many columns with weights of at least 0.
MANY_POSITIVE = "use ElasticNet(l1_ratio=0, positive=True), which needs no products of columns"


class SquaresRegressor(MomentEstimator[Moments]):
    """Minimizes sum_i c_i (w.x_i + b - y_i)^2 + alpha |w|^2; the intercept b is not penalized.

    A penalty is equivalent to d augmented rows sqrt(alpha) e_j with target 0, which do not change
    the means. So the same steps solve both problems: scale the columns to norm 1, augmented rows
    included; then, depending on the condition number, Cholesky, iterative refinement, or QR.
    """

    _estimator_type = "regressor"

    _instead: ClassVar[str] = (
        "use SGDRegressor, which keeps one number a column, or fit fewer rows than columns at "
        "once, which needs no products of columns"
    )

    fit_intercept: bool

    def _is_positive(self) -> bool:
        """Return whether weights are at least 0."""
        return False

    def _penalty(self) -> float | None:
        """Return alpha; None if it depends on the rows."""
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to the training data.

        The result equals one ``fit`` on all rows. Only the sums are updated; the model is solved
        when it is next needed.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        return self._add(X, y, sample_weight)

    @property
    def condition_number_(self) -> float:
        """Condition number of the centered columns, scaled to norm 1; see the class."""
        return float(self._complete().learned["condition_number"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # ------------------------------------------------------------------ rows

    def _new_sums(self) -> Moments:
        instead = MANY_POSITIVE if self._is_positive() else self._instead
        return Moments("numbers", owner=type(self).__name__, instead=instead)

    def _sums_of(self, data: Data) -> Moments:
        return self._new_sums().add_data(data, is_whole=True)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        rows = checked_rows(X)
        numbers = check_targets(y, rows.n_rows, type(self).__name__)
        return Data(rows, numbers, weigh_rows(sample_weight, None, numbers), X)

    def _link(self) -> Link:
        return "identity"

    def _warn_of_dominant_values(self, data: Data, sums: Moments | None) -> None:
        super()._warn_of_dominant_values(data, sums)
        numbers = data.present().numbers
        several = numbers.shape[1] > 1
        warn_of_dominant_values(
            data,
            dominant_values(Rows(numbers, numbers.shape[1]), SQUARES),
            lambda t: f"target {t}" if several else "y",
            stacklevel=4,
        )

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        return self._solve_squares(sums, data, self._penalty() or 0.0)

    def _solve_rows(self, data: Data) -> Solution | None:
        if self._is_positive():
            return None
        alpha = self._penalty() or 0.0
        solution = self._solve_sparse(data, alpha)
        return self._solve_wide(data, alpha) if solution is None else solution

    # ------------------------------------------------------------------ solving

    def _solve_squares(self, sums: Moments, data: Data | None, alpha: float) -> Solution:
        design = design_of(sums, fit_intercept=bool(self.fit_intercept)).penalised(alpha)
        kept = np.flatnonzero(~design.constant)
        if self._is_positive():
            solve = partial(self._solve_columns, sums, data, design, alpha=alpha)
            return solve_non_negative(solve, data, design, kept, alpha)
        return self._solve_columns(sums, data, design, kept, alpha)

    def _solve_columns(
        self,
        sums: Moments,
        data: Data | None,
        design: Design,
        kept: NDArray[np.intp],
        alpha: float,
    ) -> Solution:
        """Solve for the weights of some columns; the others have weight 0."""
        gram = design.gram_of(kept)
        factor, squared = factor_from_gram(gram, design.cross[kept], design.target_squares)
        is_estimate = squared < QR_CONDITION
        if not is_estimate:
            squared = squared_condition(gram)
        if data is not None:
            data = data.present()
        is_large = alpha > 0 and design.n_rows * len(kept) ** 2 > QR_WORK
        limit = REFINED_CONDITION if is_large else QR_CONDITION
        if factor is not None and squared < (MAX_CONDITION if data is None else limit):
            condition, rank, by = np.sqrt(squared), len(kept), "cholesky"
        elif data is None:
            return self._solve_dependent(design, kept, gram, alpha)
        else:
            factor = factor_from_rows(data, design, kept, alpha)
            directions, sizes, _ = svd(factor.r)
            tiny = max(design.n_rows, len(kept)) * EPS * sizes[0]
            rank, by = int((sizes > tiny).sum()), "householder"
            # directions beyond the rank are rounding errors
            unexplained = directions[:, rank:].T @ factor.targets
            left = factor.residual_squares + np.einsum("ij,ij->j", unexplained, unexplained)
            factor = replace(factor, residual_squares=left)
            condition = sizes[0] / sizes[-1] if rank == len(kept) else np.inf
        if alpha == 0 and (rank < len(kept) or design.constant.any()):
            self._warn(design, kept, factor, rank)
        solution = self._finish(design, kept, factor, data, float(condition), rank, by, alpha)
        if is_estimate:
            solution = replace(solution, deferred=partial(exact_condition, gram))
        if data is None and sums.sums.precision is not None:
            error = error_of_weights(
                sums, design, kept, factor, solution.weights, about_mean=bool(self.fit_intercept)
            )
            check_weights(*error)
        return solution

    def _finish(
        self,
        design: Design,
        kept: NDArray[np.intp],
        factor: Factor,
        data: Data | None,
        condition: float,
        rank: int,
        by: str,
        alpha: float,
    ) -> Solution:
        d, t = len(design.length), len(design.target_mean)
        standardised = np.zeros((d, t))
        full = rank == len(kept)
        standardised[kept] = factor.solve() if full else minimum_norm(factor, rank, design, kept)
        weights = design.raw(standardised)
        intercept = design.intercept(weights) if self.fit_intercept else np.zeros(t)
        penalties = np.sqrt(alpha) * weights / design.target_unit[:, None]
        squares = factor.residual_squares - np.einsum("ij,ij->i", penalties, penalties)
        squares = np.maximum(squares, 0.0)  # in units of the targets
        change = condition**2 * EPS
        plain = bool((design.target_unit == 1).all())
        worthwhile = condition**2 > REFINE_CONDITION or design.n_rows * d <= SMALL_SIZE
        if data is not None and full and plain and len(kept) and worthwhile:
            by += ", refined"
            for target in range(t):
                better = refine(
                    data,
                    design,
                    factor,
                    kept,
                    weights[target],
                    intercept[target] if self.fit_intercept else None,
                    target,
                    alpha,
                )
                weights[target], intercept[target] = better.weights, better.intercept
                squares[target], change = better.residual_squares, better.change
        whole = design.target_squares
        r2 = 1.0 - np.divide(squares, whole, out=np.zeros(t), where=whole > 0)
        with np.errstate(over="ignore"):
            squares = squares * design.target_unit * design.target_unit
        learned = {
            "condition_number": condition,
            "rank": rank,
            "design": design,
            "kept": kept,
            "factor": factor,
            "residual_squares": squares,
        }
        evidence = {
            "rows_seen": design.n_rows,
            "condition_number": condition if np.isfinite(condition) else None,
            "rank": rank,
            "residual_squares": one_or_list(squares),
            "r2": one_or_list(r2),
            "solved_by": by,
            "digits": float(np.clip(-np.log10(max(change, EPS)), 0.0, 15.0)),
        }
        return Solution(weights, intercept, evidence, learned)

    def _solve_dependent(
        self, design: Design, kept: NDArray[np.intp], gram: Floats, alpha: float
    ) -> Solution:
        """Solve a singular Gram matrix if its rank is clear; otherwise raise.

        It is never clear if the penalty is too small to change the Gram matrix.
        """
        values, vectors = eigh(gram)
        zero = values <= 10 * len(values) * EPS * values[-1]
        doubtful = ~zero & (values < values[-1] / MAX_CONDITION)
        least = values[0] if alpha > 0 else values[~zero][0]
        if alpha > 0 or doubtful.any() or least < SUMS_CONDITION * values[-1] / MAX_CONDITION:
            raise ValueError(
                "The columns are so close to linearly dependent (condition number above "
                f"{np.sqrt(values[-1] / max(least, EPS)):.1e}) that the sums of their "
                "products, which is all a stream or a merge has, hold no correct digits of the "
                "weights. Call fit with all rows at once, which factors the rows themselves, drop "
                f"columns, or {'use Ridge' if alpha == 0 else 'give a larger alpha'}."
            )
        root = np.sqrt(np.where(zero, 0.0, values))[:, None] * vectors.T
        r = np.asarray(qr(root, mode="r")[0], dtype=np.float64)
        targets = lstsq(r.T, design.cross[kept])
        left = design.target_squares - np.einsum("ij,ij->j", targets, targets)
        factor, rank = Factor(r, targets, np.maximum(left, 0.0)), int((~zero).sum())
        self._warn(design, kept, factor, rank)
        return self._finish(design, kept, factor, None, np.inf, rank, "eigenvalues", 0.0)

    def _solve_wide(self, data: Data, alpha: float, side: RowSide | None = None) -> Solution | None:
        """Solve in the dual, n x n, if there are more columns than rows."""
        if not data.is_wide:
            return None
        data = data.present()
        if side is None:
            side = RowSide(data, fit_intercept=bool(self.fit_intercept))
        if alpha > 0:
            weights, condition, squares = ridge_weights(side, alpha)
            return self._wide_solution(side, weights, condition, None, squares)
        weights, rank, squares = smallest_weights(side)
        warnings.warn(
            f"{data.rows.n_features} columns and {data.n_counted} rows: the rows do not determine "
            "the weights of least squares; the minimum-norm solution is used. Ridge or more rows "
            "make it unique.",
            RankWarning,
            stacklevel=4,
        )
        return self._wide_solution(side, weights, np.inf, rank, squares)

    def _solve_sparse(
        self, data: Data, alpha: float, system: SparseRidge | None = None
    ) -> Solution | None:
        """Solve for many sparse columns by conjugate gradients; None if another way is better."""
        if alpha == 0 or not is_sparse_and_large(data):
            return None
        data = data.present()
        if system is None:
            system = SparseRidge(data, fit_intercept=bool(self.fit_intercept))
        each = [system.solve(alpha, target) for target in range(data.numbers.shape[1])]
        solved = [one for one in each if one is not None]
        if len(solved) < len(each):
            return None
        worst = max(solved, key=lambda one: one.error)
        if not worst.converged:
            if not may_stop_early(data):
                return None
            warnings.warn(
                f"{type(self).__name__} stopped after {worst.n_iter} iterations of conjugate "
                f"gradients with an error of {worst.error:.1e}, relative to predicting the mean. A "
                "larger alpha or scaled columns bring it closer.",
                convergence_warning(),
                stacklevel=4,
            )
        squares = np.array([one.residual_squares for one in solved])
        centred = data.numbers - system.target_mean
        whole = system.weight @ (centred * centred)
        r2 = 1.0 - np.divide(squares, whole, out=np.zeros_like(squares), where=whole > 0)
        rank = int((~system.constant).sum())
        evidence = {
            "rows_seen": data.rows.n_rows,
            "condition_number": None,
            "rank": rank,
            "residual_squares": one_or_list(squares),
            "r2": one_or_list(r2),
            "solved_by": "conjugate gradients",
            "digits": float(np.clip(-np.log10(max(worst.error, EPS)), 0.0, 15.0)),
            "relative_residual": max(one.relative_residual for one in solved),
            "n_iter": max(one.n_iter for one in solved),
        }
        learned = {"condition_number": np.nan, "rank": rank, "residual_squares": squares}
        weights = np.array([one.weights for one in solved])
        intercept = np.array([one.intercept for one in solved])
        return Solution(weights, intercept, evidence, learned)

    def _wide_solution(
        self, side: RowSide, weights: Floats, condition: float, rank: int | None, squares: Floats
    ) -> Solution:
        evidence = {
            "rows_seen": side.rows.n_rows,
            "condition_number": condition if np.isfinite(condition) else None,
            "rank": rank,
            "residual_squares": one_or_list(squares),
            "solved_by": "rows",
        }
        learned = {"condition_number": condition, "rank": rank, "residual_squares": squares}
        return Solution(weights, side.intercept(weights), evidence, learned)

    # ------------------------------------------------------------------ leave-one-out

    def _left_out_scores(self, sums: Moments, data: Data) -> Floats | None:
        alpha = self._penalty()
        if alpha is None or self._is_positive():
            return None
        if data.n_counted < 2:
            raise ValueError("Leaving one row out needs at least two rows of non-zero weight.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            if data.is_wide:
                return self._left_out_wide(data, alpha)
            return self._left_out_tall(sums, data, alpha)

    def _left_out_tall(self, sums: Moments, data: Data, alpha: float) -> Floats:
        """Return leave-one-out scores by leverages: the error without row i is r_i / (1 - h_i)."""
        solution = self._solve_squares(sums, data, alpha)
        fitted = linear_scores(data.rows, solution.weights, solution.intercept)
        left = 1.0 - leverages(data, solution, fit_intercept=bool(self.fit_intercept))
        refitted = np.flatnonzero(left < MIN_LEFT)
        left[refitted] = 1.0
        scores: Floats = data.numbers - (data.numbers - fitted) / left[:, None]
        for row in refitted.tolist():
            scores[row] = self._score_without(data, row, alpha)
        return scores

    def _left_out_wide(self, data: Data, alpha: float) -> Floats:
        present = data.present()
        solution = self._solve_wide(data, alpha)
        assert solution is not None
        scores = linear_scores(data.rows, solution.weights, solution.intercept)
        side = RowSide(present, fit_intercept=bool(self.fit_intercept))
        errors = side.spectrum().left_out_errors(alpha)
        counted = np.arange(len(scores)) if data.counted.rows is None else data.counted.rows
        if errors is not None:
            scores[counted] = present.numbers - errors
            return scores
        for row in counted.tolist():
            scores[row] = self._score_without(data, row, alpha)
        return scores

    def _score_without(self, data: Data, row: int, alpha: float) -> Floats:
        """Return the score of a row from a refit without it."""
        solution = self._fit_to(data, np.delete(np.arange(data.rows.n_rows), row), alpha)
        one = data.rows.take(np.array([row]))
        score: Floats = linear_scores(one, solution.weights, solution.intercept)[0]
        return score

    def _fit_summed(
        self, data: Data, chosen: NDArray[np.intp], sums: Moments, alpha: float
    ) -> Solution:
        """Return the fit to some rows, from their sums if these are precise enough."""
        design = design_of(sums, fit_intercept=bool(self.fit_intercept)).penalised(alpha)
        gram = design.gram_of(np.flatnonzero(~design.constant))
        if squared_condition(gram) < SUMS_CONDITION:
            return self._solve_squares(sums, None, alpha)
        return self._fit_to(data, chosen, alpha)

    def _fit_to(self, data: Data, chosen: NDArray[np.intp], alpha: float) -> Solution:
        """Return the fit to some rows."""
        part = data.present(chosen)
        solution = self._solve_sparse(part, alpha) or self._solve_wide(part, alpha)
        if solution is None:
            solution = self._solve_squares(self._new_sums().add_data(part), part, alpha)
        return solution

    # ------------------------------------------------------------------ messages

    def _warn(self, design: Design, kept: NDArray[np.intp], factor: Factor, rank: int) -> None:
        """Warn of linearly dependent and constant columns."""
        dependent = dependent_columns(factor.r, rank) if rank < len(kept) else []
        warnings.warn(
            DependentColumns(
                np.flatnonzero(design.constant).tolist(),
                [(int(kept[j]), kept[others].tolist()) for j, others in dependent],
                self._name,
            ),
            stacklevel=7 if self._is_positive() else 6,
        )
