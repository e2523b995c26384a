"""The group lasso penalty (Yuan and Lin, 2006): value, conjugate, dual scaling, descent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.penalties.base import Descent
from separable.penalties.group_barrier import follow_barrier
from separable.typing import Floats


@dataclass(frozen=True)
class GroupPenalty:
    """The group lasso penalty sum_g lam_g |u_g|.

    Parameters
    ----------
    group : ndarray of intp, shape (d,)
        The group of each weight, 0 to n_groups - 1; no group is empty.
    lam : ndarray, shape (n_groups,)
        Penalty levels, above 0.
    """

    group: NDArray[np.intp]
    lam: Floats

    is_sparse = True

    # ------------------------------------------------------------------ values

    def norms(self, u: Floats) -> Floats:
        """Return |u_g| of each group."""
        extent = float(np.abs(u).max(initial=0.0))
        if extent == 0 or not np.isfinite(extent):
            return np.full(self.n_blocks, extent)
        squares = np.bincount(self.group, weights=(u / extent) ** 2, minlength=self.n_blocks)
        return extent * np.sqrt(squares)

    def value(self, u: Floats) -> float:
        """Return the penalty."""
        return float(self.lam @ self.norms(u))

    def dual_scaling(self, v: Floats) -> float:
        """Return the largest t for which the conjugate is finite, hence 0, at t * v."""
        ratio = float((self.norms(v) / self.lam).max(initial=0.0))
        return 1.0 / ratio if ratio > 0 else np.inf

    def conjugate(self, v: Floats) -> float:
        """Return the conjugate of the penalty at v, which is in its domain: 0."""
        del v
        return 0.0

    def gap(self, u: Floats, v: Floats) -> float:
        """Return the Fenchel-Young gap penalty(u) - u.v, from non-negative terms of groups."""
        products = np.bincount(self.group, weights=u * v, minlength=self.n_blocks)
        return float(np.maximum(self.lam * self.norms(u) - products, 0.0).sum())

    def derivatives(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the Hessian of the penalty; no group is 0."""
        norms = self.norms(u)[self.group]
        lam, unit = self.lam[self.group], u / norms
        same = self.group[:, None] == self.group
        hessian = np.where(same, -np.outer(unit, unit), 0.0)
        hessian[np.diag_indices(len(u))] += 1.0
        return lam * unit, hessian * (lam / norms)

    # ------------------------------------------------------------------ descent

    @property
    def n_blocks(self) -> int:
        """The number of groups."""
        return len(self.lam)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The columns sorted by group."""
        return np.argsort(self.group, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        counts = np.bincount(self.group, minlength=self.n_blocks)
        return np.concatenate([[0], np.cumsum(counts)])

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return the mask of non-zero groups."""
        return self.norms(u) > 0

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of the given groups, in group order."""
        sizes = np.diff(self._starts)[blocks]
        ends = np.cumsum(sizes)
        shift = self._starts[blocks] - (ends - sizes)
        positions = np.arange(ends[-1] if len(ends) else 0) + np.repeat(shift, sizes)
        columns: NDArray[np.intp] = self._order[positions]
        return columns

    def part(self, blocks: NDArray[np.intp]) -> GroupPenalty:
        """Return the penalty restricted to the given groups, columns in group order."""
        sizes = np.diff(self._starts)[blocks]
        return GroupPenalty(np.repeat(np.arange(len(blocks)), sizes), self.lam[blocks])

    def violations(self, v: Floats) -> Floats:
        """Return the violation of the optimality condition of each group if it is 0."""
        return self.norms(v) - self.lam

    def descent(self, blocks: NDArray[np.intp], h: Floats) -> Descent:
        """Return block coordinate descent over the given groups; see ``native.group_descent``."""
        sizes = np.diff(self._starts)[blocks]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        axes, values = _axes(h, start)
        lam = self.lam[blocks]

        def descend(u: Floats, g: Floats, enough: float, most: int) -> tuple[int, float]:
            return native.group_descent(h, start, lam, axes, values, enough, most, u, g)

        return descend

    def follow_barrier(self, h: Floats, u: Floats, g: Floats, size: float) -> None:
        """Move u close to the minimum; see ``group_barrier``."""
        follow_barrier(h, u, g, self.group, self.lam, size)


def _axes(h: Floats, start: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the eigenvectors of the diagonal block of each group, and their eigenvalues."""
    sizes = np.diff(start)
    offset = np.concatenate([[0], np.cumsum(sizes**2)])
    axes, values = np.empty(offset[-1]), np.empty(start[-1])
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        at = start[same][:, None] + np.arange(size)
        eigenvalues, eigenvectors = np.linalg.eigh(h[at[:, :, None], at[:, None, :]])
        values[at] = np.maximum(eigenvalues, 0.0)
        axes[offset[same][:, None] + np.arange(size * size)] = eigenvectors.reshape(len(same), -1)
    return axes, values
