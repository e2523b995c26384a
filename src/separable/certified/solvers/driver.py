"""The driver of every solver: what is returned is the best point that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from separable.certified.solvers.incumbent import Incumbents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.dual_cd import Start
    from separable.certified.solvers.l2_driver import Solved, SolverOptions

__all__ = ["Driver", "Learns"]


class Learns(Protocol):
    """Learns lanes of one problem."""

    @property
    def problem(self) -> Problem:
        """What is learned."""

    @property
    def solver_options(self) -> SolverOptions:
        """How well and how long."""

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes, some at a time, in an order that lanes alone decide."""


@dataclass(frozen=True)
class Driver:
    """Runs a solver, and replaces what it found where a better point is known.

    Parameters
    ----------
    solver : Learns
    """

    solver: Learns

    @property
    def problem(self) -> Problem:
        """What is learned."""
        return self.solver.problem

    @property
    def solver_options(self) -> SolverOptions:
        """How well and how long."""
        return self.solver.solver_options

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes, some at a time, in an order that lanes alone decide."""
        known = Incumbents(self.problem, lanes, start)
        for solved in self.solver.solve(lanes, start):
            yield known.improve(solved)
