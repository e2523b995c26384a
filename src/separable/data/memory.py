"""How much memory there is."""

from __future__ import annotations

import os
import sys

__all__ = ["available_bytes"]


def available_bytes() -> int:
    """Return the memory that can be had now; where the system does not say, more than enough."""
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
