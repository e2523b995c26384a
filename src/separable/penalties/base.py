"""Protocols of the penalties: what certificates and block coordinate descent use."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separable.typing import Floats


class Descent(Protocol):
    """Block coordinate descent on 1/2 u'hu - q'u + penalty(u)."""

    def __call__(self, u: Floats, g: Floats, enough: float, most: int, /) -> tuple[int, float]:
        """Update u and g = q - hu; return the passes, and how much the last one moved.

        Passes stop after one that decreases the objective by at most ``enough``, or after ``most``.
        """


class ConvexPenalty(Protocol):
    """The interface of a penalty that certificates use."""

    def value(self, u: Floats) -> Any:
        """Return the penalty."""

    def dual_scaling(self, v: Floats) -> Any:
        """Return the largest t for which the conjugate is finite at t * v (the dual scaling)."""

    def conjugate(self, v: Floats) -> Any:
        """Return the conjugate of the penalty at v, which is in its domain."""

    def gap(self, u: Floats, v: Floats) -> Any:
        """Return the Fenchel-Young gap penalty(u) + conjugate(v) - u.v, from non-negative terms."""


class Proximal(ConvexPenalty, Protocol):
    """A penalty with a prox."""

    def prox(self, t: Floats, step: float) -> Floats:
        """Return the x that minimises 1/2 |x - t|^2 + step penalty(x)."""


class BlockPenalty(ConvexPenalty, Protocol):
    """A block-separable penalty."""

    def value(self, u: Floats) -> float:
        """Return the penalty."""

    @property
    def is_sparse(self) -> bool:
        """Whether it sets weights to 0, so that a working set pays."""

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return the mask of non-zero blocks."""

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of the given blocks, in block order."""

    def part(self, blocks: NDArray[np.intp]) -> BlockPenalty:
        """Return the penalty restricted to the given blocks, columns in block order."""

    def violations(self, v: Floats) -> Floats:
        """Return the violation of the optimality condition of each block if it is 0."""

    def derivatives(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the Hessian of the penalty; no block is 0."""

    def descent(self, blocks: NDArray[np.intp], h: Floats) -> Descent:
        """Return block coordinate descent over the given blocks."""

    def follow_barrier(self, h: Floats, u: Floats, g: Floats, size: float) -> None:
        """Move u close to the minimum of 1/2 u'hu - q'u + penalty(u) by a barrier method.

        u and g = q - hu are updated in place; ``size`` is roughly the objective value.
        """
