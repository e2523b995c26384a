"""Which solver takes a problem: by its penalty, its loss, and whether classes go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from separable.certified.l1_multinomial_solve import L1MultinomialSolver
from separable.certified.l1_solve import L1Solver
from separable.certified.multinomial_solve import MultinomialSolver
from separable.certified.solve import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.certified.dual_lanes import Start
    from separable.certified.problem import Lane, Problem
    from separable.certified.solve import Request, Solved

__all__ = ["Learns", "solver_of"]


class Learns(Protocol):
    """Learns lanes of one problem."""

    @property
    def problem(self) -> Problem:
        """What is learned."""

    @property
    def request(self) -> Request:
        """How well and how long."""

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes, some at a time, in an order that lanes alone decide."""


def solver_of(problem: Problem, request: Request) -> Learns:
    """Return what learns the lanes of a problem."""
    if problem.n_classes > 2:
        smooth = problem.penalty.is_smooth
        return (MultinomialSolver if smooth else L1MultinomialSolver)(problem, request)
    if not problem.penalty.is_smooth or problem.loss.name == "squared_error":
        return L1Solver(problem, request)
    return Solver(problem, request)
