"""Least squares with an lp penalty, from p = 0 (best subset) to p = inf (max norm)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import evaluate
from separable.certified.estimators.block_path import BlockLearner, BlockSolver
from separable.certified.estimators.fitted import Fitted
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.block_penalty.accelerated_gradient import accelerated
from separable.certified.solvers.block_penalty.block_cd import MAX_FULL_COLUMNS_SMOOTH, BlockDescent
from separable.certified.solvers.block_penalty.nonconvex import LocalCertificate, LocalSearch
from separable.certified.solvers.interior_point.max_norm_interior import (
    MAX_STEPS,
    bounded_least_squares,
)
from separable.fitting.base import with_parameters
from separable.fitting.fold_fits import FoldFit
from separable.fitting.splits import Split
from separable.linalg.cholesky import Cholesky
from separable.losses.loss import SQUARED_ERROR, Loss
from separable.model.parameters import Requirement
from separable.penalties.lp import POWERS, LpPenalty
from separable.penalties.max_norm import MaxPenalty
from separable.typing import Floats

__all__ = ["LpRegression"]

#: How far a number may be from a power that is no binary fraction.
NEAR = 1e-12
#: The smallest cost of a penalty, and the inverse of the largest.
SMALLEST_PENALTY = 2.0**-1000
#: Times that an interior point is asked again, from what the rows say.
REFINED = 3


def power_of(p: Any) -> str | None:
    """Return the name of a power: "0", "1/2", ..., "inf"; None where it is none of them.

    Examples
    --------
    >>> power_of(2 / 3), power_of("1/2"), power_of(float("inf")), power_of(3)
    ('2/3', '1/2', 'inf', None)
    """
    if isinstance(p, str):
        return p if p in POWERS or p == "inf" else None
    if isinstance(p, bool | np.bool_) or not isinstance(p, int | float | np.integer | np.floating):
        return None
    if p == math.inf:
        return "inf"
    near = [name for name, power in POWERS.items() if abs(float(p) - power) <= NEAR]
    return near[0] if near else None


def exponent_of(p: Any) -> float | None:
    """Return the exponent of weights; None for the largest, or for what is no power.

    Examples
    --------
    >>> exponent_of("3/2"), exponent_of(0), exponent_of("inf")
    (1.5, 0.0, None)
    """
    return POWERS.get(str(power_of(p)))


@with_parameters
class LpRegression(BlockLearner):
    """Least squares with an lp penalty: p = 0 counts the weights, p = inf bounds them.

    Minimises (1/2W) sum_i c_i (y_i - w.x_i - b)^2 + alpha sum_j |w_j|^p, with c_i the weight of a
    row, 1 by default, and W their sum. p = 0: alpha times the number of weights that are not 0;
    p = inf: alpha max_j |w_j|. p = 1 is the lasso, and p = 2 is `Ridge` with a penalty of
    2 alpha W. b is never penalised.

    From p = 1 on the objective is convex and every fit has its certificate. Below it is not, and
    **only a local optimum is claimed**: no change of one weight alone lowers the objective.
    ``certificate_.is_local`` says so then; its ``dual`` is -inf and its ``gap`` inf, for nothing is
    known of the global optimum.

    Parameters
    ----------
    p : {0, 1/2, 2/3, 1, 4/3, 3/2, 2, inf}
        The power; as a number, or as text such as "2/3".
    tol : float or None
        The requested relative gap, 1e-6 by default; with p < 1 the share of the objective that a
        change of one weight may still take away. Small problems are always solved to rounding.
    max_iter : int
        Maximum number of passes over the columns; with p < 1 from each start.
    warm_start : bool
        ``fit`` starts from the previous solution; with p < 1 that is one start of several.
    callback : callable or None
        Called with the number of a round and the relative gap so far, with p < 1 the share that one
        weight could still take away; returning ``True`` stops the fit.

    Attributes
    ----------
    certificate_ : Certificate
        ``primal``, ``dual``, ``gap``, ``relative_gap``, ``converged``, ``is_local``: where it is
        not local, no weights have an objective below ``dual``. Where it is, ``claim`` says in words
        what is known, and ``left`` how much one weight alone could still take away.
    dual_coef_ : ndarray, shape (1, n)
        The dual point that proves the certificate; 0 with p < 1.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import LpRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> for p in (0, 1, 2, "inf"):
    ...     model = LpRegression(p, alpha=30.0, standardize=True).fit(X, y)
    ...     print(p, (model.coef_ != 0).sum(), model.certificate_.is_local)
    0 5 True
    1 2 False
    2 10 False
    inf 10 False
    """

    _estimator_type = "regressor"

    p: Any = 1
    alpha: float = 1.0
    _: KW_ONLY
    max_iter: int = 100_000

    _requirements: ClassVar[dict[str, Requirement]] = {
        "p": Requirement(
            "one of 0, 1/2, 2/3, 1, 4/3, 3/2, 2 and inf, as a number or as text; others have no "
            "exact step",
            lambda v: power_of(v) is not None,
        ),
    }

    def _loss(self) -> Loss:
        return SQUARED_ERROR

    @property
    def _is_local(self) -> bool:
        power = power_of(self.p)
        return power != "inf" and POWERS[str(power)] < 1

    def growing_fits(self, problem: Any, splits: Sequence[Split]) -> Iterator[FoldFit] | None:
        """Return warm-started fits; see `separable.fitting.fold_fits`."""
        if self._is_local:  # of several optima a start decides which
            return None
        return super().growing_fits(problem, splits)

    # ------------------------------------------------------------------ solvers

    def _block_solver(self, problem: Problem) -> BlockSolver:
        units, power = self._penalty_units(problem), str(power_of(self.p))
        many = problem.rows.n_features > MAX_FULL_COLUMNS_SMOOTH
        if power == "inf":
            most = MaxPenalty(float(units[0]))  # the same of all columns
            run: Any = self._accelerated if many else self._bounded
            return partial(run, problem, most)
        penalty = LpPenalty(power, self._penalty_levels(problem, POWERS[power]))
        if self._is_local:
            return lambda lane, start: (
                *LocalSearch(problem, lane, penalty, **self._how()).solve(start),
                "descent",
            )
        if many and not penalty.is_sparse:
            return partial(self._accelerated, problem, penalty)
        descent = BlockDescent(problem, penalty, **self._how())

        def learn(lane: Lane, start: Floats | None) -> tuple[CertifiedSolution, int, str]:
            if power == "2" and start is None:
                start = _ridge(problem, lane, penalty)
            return (*descent.solve(lane, start), "descent")

        return learn

    def _penalty_levels(self, problem: Problem, power: float) -> Floats:
        """Return what the penalty of each weight costs in the problem's units."""
        with np.errstate(over="ignore", under="ignore"):
            lam: Floats = self._penalty_units(problem) ** power
        least, most = lam.min(initial=1.0), lam.max(initial=1.0)
        if not (least >= SMALLEST_PENALTY and most <= 1 / SMALLEST_PENALTY):
            size = 1.0 / float(self._penalty_units(problem)[0])
            raise ValueError(
                f"Columns of X of size {size:.0e} with p={self.p!r} make the penalty of their "
                "weights less than float64 can hold. Divide the columns by their size, or use "
                "standardize=True."
            )
        return lam

    def _alpha_of(self, problem: Problem, correlation: Floats) -> float:
        power, units = power_of(self.p), self._penalty_units(problem)
        if power == "inf":
            return float(np.abs(correlation).sum() / units[0])
        if power != "1":
            raise ValueError(
                f"No alpha of LpRegression(p={self.p!r}) is known to hold all weights at 0. Give "
                "the alphas as a list."
            )
        return 1.0 / LpPenalty("1", units).dual_scaling(correlation)

    def _accelerated(
        self, problem: Problem, penalty: Any, lane: Lane, start: Floats | None
    ) -> tuple[CertifiedSolution, int, str]:
        return (*accelerated(problem, lane, penalty, start=start, **self._how()), "accelerated")

    def _bounded(
        self, problem: Problem, penalty: MaxPenalty, lane: Lane, start: Floats | None
    ) -> tuple[CertifiedSolution, int, str]:
        """Solve on the products of all columns, and again from what the rows say."""
        d = problem.rows.n_features
        h = problem.x.gram(problem.costs(lane), centred=problem.fit_intercept)
        u, steps = np.zeros(d), 0
        best: CertifiedSolution | None = None
        for number in range(1 + REFINED):
            point = evaluate(problem, lane, penalty, u)
            found = point.certified(problem, lane, penalty, self._how()["tol"])
            gap = found.certificates[0].relative_gap
            if best is not None and not found.is_better_than(best):
                break
            best = found
            stop_requested = self.callback is not None and self.callback(number + 1, gap)
            if stop_requested or steps >= self.max_iter:
                break
            left = min(MAX_STEPS, self.max_iter - steps)
            u, more = bounded_least_squares(h, point.correlation + h @ u, penalty.lam, start, left)
            steps, start = steps + more, u
        assert best is not None
        return best, steps, "interior-point"

    # ------------------------------------------------------------------ what is said

    def _evidence_of(self, fitted: Fitted) -> dict[str, Any]:
        told = super()._evidence_of(fitted)
        (proof,) = fitted.certificates
        if isinstance(proof, LocalCertificate):
            told.update(dual=None, gap=None, relative_gap=None, left=proof.left, claim=proof.claim)
        return told


def _ridge(problem: Problem, lane: Lane, penalty: LpPenalty) -> Floats:
    """Return the weights of p = 2, which solve linear equations."""
    d = problem.rows.n_features
    none = evaluate(problem, lane, penalty, np.zeros(d))
    h = problem.x.gram(none.curvature, centred=problem.fit_intercept)
    h[np.diag_indices(d)] += 2 * penalty.lam
    return Cholesky(h).solve(none.correlation)
