"""Normal equations of a linear regression from sums, their triangular factor, and refinement.

Columns are centered and scaled to norm 1. R'R is the Gram matrix. Iterative refinement computes
residuals in twice the working precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, eigvalsh, qr, solve_triangular, svd, svdvals
from scipy.linalg.lapack import dgeqrf, dpocon, dpotrf, dpotrs, dtrtrs

from separable._core import native
from separable.data.rows import core_rows, index_of_columns
from separable.linalg.lstsq import lstsq
from separable.statistics.precision import Precision
from separable.statistics.sums import products_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats

__all__ = [
    "Design",
    "Factor",
    "Refined",
    "dependent_columns",
    "design_of",
    "error_of_weights",
    "exact_condition",
    "factor_from_gram",
    "factor_from_rows",
    "minimum_norm",
    "refine",
    "squared_condition",
]


@dataclass(frozen=True)
class Design:
    """Gram matrix of the standardized columns u_j = (x_j - mean_j) / length_j.

    Parameters
    ----------
    n_rows, weight
        Number of rows n and sum of weights W.
    mean, target_mean : ndarray, shapes (d,) and (t,)
        Means of the columns and of the targets; 0 without an intercept.
    length : ndarray, shape (d,)
        Norm of each centered column, 1 for constant columns.
    constant : ndarray of bool, shape (d,)
        Constant columns; without an intercept, columns of zeros.
    gram : ndarray, shape (d, d)
        Products of standardized columns: ones on the diagonal, zeros for constant columns.
    cross : ndarray, shape (d, t)
        Products of standardized columns with centered targets, in units of ``target_unit``.
    target_squares : ndarray, shape (t,)
        Sums of squares of the centered targets, in those units.
    target_unit : ndarray, shape (t,)
        Powers of two, 1 unless squares of the targets would overflow or underflow.
    """

    n_rows: int
    weight: float
    mean: Floats
    target_mean: Floats
    length: Floats
    constant: NDArray[np.bool_]
    gram: Floats
    cross: Floats
    target_squares: Floats
    target_unit: Floats

    def gram_of(self, kept: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some columns; without a copy if these are all."""
        return self.gram if len(kept) == len(self.gram) else self.gram[np.ix_(kept, kept)]

    def raw(self, standardised: Floats) -> Floats:
        """Return weights of raw columns, (t, d), from those of standardized columns, (d, t)."""
        with np.errstate(over="ignore"):
            weights: Floats = (standardised * self.target_unit).T / self.length
        if not np.isfinite(weights).all():
            column = int(np.flatnonzero(~np.isfinite(weights).all(axis=0))[0])
            raise ValueError(
                f"The weight of column {column} overflows float64: its values are too small beside "
                "the targets. Scale the column or the targets."
            )
        return weights

    def penalised(self, alpha: float) -> Design:
        """Return the design augmented by the rows sqrt(alpha) e_j with target 0.

        Its least-squares solution is that with the penalty alpha |w|^2. The augmented rows do not
        change the means.
        """
        if alpha == 0:
            return self
        longer = np.where(self.constant, 1.0, np.hypot(self.length, math.sqrt(alpha)))
        factor = np.where(self.constant, 0.0, self.length / longer)
        gram = self.gram * factor * factor[:, None]
        np.fill_diagonal(gram, np.diagonal(self.gram))
        return replace(self, length=longer, gram=gram, cross=self.cross * factor[:, None])

    def intercept(self, weights: Floats) -> Floats:
        """Return the intercepts for raw weights: the hyperplane passes through the means."""
        terms = -weights * self.mean
        return np.array(
            [math.fsum([y, *row]) for y, row in zip(self.target_mean, terms, strict=True)]
        )


def design_of(moments: Moments, *, fit_intercept: bool) -> Design:
    """Return the design of the summed rows.

    Parameters
    ----------
    moments : Moments
        With numbers as the target.
    fit_intercept : bool
        Whether columns are centered.
    """
    sums, d = moments.sums, moments.n_features
    products, constant = products_about(sums, d, mean=fit_intercept)
    length = np.where(constant, 1.0, np.sqrt(np.diagonal(products)[:d]))
    with np.errstate(over="ignore"):
        raw = np.where(constant, 1.0, length / sums.scale[:d])
    if not np.isfinite(raw).all():
        raise ValueError(
            f"The length of column {np.flatnonzero(~np.isfinite(raw))[0]} overflows float64. "
            "Divide the column by a large number."
        )
    kept = np.where(constant, 0.0, 1.0 / length)
    gram = products[:d, :d] * kept * kept[:, None]
    np.fill_diagonal(gram, np.where(constant, 0.0, 1.0))
    means = sums.means[0] if fit_intercept else np.zeros(sums.n_columns)
    return Design(
        n_rows=int(sums.rows[0]),
        weight=float(sums.weight[0]),
        mean=means[:d],
        target_mean=means[d:],
        length=raw,
        constant=constant,
        gram=gram,
        cross=products[:d, d:] * kept[:, None],
        target_squares=np.diagonal(products)[d:].copy(),
        target_unit=1.0 / sums.scale[d:],
    )


@dataclass(frozen=True)
class Factor:
    """QR decomposition U = QR of a design, without Q.

    Parameters
    ----------
    r : ndarray, shape (d, d)
        Upper triangular.
    targets : ndarray, shape (d, t)
        Q'y.
    residual_squares : ndarray, shape (t,)
        |y - QQ'y|^2.
    """

    r: Floats
    targets: Floats
    residual_squares: Floats

    def solve(self) -> Floats:
        """Return the least-squares weights, (d, t)."""
        return _solve_upper(self.r, self.targets)

    def correct(self, gradient: Floats) -> Floats:
        """Return (R'R)^-1 g."""
        correction: Floats = dpotrs(self.r.T, gradient, lower=1)[0]
        return correction

    def inverse(self) -> Floats:
        """Return R^-1."""
        return _solve_upper(self.r, np.eye(len(self.r)))


def _solve_upper(r: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Return R^-1 b, or R^-T b, by LAPACK itself: SciPy's checks cost more than a small solve.

    In C order R is the lower triangular R' of LAPACK's column order.
    """
    if not len(r):
        return np.zeros_like(right)
    solution, singular = dtrtrs(r.T, right, lower=1, trans=0 if transposed else 1)
    if singular:
        raise LinAlgError(f"The triangular factor is singular: entry {singular - 1} is 0.")
    return np.asarray(solution, dtype=np.float64)


def factor_from_gram(
    gram: Floats, cross: Floats, target_squares: Floats
) -> tuple[Factor | None, float]:
    """Return the Cholesky factor and an estimate of the condition number of the Gram matrix.

    LAPACK estimates the condition number in the 1-norm at a cost of d^2. Divided by sqrt(d), which
    is its ratio to the 2-norm for random matrices, it is within a factor of sqrt(d) of the truth.
    None and infinity if the matrix is not positive definite.
    """
    if not len(gram):
        return Factor(gram, cross, target_squares.copy()), 1.0
    lower, failed = dpotrf(gram.T, lower=1)
    if failed:
        return None, np.inf
    reciprocal = float(dpocon(lower, np.abs(gram).sum(axis=0).max(), uplo="L")[0])
    targets = _solve_upper(lower.T, cross, transposed=True)
    left = target_squares - np.einsum("ij,ij->j", targets, targets)
    factor = Factor(lower.T, targets, np.maximum(left, 0.0))
    squared = 1.0 / (reciprocal * np.sqrt(len(gram))) if reciprocal > 0 else np.inf
    return factor, max(float(squared), 1.0)


def factor_from_rows(
    data: Data, design: Design, kept: NDArray[np.intp], alpha: float = 0.0
) -> Factor:
    """Return the factor of the kept columns by Householder QR, one block of rows at a time.

    Each block is stacked under the current triangle and the stack is factored again. Memory is
    d^2 for any number of rows, and only one block of sparse rows is dense at a time. The augmented
    rows of a penalty come first: they are already triangular.
    """
    d, t = len(kept), len(design.target_mean)
    column = index_of_columns(kept, data.rows.n_features)
    core = core_rows(data.rows)
    step = max(1024, 4 * (d + t))
    numbers = data.numbers
    width = d + t
    stacked = np.zeros((width + step, width), order="F")
    np.fill_diagonal(stacked[:d, :d], np.sqrt(alpha) / design.length[kept])
    for start in range(0, data.rows.n_rows, step):
        n = min(step, data.rows.n_rows - start)
        block = np.zeros((n, width))
        native.spread_columns(core, start, n, column, block)
        block[:, :d] -= design.mean[kept]
        block[:, :d] /= design.length[kept]
        block[:, d:] = (numbers[start : start + n] - design.target_mean) / design.target_unit
        if data.counted.weight is not None:
            block *= np.sqrt(data.counted.weight[start : start + n])[:, None]
        stacked[width:] = 0.0
        stacked[width : width + n] = block
        stacked = dgeqrf(stacked, overwrite_a=1)[0]
        stacked[np.tril_indices(width, -1)] = 0.0
    whole = stacked[:width]
    left = np.einsum("ij,ij->j", whole[d:, d:], whole[d:, d:])
    return Factor(np.ascontiguousarray(whole[:d, :d]), whole[:d, d:].copy(), left)


def dependent_columns(r: Floats, rank: int) -> list[tuple[int, list[int]]]:
    """Return the linearly dependent columns and the columns that span them, given the rank."""
    triangle, order = qr(r, mode="r", pivoting=True)
    dependent = []
    for column in range(rank, len(order)):
        coefficients = solve_triangular(triangle[:rank, :rank], triangle[:rank, column])
        used = np.flatnonzero(np.abs(coefficients) > 1e-6 * np.abs(coefficients).max(initial=0.0))
        dependent.append((int(order[column]), sorted(int(order[k]) for k in used)))
    return sorted(dependent)


#: Maximum number of steps; refinement that converges needs fewer.
MAX_STEPS = 12
#: Relative size of a correction that changes no digit of weights down to 1e-8 of the largest.
NEGLIGIBLE = 1e-24
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Refined:
    """Refined weights and residual sum of squares of one target.

    Parameters
    ----------
    weights : ndarray, shape (d,)
        For raw columns.
    intercept : float
    residual_squares : float
        sum c_i r_i^2, from the rows.
    change : float
        Size of the last correction relative to the weights, for standardized columns.
    """

    weights: Floats
    intercept: float
    residual_squares: float
    change: float


def refine(
    data: Data,
    design: Design,
    factor: Factor,
    kept: NDArray[np.intp],
    weights: Floats,
    intercept: float | None,
    target: int,
    alpha: float = 0.0,
) -> Refined:
    """Refine weights until the next correction would be negligible or they stop decreasing.

    Each step computes the residuals r = y - Xw - b in twice the working precision, solves the
    normal equations for the correction, and adds it. Weights are stored as sums of two doubles.
    Corrections decrease by a constant factor, so the last two predict the next.
    """
    core, numbers = core_rows(data.rows), data.numbers
    y = np.ascontiguousarray(numbers[:, target])
    length, mean = design.length[kept], design.mean
    high, low = weights.copy(), np.zeros_like(weights)
    b, b_low = 0.0 if intercept is None else float(intercept), 0.0
    best, last = Refined(high, b, np.inf, np.inf), 1.0
    for _ in range(MAX_STEPS):
        gradient = np.empty_like(high)
        total, squares = native.residual_sums(
            core, y, data.counted.weight, high, low, b, b_low, mean, gradient, None
        )
        gradient -= alpha * high
        step, scaled = np.zeros_like(high), gradient[kept] / length
        step[kept] = factor.correct(scaled)
        size = np.abs(high[kept] * length).max(initial=0.0)
        change = float(np.abs(step[kept]).max(initial=0.0) / size) if size else 0.0
        is_last = change * change <= NEGLIGIBLE * last and step[kept] @ scaled <= EPS * squares
        if change < 0.5 * best.change:
            best = Refined(high.copy(), b, squares, change)
        else:
            break
        step[kept] /= length
        high, low = _add(high, low, step)
        if intercept is not None:
            b, b_low = _add(b, b_low, total / design.weight - float(mean @ step))
        if is_last:
            return Refined(high, float(b), squares, change * change / last)
        last = change
    return best


def _add(high: Any, low: Any, more: Any) -> tuple[Any, Any]:
    """Add a double to a sum of two doubles."""
    total = high + more
    part = total - high
    low = low + ((high - (total - part)) + (more - part))
    return total + low, low - ((total + low) - total)


def squared_condition(gram: Floats) -> float:
    """Return the condition number of a Gram matrix of standardized columns."""
    values = eigvalsh(gram) if len(gram) else np.ones(1)
    return float(values[-1] / values[0]) if values[0] > 0 else np.inf


def exact_condition(gram: Floats) -> dict[str, float]:
    """Return the condition number of standardized columns; it costs more than a fit."""
    return {"condition_number": float(np.sqrt(squared_condition(gram)))}


def error_of_weights(
    sums: Moments,
    design: Design,
    kept: NDArray[np.intp],
    factor: Factor,
    weights: Floats,
    *,
    about_mean: bool,
) -> tuple[float, float]:
    """Return a bound on the error of the standardized weights, and their norm.

    G w = c, so the error of w is at most |G^-1| (error of c + error of G |w|).
    """
    values, d = sums.sums, len(design.length)
    precision, root = Precision.of(values), np.sqrt(values.weight[0])
    length, noise = precision.length, precision.noise
    if not about_mean:
        length = np.hypot(length, root * np.abs(values.scaled_means[0]))
        noise = noise + root * precision.mean[0]
    size = design.length[kept] * values.scale[kept]
    long, off = np.linalg.norm(length[kept] / size), np.linalg.norm(noise[kept] / size)
    in_target = long * np.linalg.norm(noise[d:]) + off * np.linalg.norm(length[d:])
    standardised = (weights * design.length / design.target_unit[:, None])[:, kept]
    norm = float(np.linalg.norm(standardised))
    inverse = 1.0 / svdvals(factor.r)[-1] ** 2 if len(kept) else 0.0
    return float(inverse * (in_target + 2.0 * long * off * norm)), norm


def minimum_norm(factor: Factor, rank: int, design: Design, kept: NDArray[np.intp]) -> Floats:
    """Return the standardized weights whose raw weights have minimum norm."""
    u, sizes, vt = svd(factor.r)
    weights = vt[:rank].T @ ((u[:, :rank].T @ factor.targets) / sizes[:rank, None])
    length = design.length[kept][:, None] / design.length[kept].max()
    free = vt[rank:].T / length  # null space, for raw weights
    raw = weights / length
    raw -= free @ lstsq(free, raw)
    smallest: Floats = raw * length
    return smallest
