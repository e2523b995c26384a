"""Available memory, and checks against it before large allocations.

Work that would not fit is rejected before anything is allocated.
"""

from __future__ import annotations

import os
import sys

__all__ = ["available_bytes", "check_column_products", "check_row_products"]


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
