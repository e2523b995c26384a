"""Elastic net path from the Gram matrix, with a certificate for each alpha.

G = Z'Z, c = Z'y and q = y'y are those of centred columns and target of length 1, so G is the
correlation matrix. The penalty applies to a weight times a factor of its column; nothing overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.certified.duality.certificate import Certificate
from separable.certified.estimators.fitted import Fitted
from separable.certified.solvers.options import SolverOptions
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.typing import Floats

EPS = float(np.finfo(np.float64).eps)
#: Rows up to which squares bound the values of a column well enough.
SQUARES_BOUND = 30_000


@dataclass(frozen=True)
class SquareModels:
    """Models of K alphas.

    Parameters
    ----------
    weights : ndarray, shape (K, d)
        Of the raw columns.
    intercept : ndarray, shape (K,)
    steps : ndarray, shape (K,)
        Passes over the columns, and solutions of equations.
    solvers : list of str
        "sums", or the solver that used the rows.
    """

    weights: Floats
    intercept: Floats
    certificates: list[Certificate]
    steps: NDArray[np.int64]
    solvers: list[str]

    @staticmethod
    def side_by_side(parts: Sequence[Fitted]) -> SquareModels:
        """Return fits of one model each."""
        return SquareModels(
            np.stack([part.published.weights[:, 0] for part in parts]),
            np.array([float(part.published.intercept[0]) for part in parts]),
            [part.certificates[0] for part in parts],
            np.array([part.passes[0] for part in parts]),
            [part.solvers[0] for part in parts],
        )


@dataclass(frozen=True)
class GramProblem:
    """Correlations of columns with each other and with the target, and what brings weights back.

    Parameters
    ----------
    gram, cross : ndarray, shapes (d, d) and (d,)
        G and c; 0 for columns that do not vary.
    length : ndarray, shape (d,)
        The root of the mean square of each column about its mean, or about 0 without an intercept.
    target_length : float
        That of the target.
    mean, target_mean
        What columns and target are seen from.
    penalised : ndarray, shape (d,)
        What is penalised is this times a weight: 1, or the standard deviation of the column.
    """

    gram: Floats
    cross: Floats
    length: Floats
    target_length: float
    mean: Floats
    target_mean: float
    penalised: Floats
    fit_intercept: bool

    def alpha_max(self, penalty: ElasticNetPenalty) -> float:
        """Return the smallest alpha for which all weights are 0; 0 if they always are."""
        correlation = np.maximum(self.cross, 0.0) if penalty.positive else np.abs(self.cross)
        varies = (self.length > 0) & (self.penalised > 0)
        unit = np.divide(self.length, self.penalised, out=np.zeros_like(correlation), where=varies)
        largest = float((correlation * unit).max(initial=0.0))
        return largest * self.target_length / penalty.l1_ratio

    def extent(self, n_rows: int, weight: Floats | None) -> Floats | None:
        """Return bounds on |x - mean| of each column, from its squares; None: rows are too many.

        One row has at most the squares of all.
        """
        if n_rows > SQUARES_BOUND:
            return None
        least, total = (1.0, n_rows) if weight is None else (weight.min(), weight.sum())
        with np.errstate(over="ignore"):
            return self.length * float(np.sqrt(total / least) * (1.0 + 1e-6))

    def path(
        self, alphas: Floats, penalty: ElasticNetPenalty, options: SolverOptions, *, is_small: bool
    ) -> tuple[SquareModels, NDArray[np.bool_]]:
        """Return the models of some alphas, each learned from the weights of the one before.

        Beside them stands of which models sums have the digits for what the certificates say; the
        others need the rows.

        Parameters
        ----------
        alphas : ndarray, shape (K,)
            Best from large to small.
        is_small : bool
            Whether to solve to rounding.
        """
        factors, tol = self._factors(), options.requested_tol
        lam = alphas * penalty.l1_ratio, alphas * (1.0 - penalty.l1_ratio)
        u, objectives, steps = self._descend(lam, factors, penalty, options, is_small=is_small)
        weights = self._raw_weights(u)
        models = SquareModels(
            weights,
            self._intercepts(weights),
            self._certificates(objectives, tol, lam[1], self._rounding(u, weights)),
            steps,
            ["sums"] * len(steps),
        )
        return models, self._has_digits(u, objectives[:, 0], lam, factors, options)

    def model(
        self,
        alpha: float,
        penalty: ElasticNetPenalty,
        options: SolverOptions,
        start: Floats | None,
        *,
        is_small: bool,
    ) -> tuple[Floats, float, NDArray[np.int64]]:
        """Return weights, intercept and steps of one alpha, for a certificate from the rows."""
        lam = np.array([alpha * penalty.l1_ratio]), np.array([alpha * (1.0 - penalty.l1_ratio)])
        u, _, steps = self._descend(
            lam, self._factors(), penalty, options, start, is_small=is_small
        )
        weights = self._raw_weights(u)
        return weights[0], float(self._intercepts(weights)[0]), steps

    def _descend(
        self,
        lam: tuple[Floats, Floats],
        factors: tuple[Floats, Floats],
        penalty: ElasticNetPenalty,
        options: SolverOptions,
        start: Floats | None = None,
        *,
        is_small: bool,
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Return weights in the units of G, (K, d), their primals and gaps, (K, 2), and steps."""
        d, n = len(self.cross), len(lam[0])
        gram, tol = options.gram, options.requested_tol
        aim = min(gram.small_aim, tol) if is_small else gram.aim * tol
        q = 1.0 if self.target_length > 0 else 0.0
        u, objectives, steps = np.zeros((n, d)), np.zeros((n, 2)), np.zeros(n, np.int64)
        if start is not None and q:
            u[0] = np.where(self.gram.diagonal() > 0, start * self.length / self.target_length, 0)
            if penalty.positive:
                u[0] = np.maximum(u[0], 0.0)
        native.gram_path(
            self.gram, self.cross, q, *factors, penalty.positive, *lam,
            aim, options.max_iter, options.callback, u, objectives, steps,
        )  # fmt: skip
        return u, objectives, np.maximum(steps, 1)

    def _intercepts(self, weights: Floats) -> Floats:
        if not self.fit_intercept:
            return np.zeros(len(weights))
        return np.asarray(self.target_mean - weights @ self.mean)

    def _raw_weights(self, u: Floats) -> Floats:
        """Return weights of the raw columns, (K, d)."""
        weights = np.zeros_like(u)
        nonzero = np.flatnonzero(u.any(axis=0))
        with np.errstate(over="ignore"):
            weights[:, nonzero] = u[:, nonzero] * self.target_length / self.length[nonzero]
        if not np.isfinite(weights).all():
            column = int(np.argmin(np.isfinite(weights).all(axis=0)))
            raise ValueError(
                f"The weight of column {column} of X is beyond the range of float64: its values "
                "are too small beside y. Divide the column by its size, or y by its own."
            )
        return weights

    def _factors(self) -> tuple[Floats, Floats]:
        """Return what alpha is multiplied by in the units of G: for |u| and for u^2."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            l1 = self.penalised / self.length / self.target_length
            l2 = (self.penalised / self.length) ** 2
        varies = self.length > 0
        return np.where(varies & (self.target_length > 0), l1, np.inf), np.where(varies, l2, np.inf)

    def _rounding(self, u: Floats, weights: Floats) -> Floats:
        """Return what rounding may add to the gaps: that of sums, and that of the intercept.

        An intercept that is wrong by e costs e^2 / 2.
        """
        lost: Floats = 8.0 * EPS * (1.0 + np.abs(u).sum(axis=1)) ** 2
        if not self.fit_intercept or self.target_length == 0:
            return lost
        size = np.abs(weights) @ np.abs(self.mean) + abs(self.target_mean)
        moved = EPS * (len(self.mean) + 4) * size / self.target_length
        lost += 0.5 * moved**2
        return lost

    def _certificates(
        self, objectives: Floats, tol: float, curves: Floats, rounding: Floats
    ) -> list[Certificate]:
        """Return the certificates of primal and gap of each model, in the units of y^2."""
        primals, gaps = objectives.T
        unit = self.target_length
        gaps = np.where(primals > 0, gaps + rounding, gaps)
        scaled = unit * (unit * np.column_stack([primals, primals - gaps, gaps]))
        return [
            Certificate(primal, dual, gap, tol, convexity=curve)
            for (primal, dual, gap), curve in zip(scaled.tolist(), curves.tolist(), strict=True)
        ]

    def _has_digits(
        self,
        u: Floats,
        primal: Floats,
        lam: tuple[Floats, Floats],
        factors: tuple[Floats, Floats],
        options: SolverOptions,
    ) -> NDArray[np.bool_]:
        """Return for which models rounding of G and c hardly shows in what is left."""
        size = np.abs(u)
        nonzero = np.flatnonzero(size.any(axis=0))
        l1, l2 = (each[nonzero] for each in factors)
        penalty = lam[0] * (size[:, nonzero] @ l1) + lam[1] * 0.5 * (u[:, nonzero] ** 2 @ l2)
        rest = 2.0 * (primal - penalty)
        lost = 8.0 * EPS * (1.0 + size.sum(axis=1)) ** 2
        gram = options.gram
        most = gram.max_rounding * options.requested_tol * primal
        enough = (rest >= gram.min_rest) & (lost <= most)
        known: NDArray[np.bool_] = enough | (primal == 0)
        return known
