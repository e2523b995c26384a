"""Least squares, exactly."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.linalg import eigh, eigvalsh, lstsq, qr, svd

from separable.model.parameters import BOOL, Requirement
from separable.moments.design import Design, design_of
from separable.moments.estimator import Solution
from separable.moments.factor import (
    Factor,
    dependent_columns,
    factor_from_gram,
    factor_from_rows,
)
from separable.moments.rank_warning import DependentColumns, RankWarning
from separable.moments.refinement import refine
from separable.moments.regressor import MomentRegressor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.data import Data
    from separable.moments.moments import Moments
    from separable.moments.summary import Summary

    Floats = NDArray[np.float64]

__all__ = ["LeastSquares"]

EPS = float(np.finfo(np.float64).eps)
#: Squared condition numbers: from here on weights are refined, as they are of few numbers, ...
REFINE = 1e3
FEW_NUMBERS = 10_000
#: ... the factor is taken from the rows, not from their products, ...
ORTHOGONAL = 1e7
#: ... and products alone have too few digits left for an answer.
HOPELESS = 1e13


class LeastSquares(MomentRegressor):
    """Least squares: minimises sum_i c_i (w.x_i + b - y_i)^2, exactly.

    The weights are solved from the products of centred columns of length 1 by Cholesky's method.
    Where the condition number asks for it they are refined against the rows with residuals in
    twice the digits, and beyond that the rows themselves are factored by Householder's method.
    Columns that depend on each other get the weights of smallest norm and a ``RankWarning`` that
    names them. Multiplying or shifting a column changes no prediction beyond rounding.

    Parameters
    ----------
    fit_intercept : bool, default True
        Learn b.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
    intercept_ : ndarray of shape (t,)
    condition_number_ : float
        Of the centred columns, scaled to length 1: that many times is a relative error of the data
        enlarged in the weights. inf where columns depend on each other.
    rank_ : int
        Of the centred columns.
    evidence_ : dict
        ``rows_seen``, ``condition_number``, ``rank``, ``residual_squares``, ``r2``, ``solved_by``,
        ``digits`` (estimated correct digits of standardised weights).

    Examples
    --------
    >>> from separable import LeastSquares
    >>> line = LeastSquares().fit([[0], [1], [2]], [1, 3, 5])
    >>> line.coef_, line.intercept_
    (array([2.]), array([1.]))
    """

    _requirements: ClassVar[dict[str, Requirement]] = {"fit_intercept": BOOL}
    _instead: ClassVar[str] = (
        "use SGDRegressor, which keeps one number a column, or fit fewer rows than columns at "
        "once, which needs no products of columns"
    )

    def __init__(self, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    @property
    def condition_number_(self) -> float:
        """Condition number of the centred columns, scaled to length 1."""
        return float(self._learned("condition_number"))

    @property
    def rank_(self) -> int:
        """Rank of the centred columns."""
        return int(self._learned("rank"))

    def summary(self, target: int = 0) -> Summary:
        """Return coefficients with standard errors, t, p and 95 % intervals, R2, F, AIC, BIC.

        As text (``print``), ``to_dict()`` or ``to_html()``. A row of weight k counts as k rows.

        Parameters
        ----------
        target : int, default 0
            Which of several targets.

        Returns
        -------
        Summary
        """
        from separable.moments.summary import summarise

        model, learned = self._weights_only(), self._solved().learned
        if "design" not in learned:
            raise ValueError(
                "There is no summary of a fit to fewer rows than columns: no rows are left to "
                "estimate errors from. Use fewer columns, or Ridge."
            )
        if not 0 <= target < model.n_scores:
            raise ValueError(f"target must be in 0 ... {model.n_scores - 1}. Got {target!r}.")
        names = [f"x{j + 1}" for j in range(model.n_features)]
        return summarise(
            learned["design"],
            learned["kept"],
            learned["factor"],
            learned["rank"],
            model.weights[target],
            float(model.intercept[target]) if self.fit_intercept else None,
            float(learned["residual_squares"][target]),
            target,
            list(model.feature_names or names),
            "y" if model.n_scores == 1 else f"y{target + 1}",
        )

    # ------------------------------------------------------------------ solving

    def _solve(self, sums: Moments, data: Data | None) -> Solution:  # type: ignore[override]
        design = design_of(sums, fit_intercept=bool(self.fit_intercept))
        kept = np.flatnonzero(~design.constant)
        gram = design.gram[np.ix_(kept, kept)]
        values = eigvalsh(gram) if len(kept) else np.ones(1)
        squared = float(values[-1] / values[0]) if values[0] > 0 else np.inf
        if data is not None:
            data = data.present()
        if squared < ORTHOGONAL or (data is None and squared < HOPELESS):
            factor = factor_from_gram(gram, design.cross[kept], design.target_squares)
            condition, rank, by = np.sqrt(squared), len(kept), "cholesky"
        elif data is None:
            return self._solve_dependent(design, kept, gram)
        else:
            factor = factor_from_rows(data, design, kept)
            _, sizes, _ = svd(factor.r)
            tiny = max(design.n_rows, len(kept)) * EPS * sizes[0]
            rank, by = int((sizes > tiny).sum()), "householder"
            condition = sizes[0] / sizes[-1] if rank == len(kept) else np.inf
        if rank < len(kept) or design.constant.any():
            self._warn(design, kept, factor, rank)
        return self._finish(design, kept, factor, data, float(condition), rank, by)

    def _finish(
        self,
        design: Design,
        kept: NDArray[np.intp],
        factor: Factor,
        data: Data | None,
        condition: float,
        rank: int,
        by: str,
    ) -> Solution:
        d, t = len(design.length), len(design.target_mean)
        standardised = np.zeros((d, t))
        full = rank == len(kept)
        standardised[kept] = factor.solve() if full else _smallest(factor, rank, design, kept)
        weights = design.raw(standardised)
        intercept = design.intercept(weights) if self.fit_intercept else np.zeros(t)
        squares = factor.residual_squares * design.target_unit**2
        change = condition**2 * EPS
        plain = bool((design.target_unit == 1).all())
        asked = condition**2 > REFINE or design.n_rows * d <= FEW_NUMBERS
        if data is not None and full and plain and len(kept) and asked:
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
                )
                weights[target], intercept[target] = better.weights, better.intercept
                squares[target], change = better.residual_squares, better.change
        whole = design.target_squares * design.target_unit**2
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
            "residual_squares": _one(squares),
            "r2": _one(1.0 - np.divide(squares, whole, out=np.zeros(t), where=whole > 0)),
            "solved_by": by,
            "digits": float(np.clip(-np.log10(max(change, EPS)), 0.0, 15.0)),
        }
        return Solution(weights, intercept, evidence, learned)

    def _solve_dependent(self, design: Design, kept: NDArray[np.intp], gram: Floats) -> Solution:
        """Solve from products that are singular, if that is clear; refuse if it is not."""
        values, vectors = eigh(gram)
        zero = values <= 10 * len(values) * EPS * values[-1]
        doubtful = ~zero & (values < values[-1] / HOPELESS)
        if doubtful.any() or values[~zero][0] < REFINE * values[-1] / HOPELESS:
            raise ValueError(
                "The columns are so close to depending on each other (condition number above "
                f"{np.sqrt(values[-1] / max(values[~zero][0], EPS)):.1e}) that sums of their "
                "products, which is all a stream or a merge has, hold no correct digits of the "
                "weights. Call fit with all rows at once, which factors the rows themselves, drop "
                "columns, or use Ridge."
            )
        root = np.sqrt(np.where(zero, 0.0, values))[:, None] * vectors.T
        r = np.asarray(qr(root, mode="r")[0], dtype=np.float64)
        targets = lstsq(r.T, design.cross[kept])[0]
        left = design.target_squares - np.einsum("ij,ij->j", targets, targets)
        factor, rank = Factor(r, targets, np.maximum(left, 0.0)), int((~zero).sum())
        self._warn(design, kept, factor, rank)
        return self._finish(design, kept, factor, None, np.inf, rank, "eigenvalues")

    def _solve_rows(self, data: Data) -> Solution | None:
        if data.rows.n_features <= data.n_counted:
            return None
        from separable.moments.row_side import smallest_weights

        data = data.present()
        weights, intercept, rank, squares = smallest_weights(
            data, fit_intercept=bool(self.fit_intercept)
        )
        warnings.warn(
            f"{data.rows.n_features} columns and {data.n_counted} rows: the rows do not determine "
            "the weights of least squares, and those of smallest norm are taken. Ridge or more "
            "rows make them unique.",
            RankWarning,
            stacklevel=3,
        )
        evidence = {
            "rows_seen": data.n_counted,
            "condition_number": None,
            "rank": rank,
            "residual_squares": _one(squares),
            "solved_by": "rows",
        }
        learned = {"condition_number": np.inf, "rank": rank, "residual_squares": squares}
        return Solution(weights, intercept, evidence, learned)

    def _warn(self, design: Design, kept: NDArray[np.intp], factor: Factor, rank: int) -> None:
        """Name the columns that depend on others, or are constant."""
        dependent = dependent_columns(factor.r, rank) if rank < len(kept) else []
        warnings.warn(
            DependentColumns(
                np.flatnonzero(design.constant).tolist(),
                [(int(kept[j]), kept[others].tolist()) for j, others in dependent],
                self._name,
            ),
            stacklevel=4,
        )


def _smallest(factor: Factor, rank: int, design: Design, kept: NDArray[np.intp]) -> Floats:
    """Return, for standardised columns, the weights whose raw ones have the smallest norm."""
    u, sizes, vt = svd(factor.r)
    weights = vt[:rank].T @ ((u[:, :rank].T @ factor.targets) / sizes[:rank, None])
    length = design.length[kept][:, None] / design.length[kept].max()
    free = vt[rank:].T / length  # raw weights that change no prediction
    raw = weights / length
    raw -= free @ lstsq(free, raw)[0]
    smallest: Floats = raw * length
    return smallest


def _one(values: Floats) -> float | list[float]:
    numbers: list[float] = values.tolist()
    return numbers[0] if len(numbers) == 1 else numbers
