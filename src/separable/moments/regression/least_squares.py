"""Ordinary least squares, and its summary: coefficients, tests and information criteria."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.linalg import svd, svdvals
from scipy.special import fdtrc, stdtr, stdtrit

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.fitting.summary_table import INTERCEPT, SummaryTable, number_of
from separable.model.parameters import BOOL, Requirement
from separable.model.words import feature_name
from separable.moments.regression.base_squares import SquaresRegressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.moments.regression.design import Design, Factor
    from separable.typing import Floats

__all__ = ["Coefficient", "LeastSquares", "Summary", "covariance_diagonal", "summarise"]

COLUMNS = ("coef", "std err", "t", "P>|t|", "[0.025", "0.975]")


@dataclass(frozen=True)
class Coefficient:
    """One line of the table.

    Parameters
    ----------
    name : str
    value, standard_error, t, p : float
        Estimate, standard error, t statistic and its two-sided p-value. NaN if the rows do not
        determine them.
    low, high : float
        The 95 % confidence interval.
    """

    name: str
    value: float
    standard_error: float
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Summary(SummaryTable):
    """Summary of a least-squares fit; prints as a table.

    Parameters
    ----------
    target : str
        Name of the target.
    n_rows : float
        Sum of the sample weights: the number of rows if all weights are 1.
    df_model, df_residual : float
        Degrees of freedom of the columns and of the residuals.
    r2, r2_adjusted : float
        R squared, centered or, without an intercept, uncentered, and adjusted.
    f, p : float
        F statistic of all columns and its p-value.
    log_likelihood, aic, bic : float
        For Gaussian errors with the maximum-likelihood variance.
    residual_sd : float
        Estimated standard deviation of the errors.
    condition_number : float
        Of the raw columns, including a column of ones for the intercept.
    coefficients : tuple of Coefficient
    """

    target: str
    n_rows: float
    df_model: float
    df_residual: float
    r2: float
    r2_adjusted: float
    f: float
    p: float
    log_likelihood: float
    aic: float
    bic: float
    residual_sd: float
    condition_number: float
    coefficients: tuple[Coefficient, ...]

    def _title(self) -> str:
        return "Least squares"

    def _pairs(self) -> list[tuple[str, str, str, str]]:
        """Return the statistics above the table, two per line."""
        likelihood = f"{self.log_likelihood:.5g}"
        return [
            ("Target:", self.target, "R-squared:", f"{self.r2:.4f}"),
            ("Model:", "least squares", "Adj. R-squared:", f"{self.r2_adjusted:.4f}"),
            ("No. Observations:", f"{self.n_rows:g}", "F-statistic:", f"{self.f:.4g}"),
            ("Df Model:", f"{self.df_model:g}", "Prob (F-statistic):", f"{self.p:.3g}"),
            ("Df Residuals:", f"{self.df_residual:g}", "Log-Likelihood:", likelihood),
            ("Residual SD:", f"{self.residual_sd:.5g}", "AIC:", f"{self.aic:.5g}"),
            ("Cond. No.:", f"{self.condition_number:.3g}", "BIC:", f"{self.bic:.5g}"),
        ]

    def _columns(self) -> Sequence[str]:
        return COLUMNS

    def _blocks(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        return [("", [(line.name, *_cells(line)) for line in self.coefficients])]


def _cells(line: Coefficient) -> list[str]:
    p = "nan" if math.isnan(line.p) else f"{line.p:.3f}"
    return [
        f"{line.value:.5g}",
        f"{line.standard_error:.4g}",
        number_of(line.t),
        p,
        f"{line.low:.4g}",
        f"{line.high:.4g}",
    ]


def covariance_diagonal(
    design: Design, kept: NDArray[np.intp], factor: Factor, rank: int
) -> tuple[Floats, float]:
    """Return the variances of raw weights and of the intercept, in units of the error variance.

    NaN for weights that the rows do not determine: constant and linearly dependent columns.
    """
    _, sizes, vt = svd(factor.r) if len(kept) else (None, np.empty(0), np.empty((0, 0)))
    inverse = vt[:rank].T / sizes[:rank]
    free = np.abs(vt[rank:]).max(axis=0, initial=0.0) > 1e-8 if len(kept) else np.empty(0, bool)
    variances = np.full(len(design.length), np.nan)
    variances[kept] = np.where(free, np.nan, (inverse**2).sum(axis=1))
    variances /= design.length**2
    projection = inverse.T @ (design.mean[kept] / design.length[kept])
    return variances, 1.0 / design.weight + float(projection @ projection)


def summarise(
    design: Design,
    kept: NDArray[np.intp],
    factor: Factor,
    rank: int,
    weights: Floats,
    intercept: float | None,
    residual_squares: float,
    target: int,
    names: list[str],
    target_name: str,
) -> Summary:
    """Return the summary of one target; ``intercept`` is None where there is none."""
    n, has_intercept = design.weight, intercept is not None
    whole = float(design.target_squares[target] * design.target_unit[target] ** 2)
    df_model, df_residual = float(rank), n - rank - has_intercept
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.float64(residual_squares)
        variance = left / df_residual if df_residual > 0 else np.float64(np.nan)
        r2 = 1.0 - left / whole
        adjusted = 1.0 - (n - has_intercept) / np.float64(df_residual) * (1.0 - r2)
        f = (whole - left) / df_model / variance
        likelihood = -n / 2 * (np.log(2 * np.pi * left / n) + 1)
        variances, of_intercept = covariance_diagonal(design, kept, factor, rank)
        values, errors = weights, np.sqrt(variance * variances)
        if intercept is not None:
            values = np.concatenate([[intercept], values])
            errors = np.concatenate([[np.sqrt(variance * of_intercept)], errors])
            names = [INTERCEPT, *names]
        t = values / errors
        p = 2 * stdtr(df_residual, -np.abs(t))
        half_width = stdtrit(df_residual, 0.975) * errors
    used = rank + has_intercept
    return Summary(
        target=target_name,
        n_rows=n,
        df_model=df_model,
        df_residual=df_residual,
        r2=float(r2),
        r2_adjusted=float(adjusted),
        f=float(f),
        p=float(fdtrc(df_model, df_residual, f)),
        log_likelihood=float(likelihood),
        aic=float(2 * used - 2 * likelihood),
        bic=float(math.log(n) * used - 2 * likelihood),
        residual_sd=float(np.sqrt(variance)),
        condition_number=_raw_condition(design, kept, factor, has_intercept=has_intercept),
        coefficients=tuple(
            Coefficient(name, *map(float, line))
            for name, *line in zip(
                names, values, errors, t, p, values - half_width, values + half_width, strict=True
            )
        ),
    )


def _raw_condition(
    design: Design, kept: NDArray[np.intp], factor: Factor, *, has_intercept: bool
) -> float:
    """Return the condition number of the raw columns, from the factor of the centered ones."""
    if len(kept) < len(design.length):
        return math.inf
    triangle = factor.r * design.length
    if has_intercept:
        root = math.sqrt(design.weight)
        triangle = np.block(
            [
                [np.array([[root]]), root * design.mean[None, :]],
                [np.zeros((len(kept), 1)), triangle],
            ]
        )
    sizes = svdvals(triangle)
    return float(sizes[0] / sizes[-1]) if sizes[-1] > 0 else math.inf


@accepts("copy_X", "tol", "n_jobs")
@with_parameters
class LeastSquares(SquaresRegressor):
    """Ordinary least squares: minimizes sum_i c_i (w.x_i + b - y_i)^2, exactly.

    The weights are solved by Cholesky from the Gram matrix of the columns, centered and scaled to
    norm 1. For larger condition numbers they are improved by iterative refinement with residuals
    in twice the working precision; beyond that the rows are factored by Householder QR. Linearly
    dependent columns give the minimum-norm solution and a ``RankWarning`` that names them. Scaling
    or shifting a column changes no prediction, up to rounding.

    Parameters
    ----------
    positive : bool
        Weights of at least 0: the columns whose weights are above 0 are found by an active set,
        then solved as without the constraint. ``condition_number_`` and ``rank_`` are of these
        columns. There is no ``summary``: its standard errors do not hold at a bound.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
    intercept_ : float or ndarray of shape (t,)
    condition_number_ : float
        Of the centered columns, scaled to norm 1: the factor by which a relative error of the data
        can grow in the weights. inf for linearly dependent columns.
    rank_ : int
        Of the centered columns.
    evidence_ : dict
        ``rows_seen``, ``condition_number``, ``rank``, ``residual_squares``, ``r2``, ``solved_by``,
        ``digits`` (estimated correct digits of standardized weights).

    Examples
    --------
    >>> from separable import LeastSquares
    >>> line = LeastSquares().fit([[0], [1], [2]], [1, 3, 5])
    >>> line.coef_, line.intercept_
    (array([2.]), np.float64(1.0))
    """

    fit_intercept: bool = True
    _: KW_ONLY
    positive: bool = False

    _column_target = "all"
    _requirements: ClassVar[dict[str, Requirement]] = {"fit_intercept": BOOL, "positive": BOOL}

    @property
    def rank_(self) -> int:
        """Rank of the centered columns."""
        return int(self._learned("rank"))

    def summary(self, target: int = 0) -> Summary:
        """Return coefficients with standard errors, tests and intervals; R2, F, AIC and BIC.

        The summary prints as text and has ``to_dict()`` and ``to_html()``. A row of weight k
        counts as k rows.

        Parameters
        ----------
        target : int, default 0
            Index of the target.

        Returns
        -------
        Summary
        """
        if self.positive:
            raise ValueError(
                "There is no summary with positive=True: standard errors and tests do not hold "
                "for weights at the bound 0. Use positive=False."
            )
        model, learned = self._weights_only(), self._solved().learned
        if "design" not in learned:
            raise ValueError(
                "There is no summary of a fit to fewer rows than columns: no rows are left to "
                "estimate errors from. Use fewer columns, or Ridge."
            )
        if not 0 <= target < model.n_scores:
            raise ValueError(f"target must be in 0 ... {model.n_scores - 1}. Got {target!r}.")
        names = [feature_name(None, j) for j in range(model.n_features)]
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

    def _is_positive(self) -> bool:
        return bool(self.positive)

    def _penalty(self) -> float:
        return 0.0
