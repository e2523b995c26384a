"""Resources of the machine: threads for ``n_jobs``, and memory for large arrays.

Work that would not fit in memory is rejected before anything is allocated.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "available_bytes",
    "check_column_products",
    "check_row_products",
    "in_threads",
    "n_threads",
]

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


def available_bytes() -> int:
    """Return the available memory in bytes; `sys.maxsize` if the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123  # not a user's file
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return sys.maxsize


#: Square matrices that a learner holds at once.
MATRICES = 4
#: Bytes that are allocated without asking how many are available, which costs 50 microseconds.
UNCHECKED_BYTES = 1 << 22


def check_column_products(n_columns: int, owner: str, instead: str, *, products: bool) -> None:
    """Reject cross products, or squares, of columns that do not fit in memory.

    Parameters
    ----------
    n_columns : int
    owner, instead : str
        Caller and alternative, for the message.
    products : bool
        Cross products of all columns; else squares only.
    """
    what = "products" if products else "squares"
    count = n_columns * (n_columns if products else 1)
    _check(count, f"{owner} needs {what} of all {n_columns} columns", instead)


def check_row_products(n_rows: int, owner: str, instead: str) -> None:
    """Reject products of all pairs of rows that do not fit in memory."""
    _check(n_rows * n_rows, f"{owner} needs products of all {n_rows} rows", instead)


def _check(numbers: int, needed: str, instead: str) -> None:
    need = MATRICES * 8 * numbers
    if need <= UNCHECKED_BYTES:
        return
    available = available_bytes()
    if need > available:
        raise MemoryError(
            f"{needed} ({need / 2**30:.1f} GiB), but only {available / 2**30:.1f} GiB are "
            f"available. Instead, {instead}."
        )
