"""The outer driver: runs a solver and returns the best known point of each lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from separable.certified.solvers.incumbent import Incumbents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.dual_cd import Start
    from separable.certified.solvers.l2_driver import Solved
    from separable.certified.solvers.options import SolverOptions

__all__ = ["Driver", "Learns"]


class Learns(Protocol):
    """The interface of a solver for the lanes of one problem."""

    @property
    def problem(self) -> Problem:
        """The problem to solve."""

    @property
    def solver_options(self) -> SolverOptions:
        """Tolerance, iteration limit and callback."""

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes in batches; the order depends on the lanes only."""


@dataclass(frozen=True)
class Driver:
    """A solver whose results are replaced where a better point is known (`Incumbents`).

    Parameters
    ----------
    solver : Learns
    """

    solver: Learns

    @property
    def problem(self) -> Problem:
        """The problem to solve."""
        return self.solver.problem

    @property
    def solver_options(self) -> SolverOptions:
        """Tolerance, iteration limit and callback."""
        return self.solver.solver_options

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes in batches; the order depends on the lanes only."""
        known = Incumbents(self.problem, lanes, start)
        for solved in self.solver.solve(lanes, start):
            yield known.improve(solved)
