"""The choice of solver by penalty, loss, number of joint classes and shape of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separable.certified.solvers.dense_logistic import DenseLogisticSolver
from separable.certified.solvers.driver import Driver, Learns
from separable.certified.solvers.l1_driver import L1Solver
from separable.certified.solvers.l2_driver import L2Solver
from separable.certified.solvers.softmax_l1_driver import L1MultinomialSolver
from separable.certified.solvers.softmax_l2_driver import MultinomialSolver
from separable.losses.base import is_smooth

if TYPE_CHECKING:
    from separable.certified.problem import Problem
    from separable.certified.solvers.options import SolverOptions

__all__ = ["PIECEWISE_LINEAR", "Learns", "Rule", "solver_of", "solvers_for"]


@dataclass(frozen=True)
class Rule:
    """One line of the policy: the solvers of problems of a shape, one after the other.

    Parameters
    ----------
    is_sparse : bool
        Whether it is for sparse rows.
    above : int
        It is for more rows and more columns than this.
    solvers : tuple of str
        Each takes over when the one before it ends without the requested gap.
    """

    is_sparse: bool
    above: int
    solvers: tuple[str, ...]


#: Hinge and epsilon-insensitive losses with an l2 penalty; the first rule that holds counts.
#:
#: dual_cd ends after `l2_driver.FALLBACK_PASSES` passes, semismooth_newton after
#: `semismooth_newton.MAX_STEPS` steps, interior_point is the last resort. Passes are first where
#: many lanes share them and rows have few values: text. Between 300 and 2000 sparse columns the
#: factors of the interior point, by BLAS, are faster than those of Newton steps. The limits are
#: read off `benchmarks/piecewise_solvers.py`.
PIECEWISE_LINEAR = (
    Rule(True, 2000, ("dual_cd", "semismooth_newton", "interior_point")),
    Rule(True, 300, ("dual_cd", "interior_point")),
    Rule(True, 0, ("semismooth_newton", "interior_point")),
    Rule(False, 0, ("semismooth_newton", "interior_point")),
)


def solvers_for(problem: Problem, force: str | None = None) -> tuple[str, ...]:
    """Return the solvers of a problem with a piecewise linear loss, in order."""
    if force is not None:
        return (force,)
    fewer, is_sparse = min(problem.rows.shape), problem.rows.is_sparse
    return next(
        rule.solvers
        for rule in PIECEWISE_LINEAR
        if rule.is_sparse == is_sparse and fewer > rule.above
    )


def solver_of(problem: Problem, solver_options: SolverOptions) -> Learns:
    """Return the solver for a problem."""
    if DenseLogisticSolver.takes(problem):
        other = MultinomialSolver if problem.n_classes > 2 else L2Solver
        return DenseLogisticSolver(problem, solver_options, Driver(other(problem, solver_options)))
    if problem.n_classes > 2:
        smooth = problem.penalty.is_smooth
        return Driver(
            (MultinomialSolver if smooth else L1MultinomialSolver)(problem, solver_options)
        )
    if not problem.penalty.is_smooth or problem.loss.name == "squared_error":
        return Driver(L1Solver(problem, solver_options))
    if is_smooth(problem.loss):
        return Driver(L2Solver(problem, solver_options))
    return Driver(L2Solver(problem, solver_options, solvers_for(problem, solver_options.force)))
