"""What goes into a solver and what comes out: warm starts, goals and solved lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.parallel import Cancellation
from separable.typing import Floats

OnPass = Callable[[int, float], bool]


@dataclass(frozen=True)
class Start:
    """A warm start: dual points with the sign of the target, intercepts, and weights.

    The weights, for the problem's columns, are for solvers that cannot derive them from the dual.
    They may be those of a smaller C, by the factor ``ratio``.
    """

    dual: Floats
    intercept: Floats
    weights: Floats | None = None
    ratio: float = 1.0

    def take(self, columns: list[int]) -> Start:
        """Return the warm start of the given columns."""
        weights = None if self.weights is None else self.weights[:, columns]
        return Start(self.dual[:, columns], self.intercept[columns], weights, self.ratio)

    @classmethod
    def after(cls, solution: CertifiedSolution, ratio: float = 1.0) -> Start:
        """Return the warm start for a C that is ``ratio`` times the one of a solution."""
        return cls(solution.dual * ratio, solution.intercept, solution.weights, ratio)

    def beyond(self, before: CertifiedSolution, step: float) -> Start:
        """Return the start so many times farther than the way from another solution to here."""
        assert self.weights is not None
        weights = self.weights + step * (self.weights - before.weights)
        b = self.intercept.copy()
        known = np.isfinite(b)  # -inf: an absent class
        b[known] += step * (b[known] - before.intercept[known])
        return Start(self.dual, b, weights, self.ratio)

    def weights_of(self, problem: Problem) -> Floats:
        """Return the weights, of the dual point if there are no others."""
        weights = problem.x.rmatvec(self.dual) if self.weights is None else self.weights
        return np.asarray(weights, dtype=np.float64)


@dataclass(frozen=True)
class Goal:
    """When a solver stops.

    Parameters
    ----------
    tol : float
        The requested relative gap.
    max_iter : int
        Maximum number of passes or steps.
    to_rounding : bool
        Go on from there until the certificate cannot improve.
    seed : int
        Seed of the order of rows.
    certified : bool
        False: stop at an estimated distance from the optimum, where the solver has one.
    is_silent : bool
        Nobody is told of steps, and nobody stops them.
    scores_only : bool
        Neither certificates nor weights are needed.
    """

    tol: float
    max_iter: int
    to_rounding: bool = False
    seed: int = 0
    certified: bool = True
    is_silent: bool = False
    scores_only: bool = False


@dataclass(frozen=True)
class Result:
    """Lanes as one solver leaves them.

    Parameters
    ----------
    solution : CertifiedSolution
        Without certificates if the goal was an estimated distance.
    passes : ndarray, shape (k,)
    is_done : ndarray of bool, shape (k,)
        Whether no other solver should continue.
    """

    solution: CertifiedSolution
    passes: NDArray[np.int64]
    solvers: list[str]
    is_done: NDArray[np.bool_] = field(default_factory=lambda: np.ones(1, np.bool_))


@dataclass(frozen=True)
class Solved:
    """A batch of solved lanes.

    Parameters
    ----------
    lane_indices : list of int
        Indices of the lanes.
    passes : ndarray, shape (k,)
    solvers : list of str
        The solver of each lane: "lbfgs", "newton", "newton-cg", "semismooth-newton",
        "interior-point", "descent" or "coordinates".
    """

    lane_indices: list[int]
    solution: CertifiedSolution
    passes: NDArray[np.int64]
    solvers: list[str]

    @staticmethod
    def in_order(batches: list[Solved]) -> Solved:
        """Return all batches as one, in the order of the lanes."""
        places = [place for batch in batches for place in batch.lane_indices]
        order = sorted(range(len(places)), key=places.__getitem__)
        if len(batches) == 1 and order == places:
            return batches[0]
        names = [name for batch in batches for name in batch.solvers]
        solutions = CertifiedSolution.side_by_side([batch.solution for batch in batches])
        return Solved(
            [places[k] for k in order],
            solutions.take(order),
            np.concatenate([batch.passes for batch in batches])[order],
            [names[k] for k in order],
        )


class Solver(Protocol):
    """The interface of a solver."""

    def blocks(
        self, lanes: Sequence[Lane], chosen: list[int], n_jobs: int
    ) -> list[list[list[int]]]:
        """Return blocks of lanes, each for one thread.

        A block has batches of lanes that are solved side by side; each batch is warm-started from
        the one before.
        """

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""

    def solve(
        self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: Cancellation
    ) -> Result:
        """Solve a batch of lanes."""


def chains(lanes: Sequence[Lane], chosen: list[int] | None = None) -> list[list[int]]:
    """Return the lanes of each class and fold, from small to large C; of all or of some."""
    paths: dict[tuple[int, int], list[int]] = {}
    some = range(len(lanes)) if chosen is None else chosen
    for k in sorted(some, key=lambda k: (lanes[k].C, k)):
        paths.setdefault((lanes[k].target, lanes[k].fold), []).append(k)
    return list(paths.values())


class OneByOne:
    """A solver of one lane at a time, along a path of C for each class and fold."""

    def blocks(
        self, lanes: Sequence[Lane], chosen: list[int], n_jobs: int
    ) -> list[list[list[int]]]:
        """Return a path for each class and fold."""
        del n_jobs
        return [[[k] for k in chain] for chain in chains(lanes, chosen)]
