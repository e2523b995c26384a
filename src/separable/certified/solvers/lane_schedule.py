"""Schedule of passes and certificates for a block of lanes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.solvers.incumbent import better
from separable.typing import Floats

#: After a certificate that misses, passes continue until the estimated gap has fallen by the ratio
#: by which it missed, clipped to this range.
MIN_RATIO, MAX_RATIO = 0.1, 0.9
#: Offset of the pass numbers of a phase, which seed the order of rows.
PHASE_OFFSET = 1 << 32


class Block(Protocol):
    """The interface of a block of lanes that run side by side."""

    paused: NDArray[np.bool_]

    def run_pass(self, number: int, seed: int) -> Floats:
        """Run one pass over the rows; return the estimated relative gap of each lane."""

    def unshrink(self, lanes: NDArray[np.bool_]) -> None:
        """Restore the shrunk rows of these lanes."""

    def certify(self, tol: float) -> CertifiedSolution:
        """Certify the current point of all lanes."""

    def solution(self) -> CertifiedSolution:
        """Return the current point of all lanes without certificates."""


def bits(lanes: NDArray[np.bool_]) -> int:
    """Return the bit mask of a boolean mask of lanes.

    Examples
    --------
    >>> bits(np.array([True, False, True]))
    5
    """
    return sum(1 << k for k in np.flatnonzero(lanes).tolist())


def run_phases(
    block: Block,
    *,
    tol: float,
    max_iter: int,
    seed: int,
    on_pass: Callable[[int, float], Any] | None = None,
    certified: bool = True,
) -> tuple[CertifiedSolution, NDArray[np.int64]]:
    """Solve one block of lanes.

    A lane pauses when its estimated gap is due for a certificate, until all lanes of the block
    have paused. Lanes whose certificate misses continue in the next phase, with other orders of
    rows. The result of a lane does not depend on the other lanes.

    Without certificates a pass over all rows, none of them shrunk, has to confirm the estimate.

    Parameters
    ----------
    tol, max_iter : float, int
        The requested relative gap, and the maximum number of passes.
    seed : int
        Seed of the order of rows.
    on_pass : callable, optional
        Called after each pass with its number and the largest estimated relative gap; returning
        True stops the solver.
    certified : bool, default True

    Returns
    -------
    solution : CertifiedSolution
        With float64 weights; without certificates in the float type of the passes.
    passes : ndarray, shape (k,)
        Number of passes of each lane.
    """
    k = len(block.paused)
    passes, converged, stop = np.zeros(k, np.int64), np.zeros(k, bool), False
    wanted = np.full(k, tol)
    best: CertifiedSolution | None = None
    for phase in itertools.count():
        block.paused = converged | (passes >= max_iter)
        seen, ahead = np.full(k, np.inf), np.zeros(k)
        for step in range(max_iter):
            running, before = ~block.paused, seen.copy()
            seen[running] = block.run_pass(phase * PHASE_OFFSET + step, seed)[running]
            passes[running] += 1
            ahead[running] = _gap_after(before, seen)[running]
            stop = on_pass is not None and bool(on_pass(int(passes.max()), float(ahead.max())))
            if phase and step == 0 and not certified:
                converged |= running & (ahead <= wanted)
            block.paused |= (ahead <= wanted) | (passes >= max_iter)
            if stop or block.paused.all():
                break
        if not certified:
            if stop or (converged | (passes >= max_iter)).all():
                return block.solution(), passes
            block.unshrink(~converged)
            continue
        solution = best = _best(best, block.certify(tol))
        gaps = np.array([one.relative_gap for one in solution.certificates])
        converged = gaps <= tol
        if stop or (converged | (passes >= max_iter)).all():
            break
        missed = np.clip(tol / np.maximum(gaps, tol), MIN_RATIO, MAX_RATIO)
        wanted = np.where(converged, wanted, missed * ahead)
        block.unshrink(~converged)
    return replace(solution, weights=solution.weights.astype(np.float64)), passes


def _best(before: CertifiedSolution | None, solution: CertifiedSolution) -> CertifiedSolution:
    """Return the better of two solutions in each lane."""
    if before is None:
        return solution
    lanes = range(len(solution.certificates))
    return solution.side_by_side([better(before.lane(k), solution.lane(k)) for k in lanes])


def _gap_after(before: Floats, seen: Floats) -> Floats:
    """Extrapolate the gap to the end of a pass from the estimates of the last two passes.

    The estimate averages over the pass, so on the whole it is half a pass old.
    """
    known = np.isfinite(before) & (before > 0)
    fall = np.divide(seen, before, out=np.ones(len(seen)), where=known)
    guess: Floats = seen * np.sqrt(np.clip(fall, MIN_RATIO, 1.0))
    return guess
