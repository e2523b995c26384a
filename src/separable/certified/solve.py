"""Three engines behind one certificate: which one takes a problem, and which takes over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.judge import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem

    Floats = NDArray[np.float64]

__all__ = ["Request", "Solved", "solve"]

#: Up to so many columns (or rows, if fewer) the d x d engines take a problem from the start.
FEW = 512
#: Numbers of a problem that is solved to rounding whatever was asked.
SMALL = 1_000_000


@dataclass(frozen=True)
class Request:
    """How well and how long to solve.

    Parameters
    ----------
    tol : float or None
        The relative gap asked for. None: 1e-6 with few columns, 1e-4 with many.
    max_iter : int
        Most passes over the rows.
    seed : int
    on_pass : callable, optional
        Called with the number of a pass and the relative gap so far; True ends the work.
    """

    tol: float | None = None
    max_iter: int = 1000
    seed: int = 0
    on_pass: Callable[[int, float], Any] | None = None


@dataclass(frozen=True)
class Solved:
    """Models of lanes, with what proves them.

    Parameters
    ----------
    judgement : Judgement
    passes : ndarray, shape (k,)
    engine : list of str
        What ended each lane's work.
    """

    judgement: Judgement
    passes: NDArray[np.int64]
    engine: list[str]


def solve(problem: Problem, lanes: Sequence[Lane], request: Request) -> Solved:
    """Learn all lanes of a problem."""
    raise NotImplementedError
