"""The order in which shuffled fits take their rows, as ``math/shuffle.hpp`` computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable._core import native

if TYPE_CHECKING:
    from separable.typing import Indices

__all__ = ["MAX_ROWS", "epoch_orders"]

#: More rows are shuffled in windows, by another order.
MAX_ROWS = 16_383
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def epoch_orders(n_rows: int, seed: int, epochs: int) -> list[Indices]:
    """Return the order of the rows in each epoch of a shuffled fit; ``seed`` is the core's."""
    first = np.empty(n_rows, dtype=np.int64)
    native.shuffled(n_rows, None, seed, first)
    return [_shuffled(first, seed, epoch + 1) for epoch in range(epochs)]


def _shuffled(items: Indices, seed: int, round_: int) -> Indices:
    """Fisher-Yates with SplitMix64; a number below n is the high half of a 128-bit product."""
    order, state = items.copy(), _mix(seed ^ _mix(round_))
    for left in range(len(order), 1, -1):
        state = (state + GOLDEN) & MASK
        chosen = (_mix(state) * left) >> 64
        order[left - 1], order[chosen] = order[chosen], order[left - 1]
    return order


def _mix(z: int) -> int:
    z = (z + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)
