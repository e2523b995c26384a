"""Options of the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SolverOptions"]


@dataclass(frozen=True)
class SolverOptions:
    """Options of the solvers.

    Parameters
    ----------
    tol : float or None
        The requested relative gap. None: 1e-6; smooth losses and other penalties with many
        columns: 1e-4.
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
    force : str, optional
        The only solver to use, whatever the policy says: "dual_cd", "semismooth_newton",
        "interior_point", "newton" or "newton_cg". For tests of binary l2 problems.
    """

    tol: float | None = None
    max_iter: int = 1000
    seed: int = 0
    n_jobs: int = 1
    callback: Callable[[int, float], Any] | None = None
    certified: bool = True
    force: str | None = None
