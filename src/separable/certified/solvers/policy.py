"""Which solver takes a problem: by its penalty, its loss, and whether classes go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.certified.l1_multinomial_solve import L1MultinomialSolver
from separable.certified.l1_solve import L1Solver
from separable.certified.multinomial_solve import MultinomialSolver
from separable.certified.solve import Solver
from separable.certified.solvers.driver import Driver, Learns

if TYPE_CHECKING:
    from separable.certified.problem import Problem
    from separable.certified.solve import Request

__all__ = ["Learns", "solver_of"]


def solver_of(problem: Problem, request: Request) -> Learns:
    """Return what learns the lanes of a problem."""
    if problem.n_classes > 2:
        smooth = problem.penalty.is_smooth
        return Driver((MultinomialSolver if smooth else L1MultinomialSolver)(problem, request))
    if not problem.penalty.is_smooth or problem.loss.name == "squared_error":
        return Driver(L1Solver(problem, request))
    return Driver(Solver(problem, request))
