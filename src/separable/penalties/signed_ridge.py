"""The l2 penalty with weights of one sign: value, conjugate and the nearest weights allowed.

penalty(u) = 1/2 |u|^2,  u_j >= 0 or u_j <= 0 for some columns j
conjugate(v) = 1/2 sum_j P(v)_j^2,  P(v)_j = v_j, or max(v_j, 0), or min(v_j, 0)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from separable.penalties.elastic_net import ElasticNetPenalty
from separable.typing import Floats


@dataclass(frozen=True)
class SignedRidgePenalty(ElasticNetPenalty):
    """The l2 penalty of weights with given signs.

    Parameters
    ----------
    signs : tuple of int
        One for each column: 1: non-negative, -1: non-positive, 0: any.

    Examples
    --------
    >>> penalty = SignedRidgePenalty(signs=(1, -1, 0))
    >>> penalty.minimizer(np.array([-2.0, -2.0, -2.0]))
    array([ 0., -2., -2.])
    >>> float(penalty.conjugate(np.array([-2.0, -2.0, -2.0])))
    4.0
    """

    l1_ratio: float = field(default=0.0, init=False)
    positive: bool = field(default=False, init=False)
    signs: tuple[int, ...] = ()

    @property
    def is_smooth(self) -> bool:
        """Whether it is the plain l2 penalty."""
        return False

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the largest weight of each column."""
        signs = np.asarray(self.signs)
        return np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)

    def feasible(self, u: Floats) -> Floats:
        """Return the nearest weights with the given signs."""
        low, high = (each.reshape(-1, *[1] * (u.ndim - 1)) for each in self.bounds)
        return np.asarray(np.clip(u, low, high), np.float64)

    def excess(self, v: Floats) -> Floats:
        """Return the weights of least penalty(u) - u.v."""
        return self.feasible(v)

    def prox(self, t: Floats, step: float = 1.0) -> Floats:
        """Return the x that minimises 1/2 |x - t|^2 + step penalty(x)."""
        return self.excess(t) / (1.0 + step)
