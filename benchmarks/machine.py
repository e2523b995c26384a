"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["describe_machine", "load_average"]

PACKAGES = ("separable-ml", "numpy", "scipy", "scikit-learn", "pyarrow", "click", "threadpoolctl")
PEERS = ("celer", "skglm", "liblinear-official", "snapml", "vowpalwabbit")


def describe_machine() -> dict[str, object]:
    """Return the processor, its cores and caches, the CPU level in use and the versions."""
    from separable._core import LEVEL, LEVELS

    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "last_level_cache": _last_level_cache(),
        "level": LEVEL,
        "levels": list(LEVELS),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES + PEERS},
    }


def load_average() -> float | None:
    """Return how many processes wanted to run in the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _cpu_model() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _last_level_cache() -> str | None:
    sizes = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    return sizes[-1].read_text().strip() if sizes else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
