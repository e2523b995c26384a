"""Norms of groups of weights as a penalty: a group enters or leaves whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.penalties.group_barrier import MOST_COLUMNS, follow_barrier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["GroupPenalty"]


@dataclass(frozen=True)
class GroupPenalty:
    """sum_g strength_g |u_g|.

    Parameters
    ----------
    group : ndarray of intp, shape (d,)
        The number of each weight's group, from 0; every number up to the largest is there.
    lam : ndarray, shape (n_groups,)
        Above 0.
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
        """Return how many times v has a conjugate that is finite: it is 0 there."""
        ratio = float((self.norms(v) / self.lam).max(initial=0.0))
        return 1.0 / ratio if ratio > 0 else np.inf

    def conjugate(self, v: Floats) -> float:
        """Return the conjugate of the penalty at v, which is in reach: 0."""
        del v
        return 0.0

    def gap(self, u: Floats, v: Floats) -> float:
        """Return penalty(u) - u.v, from terms of groups that are not negative."""
        along = np.bincount(self.group, weights=u * v, minlength=self.n_blocks)
        return float(np.maximum(self.lam * self.norms(u) - along, 0.0).sum())

    def derivatives(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the slope and the second derivatives of the penalty, no group being 0."""
        norms = self.norms(u)[self.group]
        rise, along = self.lam[self.group], u / norms
        same = self.group[:, None] == self.group
        hessian = np.where(same, -np.outer(along, along), 0.0)
        hessian[np.diag_indices(len(u))] += 1.0
        return rise * along, hessian * (rise / norms)

    # ------------------------------------------------------------------ descent

    @property
    def n_blocks(self) -> int:
        """The number of groups."""
        return len(self.lam)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """Columns, one group after the other."""
        return np.argsort(self.group, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        counts = np.bincount(self.group, minlength=self.n_blocks)
        return np.concatenate([[0], np.cumsum(counts)])

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return which groups are not 0."""
        return self.norms(u) > 0

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of some groups, one group after the other."""
        sizes = np.diff(self._starts)[blocks]
        ends = np.cumsum(sizes)
        shift = self._starts[blocks] - (ends - sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(shift, sizes)
        columns: NDArray[np.intp] = self._order[places]
        return columns

    def part(self, blocks: NDArray[np.intp]) -> GroupPenalty:
        """Return the penalty of some groups, of their columns one after the other."""
        sizes = np.diff(self._starts)[blocks]
        return GroupPenalty(np.repeat(np.arange(len(blocks)), sizes), self.lam[blocks])

    def violations(self, u: Floats, v: Floats) -> Floats:
        """Return of each group that is 0 how far its pull is beyond what holds it there."""
        del u
        return self.norms(v) - self.lam

    def descend(
        self,
        blocks: NDArray[np.intp],
        h: Floats,
        u: Floats,
        g: Floats,
        *,
        enough: float,
        most: int,
    ) -> tuple[int, float]:
        """Pass over some groups; see ``native.group_descent``."""
        sizes = np.diff(self._starts)[blocks]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        axes, values = _axes(h, start)
        return native.group_descent(h, start, self.lam[blocks], axes, values, enough, most, u, g)

    def follow_barrier(self, h: Floats, u: Floats, g: Floats, size: float) -> None:
        """Bring u close to the minimum; see ``group_interior``."""
        if len(u) <= MOST_COLUMNS:
            follow_barrier(h, u, g, self.group, self.lam, size)


def _axes(h: Floats, start: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the axes of the block of each group, one after the other, and their values."""
    sizes = np.diff(start)
    room = np.concatenate([[0], np.cumsum(sizes**2)])
    axes, values = np.empty(room[-1]), np.empty(start[-1])
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        at = start[some][:, None] + np.arange(size)
        found, turned = np.linalg.eigh(h[at[:, :, None], at[:, None, :]])
        values[at] = np.maximum(found, 0.0)
        axes[room[some][:, None] + np.arange(size * size)] = turned.reshape(len(some), -1)
    return axes, values
