"""Options of the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from separable.data.rows import Rows

#: The default relative gap, and the smallest one for values in float32; smaller ones need float64.
TOL, FLOAT32_TOL = 1e-6, 1e-7


@dataclass(frozen=True)
class LbfgsOptions:
    """Options of L-BFGS and Newton steps for logistic regression.

    Parameters
    ----------
    blas_speed : float
        Multiplications of a Hessian and its factor, by BLAS, in the time of one of a pass.
    min_hessian_passes : float
        One model of dense rows starts with the diagonal of its Hessian where the whole Hessian
        costs more passes than this.
    diagonal_patience, hessian_patience : float
        Passes with the diagonal, and with the whole Hessian, before their pace is measured: as a
        fraction of the passes that a Hessian costs.
    remaining_passes : int
        Passes to the optimum after a new Hessian.
    """

    blas_speed: float = 3.5
    min_hessian_passes: float = 8.0
    diagonal_patience: float = 0.2
    hessian_patience: float = 1.0
    remaining_passes: int = 10


@dataclass(frozen=True)
class NewtonOptions:
    """Options of Newton's method for smooth losses.

    Parameters
    ----------
    max_gram_columns : int
        Maximum min(n, d) for a Gram matrix of columns or rows.
    max_exact_work : float
        Maximum multiplications of an exact step for several classes.
    max_unpenalized_weights : int
        Maximum number of weights of several classes without a penalty.
    max_idle_steps : int
        Steps without progress after which to stop.
    separable_ratio : float
        Without a penalty, an objective below this fraction of the first means separable classes.
    forcing_term : float
        Largest relative residual of conjugate gradients.
    residual_fraction : float
        Fraction of the requested gap that the residual of a step may cause.
    max_estimated_gap : float
        Larger relative gaps are not estimated.
    curvature_decay : float
        With truncated steps, curvature falls to this fraction in a step at most. That prevents
        oscillation where the second derivative jumps.
    sample_step, sample_rows_per_column, sample_min_cells, sample_tol
        Of problems with more cells, every 8th row gives a warm start if that leaves at least 20
        rows a column; the relative gap to which it is solved.
    """

    max_gram_columns: int = 2000
    max_exact_work: float = 2e9
    max_unpenalized_weights: int = 4000
    max_idle_steps: int = 10
    separable_ratio: float = 1e-12
    forcing_term: float = 0.2
    residual_fraction: float = 0.25
    max_estimated_gap: float = 0.1
    curvature_decay: float = 0.3
    sample_step: int = 8
    sample_rows_per_column: int = 20
    sample_min_cells: int = 1_000_000
    sample_tol: float = 1e-3


@dataclass(frozen=True)
class InteriorPointOptions:
    """Options of the interior point for piecewise linear losses.

    Parameters
    ----------
    max_stalled_steps : int
        Steps without a 10 % smaller gap after which to stop; most fits need 30 in all.
    near, diverged : float
        Below the relative gap ``near`` active bounds are guessed, and a step that multiplies the
        gap by ``diverged`` has met rounding: the best point is returned.
    max_crossover : int
        Maximum number of unknowns for guesses of the active bounds.
    """

    max_stalled_steps: int = 100
    near: float = 1e-2
    diverged: float = 1e4
    max_crossover: int = 600


@dataclass(frozen=True)
class L1Options:
    """Options of the fallback of coordinate descent with an l1 part: an interior point.

    Parameters
    ----------
    min_iter : int
        With a smaller max_iter there is no fallback.
    max_interior_steps, polishing_sweeps : int
        Maximum steps, and sweeps after them, which set small weights to 0.
    max_equations, max_cells, max_products : float
        Limits of the equations, the cells of their matrix, and the multiplications of a step.
    screening_ratio, max_screened_fraction : float
        The first working set has columns whose correlation exceeds this fraction of l1, if they
        are at most this fraction of all columns.
    max_start_gap : float
        Weights with a larger relative gap are no warm start.
    zero_ratio : float
        Weights of columns with a smaller correlation, relative to l1, are set to 0.
    """

    min_iter: int = 100
    max_interior_steps: int = 100
    polishing_sweeps: int = 40
    max_equations: int = 2000
    max_cells: int = 20_000_000
    max_products: float = 1e10
    screening_ratio: float = 0.5
    max_screened_fraction: float = 0.5
    max_start_gap: float = 0.01
    zero_ratio: float = 0.999

    def sweeps(self, rows: Rows, max_iter: int, n_classes: int = 2) -> int:
        """Return the sweeps before the fallback; max_iter without a fallback.

        Sweeps over the active set cost less than interior-point steps: they get most of max_iter.
        """
        K = n_classes if n_classes > 2 else 1
        size = K * min(rows.shape)
        cells = rows.values.size if K == 1 else rows.n_rows * rows.n_features * K**2
        suits = size <= self.max_equations and cells <= self.max_cells
        if not (suits and cells * size <= self.max_products and max_iter > self.min_iter):
            return max_iter
        return max_iter - min(self.max_interior_steps, max_iter // 2)


@dataclass(frozen=True)
class SemismoothNewtonOptions:
    """Options of semismooth Newton steps for piecewise linear losses.

    Parameters
    ----------
    warm_width : float
        The width of the zone around the breakpoint of a warm start, over the unit of residuals.
    max_rounds : int
        Rounds of steps.
    tighten : float
        The factor of the requested gap from one round to the next.
    rounding, near_rounding : float
        The relative gap that counts as rounding, and the one above which steps go on.
    max_steps : int
        Steps after which the next solver is faster; most problems need 15 to 50.
    max_idle : float
        Work without half the gap, while that is above 1e-2, after which steps stall and the next
        solver takes over. The unit is a step of an interior point: a factor of all rows. At the
        default C, steps that converge stay below 4, for few rows are in the zone.
    """

    warm_width: float = 0.3
    max_rounds: int = 4
    tighten: float = 0.1
    rounding: float = 1e-14
    near_rounding: float = 1e-12
    max_steps: int = 250
    max_idle: float = 6.0


@dataclass(frozen=True)
class GramOptions:
    """Options of least squares from the Gram matrix.

    Parameters
    ----------
    max_columns : int
        Maximum number of columns of a Gram matrix.
    rows_per_column, rows_per_column_path : float
        The least number of rows for each column: of one model, and of a path.
    min_rows, first_columns : int
        Of more columns than that: the least number of rows for working sets, and the columns of the
        first one.
    aim, small_aim : float
        The relative gap to solve for: as a fraction of the requested one, and of small problems.
    min_rest : float
        Less than this fraction of the squares left, and sums have too few digits.
    max_rounding : float
        Fraction of the requested gap that rounding of sums may have.
    """

    max_columns: int = 2000
    rows_per_column: float = 1.0
    rows_per_column_path: float = 0.2
    min_rows: int = 2000
    first_columns: int = 500
    aim: float = 0.5
    small_aim: float = 1e-14
    min_rest: float = 1e-6
    max_rounding: float = 0.1

    def suits(self, n: int, d: int, *, is_path: bool) -> bool:
        """Return whether the Gram matrix of n x d rows pays, for one model or a path."""
        least = self.rows_per_column_path if is_path else self.rows_per_column
        return d <= self.max_columns and n >= least * d


@dataclass(frozen=True)
class SignedNewtonOptions:
    """Options of Newton's method for weights of one sign.

    Parameters
    ----------
    max_dense : int
        Most columns of a dense system; more are solved by conjugate gradients.
    max_pivots : int
        Most changes of the set of columns at 0 in a step, before projected Newton steps.
    max_projected : int
        Most of these.
    slack : float
        Rounding of a gradient, relative to the first, and of a weight.
    least_length : float
        Shortest step of the line search.
    sigma, growth, max_sigma : float
        Augmented Lagrangians of the hinge loss: the first weight of the constraints, its factor
        after each, and its largest value, divided by the mean cost of a row.
    max_rounds : int
        Most of them.
    max_inner_steps : int
        Most steps on one of them.
    inner_tol : float
        They end where their gradient adds at most this fraction of the requested gap.
    cg_tol, max_cg_steps
        Relative residual at which conjugate gradients stop, and their number.
    """

    max_dense: int = 2500
    max_pivots: int = 20
    max_projected: int = 200
    slack: float = 1e-13
    least_length: float = 1e-10
    sigma: float = 1.0
    growth: float = 3.0
    max_sigma: float = 1e6
    max_rounds: int = 100
    max_inner_steps: int = 50
    inner_tol: float = 1e-2
    cg_tol: float = 1e-8
    max_cg_steps: int = 500


@dataclass(frozen=True)
class SolverOptions:
    """Options of the solvers.

    Parameters
    ----------
    tol : float or None
        The requested relative gap. None: 1e-6; tiny problems go on to rounding (`Problem.is_tiny`).
    max_iter : int
        Maximum number of passes over the rows.
    seed : int
        Seed of the order of rows.
    n_jobs : int
        Number of threads over blocks of lanes.
    callback : callable, optional
        Called with the number of a pass and the relative gap so far; returning True stops the
        solver.
    certified : bool, default True
        False, in a search: lanes may stop at their estimated distance from the optimum, and have
        no certificate.
    scores_only : bool, default False
        In a search by held-out scores: solutions need neither certificates nor weights.
    force : str, optional
        The only solver, whatever the policy says: "lbfgs", "newton", "newton_cg", "dual_cd",
        "semismooth_newton" or "interior_point"; with an l1 part "coordinate_descent" or
        "l1_interior_point".
    lbfgs, newton, interior_point, semismooth_newton, signed_newton, l1, gram : optional
        Options of these solvers.
    """

    tol: float | None = None
    max_iter: int = 1000
    seed: int = 0
    n_jobs: int = 1
    callback: Callable[[int, float], Any] | None = None
    certified: bool = True
    scores_only: bool = False
    force: str | None = None
    lbfgs: LbfgsOptions = LbfgsOptions()
    newton: NewtonOptions = NewtonOptions()
    interior_point: InteriorPointOptions = InteriorPointOptions()
    semismooth_newton: SemismoothNewtonOptions = SemismoothNewtonOptions()
    signed_newton: SignedNewtonOptions = SignedNewtonOptions()
    l1: L1Options = L1Options()
    gram: GramOptions = GramOptions()

    @property
    def requested_tol(self) -> float:
        """The requested relative gap."""
        return TOL if self.tol is None else self.tol
