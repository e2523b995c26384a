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
    force : str, optional
        The only solver of an l2-penalised problem, whatever the policy says: "lbfgs", "newton",
        "newton_cg", "dual_cd", "semismooth_newton" or "interior_point".
    """

    tol: float | None = None
    max_iter: int = 1000
    seed: int = 0
    n_jobs: int = 1
    callback: Callable[[int, float], Any] | None = None
    certified: bool = True
    force: str | None = None
