"""The choice of solver by penalty, loss and number of joint classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.certified.solvers.dense_logistic import DenseLogisticSolver
from separable.certified.solvers.driver import Driver, Learns
from separable.certified.solvers.l1_driver import L1Solver
from separable.certified.solvers.l2_driver import L2Solver
from separable.certified.solvers.softmax_l1_driver import L1MultinomialSolver
from separable.certified.solvers.softmax_l2_driver import MultinomialSolver

if TYPE_CHECKING:
    from separable.certified.problem import Problem
    from separable.certified.solvers.l2_driver import SolverOptions

__all__ = ["Learns", "solver_of"]


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
    return Driver(L2Solver(problem, solver_options))
