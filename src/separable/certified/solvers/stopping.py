"""Stopping rule: certify iterates when it pays, and stop at the requested gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.solvers.incumbent import better
from separable.typing import Floats

#: A relative gap at the level of rounding.
ROUNDING = 1e-15
#: After a certificate that misses, the next one waits for a gap smaller by this factor.
TIGHTEN = 0.5
#: Certificates without much progress after which a small problem stops.
MAX_IDLE_CERTIFICATES = 3
#: Small problems certify every step below this relative gap.
CERTIFY_BELOW = 1e-3


class StoppingRule:
    """A stopping rule on the certified duality gap.

    Parameters
    ----------
    certify : callable
        Returns the certified solution of a dual point and weights.
    tol : float
        The requested relative gap.
    to_rounding : bool
        Continue until the certificate cannot improve.
    on_step : callable, optional
        Called with the number of the step and the relative gap so far; returning True stops the
        solver.
    """

    def __init__(
        self,
        certify: Callable[[Floats, Floats], CertifiedSolution],
        *,
        tol: float,
        to_rounding: bool,
        on_step: Callable[[int, float], Any] | None = None,
    ) -> None:
        self._certify, self.tol, self._on_step = certify, tol, on_step
        self._to_rounding, self._wanted = to_rounding, tol
        self._best: CertifiedSolution | None = None
        self._idle, self._last = 0, np.inf
        self.steps, self.is_stopped = 0, False

    @property
    def reached(self) -> float:
        """The smallest certified relative gap."""
        return np.inf if self._best is None else self._best.certificates[0].relative_gap

    @property
    def wanted(self) -> float:
        """The relative gap at which the next certificate is due."""
        return ROUNDING if self._to_rounding else self._wanted

    @property
    def satisfied(self) -> bool:
        """Whether the requested gap was certified."""
        return self.reached <= self.tol

    def __call__(self, z: Floats, weights: Callable[[], Floats], seen: float) -> bool:
        """Return whether to stop after a step with dual point z and weights.

        ``seen`` is the relative gap as estimated by the solver.
        """
        stop_requested = self.report(seen)
        ripe = seen <= (max(CERTIFY_BELOW, self.tol) if self._to_rounding else self._wanted)
        if ripe or (stop_requested and self._best is None):
            self.consider(z, weights())
            self._wanted = TIGHTEN * min(self._wanted, seen)
            self._idle = 0 if self.reached < TIGHTEN * self._last else self._idle + 1
            self._last = self.reached
        return stop_requested or self.is_done

    def report(self, seen: float) -> bool:
        """Count a step, report it, and return whether the callback asked to stop."""
        self.steps += 1
        gap = min(seen, self.reached)
        self.is_stopped = self._on_step is not None and bool(self._on_step(self.steps, gap))
        return self.is_stopped

    @property
    def wants_more(self) -> bool:
        """Whether to solve to rounding."""
        return self._to_rounding

    @property
    def is_done(self) -> bool:
        """Whether the certified solution is good enough."""
        if not self._to_rounding:
            return self.satisfied
        return self.reached <= ROUNDING or (self.satisfied and self._idle >= MAX_IDLE_CERTIFICATES)

    def consider(self, z: Floats, weights: Floats) -> bool:
        """Certify z and weights, keep the better solution, and return whether it is this one."""
        with np.errstate(over="ignore", invalid="ignore"):
            solution = self._certify(z, weights)
        is_better = self._best is None or solution.is_better_than(self._best)
        self._best = solution if self._best is None else better(self._best, solution)
        return is_better

    def end(self, z: Floats, weights: Floats) -> CertifiedSolution:
        """Return the best solution; certify the last iterate if the gap was not reached."""
        if not self.satisfied:
            self.consider(z, weights)
        if not self.satisfied:  # the dual point 0 is always feasible
            self.consider(np.zeros_like(z), weights)
        assert self._best is not None
        return self._best
