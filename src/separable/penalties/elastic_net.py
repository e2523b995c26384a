"""The elastic net penalty (Zou and Hastie, 2005): value, conjugate, dual scaling and prox.

Arrays have one model, (d,), or one a column, (d, k); sums are over the first axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separable.linalg.column_major import max_correlations
from separable.typing import Floats


@dataclass(frozen=True)
class ElasticNetPenalty:
    """The elastic net penalty l1 |u|_1 + l2 / 2 |u|^2, l1 = l1_ratio / unit, l2 = 1 - l1_ratio.

    Parameters
    ----------
    l1_ratio : float
        From 0, the l2 penalty, to 1, the l1 penalty.
    positive : bool
        Constrain the weights to be non-negative.
    unit : float
        Weights of the raw columns for a weight of 1.
    """

    l1_ratio: float = 0.0
    positive: bool = False
    unit: float = 1.0

    @property
    def is_smooth(self) -> bool:
        """Whether it is the plain l2 penalty."""
        return self.l1_ratio == 0 and not self.positive

    @property
    def l1(self) -> float:
        """The weight of |u_j|."""
        return self.l1_ratio / self.unit

    @property
    def l2(self) -> float:
        """The weight of u_j^2 / 2."""
        return 1.0 - self.l1_ratio

    def value(self, u: Floats) -> Any:
        """Return the penalty."""
        return self.l1 * np.abs(u).sum(axis=0) + 0.5 * self.l2 * (u * u).sum(axis=0)

    def largest(self, v: Floats) -> Any:
        """Return the largest correlation that counts, at least 0: of positive weights signed."""
        return max_correlations(v, is_signed=self.positive)

    def dual_scaling(self, v: Floats) -> Any:
        """Return the largest t for which the conjugate is finite at t * v; inf with an l2 part."""
        return self.scaling_of(self.largest(v))

    def scaling_of(self, largest: Any) -> Any:
        """Return the dual scaling for the largest correlation."""
        scaling = np.full(np.shape(largest), math.inf)
        with np.errstate(over="ignore"):
            return np.divide(self.l1, largest, out=scaling, where=(largest > 0) & (self.l2 == 0))

    def feasible(self, u: Floats) -> Floats:
        """Return the nearest weights that the constraint allows."""
        return np.maximum(u, 0.0) if self.positive else u

    def excess(self, v: Floats) -> Floats:
        """Return v soft-thresholded by l1."""
        over: Floats = np.maximum(v - self.l1, 0.0)
        if not self.positive:
            over += np.minimum(v + self.l1, 0.0)
        return over

    def conjugate(self, v: Floats) -> Any:
        """Return the conjugate of the penalty at v, which is in its domain."""
        if self.l2 == 0:
            return np.zeros(v.shape[1:])
        return (self.excess(v) ** 2).sum(axis=0) / (2.0 * self.l2)

    def gap(self, u: Floats, v: Floats) -> Any:
        """Return the Fenchel-Young gap penalty(u) + conjugate(v) - u.v, from non-negative terms."""
        over = self.excess(v) if self.l2 > 0 else np.zeros_like(v)
        terms = np.maximum(self.l1 * np.abs(u) - (v - over) * u, 0.0).sum(axis=0)
        if self.l2 > 0:
            terms = terms + 0.5 * self.l2 * ((u - over / self.l2) ** 2).sum(axis=0)
        return terms

    def prox(self, t: Floats, step: float = 1.0) -> Floats:
        """Return the x that minimises 1/2 |x - t|^2 + step penalty(x)."""
        least = step * self.l1
        x = np.maximum(t - least, 0.0)
        if not self.positive:
            x += np.minimum(t + least, 0.0)
        shrunk: Floats = x / (1.0 + step * self.l2)
        return shrunk

    def minimizer(self, v: Floats) -> Floats:
        """Return the weights of least penalty(u) - u.v; the penalty has an l2 part."""
        return self.excess(v) / self.l2
