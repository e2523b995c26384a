"""Within-class covariance, its factor, shrinkage estimators, and the linear discriminants.

S is the scatter of centered rows, N their weight, d the number of columns. A shrinkage g from 0 to
1 gives (1 - g) S + g tr(S) / d I. It does not depend on the scale of S.

The discriminants are log-posterior scores of Gaussian classes with a shared covariance:

    delta_k(x) = (x - m)'Sigma^-1 g_k - g_k'Sigma^-1 g_k / 2 + log pi_k,  g_k = mu_k - m

with m = sum of pi_k mu_k. This is x'Sigma^-1 mu_k - mu_k'Sigma^-1 mu_k / 2 + log pi_k with the
origin moved to m, which subtracts the same number from all scores. Predictions and probabilities
are unchanged, and columns far from 0 keep their precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.linalg.lapack import dpocon, dpstrf, dtrcon, dtrtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.sums import Sums
    from separable.typing import Floats

__all__ = [
    "Axes",
    "Centres",
    "Within",
    "axes_of",
    "centres_of",
    "constant_within",
    "degrees_of_freedom",
    "discriminants",
    "factor_within",
    "ledoit_wolf",
    "oas",
]

EPS = float(np.finfo(np.float64).eps)
#: Columns with a smaller fraction of their variance unexplained by others are dependent.
RANK_TOLERANCE = 1e-12
#: Smallest reciprocal condition number for which plain Cholesky is used.
MIN_RECIPROCAL_CONDITION = 1e-10


@dataclass(frozen=True)
class Within:
    """Within-class covariance Sigma with Sigma^-1 = P P', P = root / length in the kept columns.

    Parameters
    ----------
    n_columns : int
        Number of columns d.
    kept : ndarray of int
        The columns that vary within classes.
    length : ndarray, shape (kept,)
        Their standard deviations, in units of z.
    root : ndarray, shape (kept, rank)
        R^-1 = root root' for the correlations R; directions without variance are dropped.
    condition : float
        Estimated condition number of R; inf if directions are dropped.
    dependent : list of (int, list of int)
        Columns that are linear combinations of others within classes, and the others.
    """

    n_columns: int
    kept: NDArray[np.intp]
    length: Floats
    root: Floats
    condition: float
    dependent: list[tuple[int, list[int]]]

    @property
    def rank(self) -> int:
        """The number of directions with variance."""
        return int(self.root.shape[1])

    def whitener(self) -> Floats:
        """Return P, (d, rank): z P has the identity as its covariance."""
        p = np.zeros((self.n_columns, self.rank))
        p[self.kept] = self.root / self.length[:, None]
        return p

    def solve(self, gap: Floats) -> Floats:
        """Return Sigma^-1 g for each row g of ``gap``; 0 in dropped columns."""
        solved = np.zeros_like(gap)
        white = (gap[:, self.kept] / self.length) @ self.root
        solved[:, self.kept] = (white @ self.root.T) / self.length
        return solved


def degrees_of_freedom(sums: Sums, covariance: str) -> float:
    """Return the divisor of the scatter: N - K, or N."""
    weight, n_classes = float(sums.weight.sum()), sums.n_groups
    freedom = weight - n_classes if covariance == "unbiased" else weight
    if sums.rows.sum() <= n_classes or freedom <= 0:
        raise ValueError(
            f"There are {sums.rows.sum()} rows (of weight {weight:g}) in {n_classes} classes: the "
            "number of rows must be more than the number of classes, or nothing is known of the "
            "variance within them. Add rows, or leave out classes of a single row."
        )
    return freedom


def constant_within(sums: Sums) -> NDArray[np.bool_]:
    """Return the columns that are constant within every class, up to rounding."""
    size = np.abs(sums.scaled_means).max(axis=0)
    least = 4 * EPS * size * np.sqrt(sums.weight.sum())
    constant: NDArray[np.bool_] = np.sqrt(sums.diagonal) <= least
    return constant


def factor_within(covariance: Floats, constant: NDArray[np.bool_]) -> Within:
    """Factor a covariance by Cholesky, with pivoting if needed."""
    kept = np.flatnonzero(~constant)
    length = np.sqrt(np.diagonal(covariance)[kept])
    whole = len(kept) == len(constant)
    correlations = (covariance if whole else covariance[np.ix_(kept, kept)]) / length
    correlations /= length[:, None]
    n = len(constant)
    if not len(kept):
        return Within(n, kept, length, np.zeros((0, 0)), np.inf, [])
    np.fill_diagonal(correlations, 1.0)
    try:
        upper = cholesky(correlations, check_finite=False)
    except LinAlgError:
        pass
    else:
        norm = np.abs(correlations).sum(axis=0).max()
        reciprocal, _ = dpocon(upper, norm)
        if reciprocal > MIN_RECIPROCAL_CONDITION:
            root, _ = dtrtri(upper)
            return Within(n, kept, length, root, 1.0 / reciprocal, [])
    return _singular(n, kept, length, correlations)


def _singular(n: int, kept: NDArray[np.intp], length: Floats, correlations: Floats) -> Within:
    """Factor correlations that are singular or nearly so.

    Pivoted Cholesky, P'RP = F'F, stops at the rank. With F' = QT the pseudo-inverse is
    Q (TT')^-1 Q'.
    """
    least = max(RANK_TOLERANCE, 10 * len(kept) * EPS)
    factor, order, rank, _ = dpstrf(correlations, tol=least)
    order = order - 1
    rows = np.triu(factor)[:rank]
    if rank == len(kept):
        reciprocal, _ = dtrcon(rows)
        inverse, _ = dtrtri(rows)
        root = np.empty_like(inverse)
        root[order] = inverse
        return Within(n, kept, length, root, 1.0 / reciprocal**2, [])
    orthogonal, triangle = qr(rows.T, mode="economic", check_finite=False)
    root = np.empty_like(orthogonal)
    root[order] = orthogonal @ dtrtri(triangle)[0].T
    made_of = solve_triangular(rows[:, :rank], rows[:, rank:], check_finite=False)
    dependent = []
    for column, parts in enumerate(made_of.T, start=rank):
        used = np.flatnonzero(np.abs(parts) > 1e-6 * np.abs(parts).max(initial=0.0))
        dependent.append((int(kept[order[column]]), sorted(kept[order[used]].tolist())))
    return Within(n, kept, length, root, np.inf, sorted(dependent))


def oas(trace: Any, squares: Any, n: Any, d: int) -> Any:
    """Return the oracle approximating shrinkage (OAS).

    Parameters
    ----------
    trace, squares : float or ndarray
        tr(S) and tr(S^2).
    n : float or ndarray
        Weight of the rows.
    d : int
        Number of columns.

    References
    ----------
    Chen, Wiesel, Eldar, Hero: Shrinkage algorithms for MMSE covariance estimation, IEEE
    Transactions on Signal Processing 58 (2010), in the form of scikit-learn: with n + 1 and without
    the terms in 2 / d.
    """
    mean = squares / trace**2 / d**2  # of the squares of S / tr(S)
    bottom = np.asarray((n + 1.0) * (mean - 1.0 / d**3))
    reciprocal = np.divide(mean + 1.0 / d**2, bottom, out=np.ones_like(bottom), where=bottom > 0)
    return np.minimum(1.0, reciprocal)


def ledoit_wolf(trace: float, squares: float, fourth: float, n: float, d: int) -> float:
    """Return the Ledoit-Wolf shrinkage: the smallest expected squared error, asymptotically.

    Parameters
    ----------
    trace, squares : float
        tr(S) and tr(S^2).
    fourth : float
        sum of w |u|^4 over the rows u.
    n, d
        Weight of the rows and number of columns.

    References
    ----------
    Ledoit, Wolf: A well-conditioned estimator for large-dimensional covariance matrices, Journal
    of Multivariate Analysis 88 (2004).
    """
    distance = squares - trace**2 / d  # of S from the identity, squared
    if distance <= 0:
        return 0.0
    error = fourth - squares / n
    return float(min(max(error, 0.0), distance) / distance)


#: Axes are dropped if the class means differ by less than this along them, relative to the first.
AXIS_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Centres:
    """Priors and means of the classes.

    Parameters
    ----------
    priors : ndarray, shape (K,)
        pi_k.
    middle : ndarray, shape (d,)
        m, in units of x.
    gap : ndarray, shape (K, d)
        mu_k - m, in units of z = x scale.
    scale : ndarray, shape (d,)
        Powers of two.
    """

    priors: Floats
    middle: Floats
    gap: Floats
    scale: Floats

    @property
    def scaled_middle(self) -> Floats:
        """M in units of z, from x = 0."""
        return self.middle * self.scale


def centres_of(sums: Sums, priors: Floats) -> Centres:
    """Return the classes of sums by class."""
    middle = priors @ sums.offset
    return Centres(priors, sums.origin + middle / sums.scale, sums.offset - middle, sums.scale)


def discriminants(centres: Centres, solved: Floats) -> tuple[Floats, Floats]:
    """Return weights and intercepts; for two classes delta_1 - delta_0.

    Parameters
    ----------
    centres : Centres
    solved : ndarray, shape (K, d)
        Sigma^-1 (mu_k - m), in units of z.
    """
    half = 0.5 * np.einsum("kj,kj->k", centres.gap, solved)
    constant = np.log(centres.priors) - half
    if len(solved) == 2:
        solved, constant = solved[1:] - solved[:1], constant[1:] - constant[:1]
    with np.errstate(over="ignore"):
        weights = solved * centres.scale
    bad = np.flatnonzero(~np.isfinite(weights).all(axis=0))
    if len(bad):
        raise ValueError(
            f"The weight of column {bad[0]} overflows float64: its values vary by less than 1e-308 "
            "within classes. Multiply the column by a large number."
        )
    return weights, constant - (weights * centres.middle).sum(axis=1)


@dataclass(frozen=True)
class Axes:
    """Discriminant axes (canonical variates).

    Parameters
    ----------
    scalings : ndarray, shape (d, r)
        One axis per column, with within-class variance 1, for x.
    ratio : ndarray, shape (r,)
        Fraction of the between-class variance explained by each axis.
    """

    scalings: Floats
    ratio: Floats


def axes_of(centres: Centres, solved: Floats) -> Axes:
    """Return the axes, at most K - 1."""
    root = np.sqrt(centres.priors)[:, None]
    values, vectors = np.linalg.eigh(root * (centres.gap @ solved.T) * root.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    good = values > AXIS_TOLERANCE**2 * values[0] if values[0] > 0 else np.zeros(len(values), bool)
    good[-1] = False  # K means lie in K - 1 dimensions about their own
    values, vectors = values[good], vectors[:, good]
    with np.errstate(over="ignore"):  # infinite weights are refused elsewhere
        scalings = (root * solved).T @ (vectors / np.sqrt(values)) * centres.scale[:, None]
    return Axes(scalings, values / values.sum())
