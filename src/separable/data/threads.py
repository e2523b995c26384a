"""Threads: resolution of ``n_jobs`` and a thread-pool map."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["in_threads", "n_threads"]

#: Batches per thread: submitting a task costs more than a small item.
BATCHES = 64

Item = TypeVar("Item")
Made = TypeVar("Made")


def n_threads(n_jobs: Any, owner: str) -> int:
    """Return the number of threads for ``n_jobs``: None means 1, -1 all cores.

    Parameters
    ----------
    n_jobs : int or None
    owner : str
        Class that has the parameter, for the error message.
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"The 'n_jobs' parameter of {owner} must be None, -1 or an int >= 1. "
            f"Got {n_jobs!r} instead."
        )
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + int(n_jobs))


def in_threads(threads: int, make: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Apply a function to each item in parallel and return the results in order."""
    if threads == 1:
        return [make(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    items = list(items)
    size = max(1, len(items) // (threads * BATCHES))
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    with ThreadPoolExecutor(threads) as pool:
        made = pool.map(lambda batch: [make(item) for item in batch], batches)
        return [each for batch in made for each in batch]
