"""The compiled core.

``portable`` is the extension with rows, parsers, text and features, compiled once. ``native`` has
the kernels: there is one extension for each CPU level, and the best one is picked at import.
``LEVEL`` is its name; ``SEPARABLE_CPU=baseline|avx2|avx512`` forces one.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from separable._core import portable

if TYPE_CHECKING:
    import separable._core._native as native

__all__ = ["LEVEL", "LEVELS", "native", "portable"]

#: The levels that were built and that this machine can run, slowest first.
LEVELS: tuple[str, ...] = tuple(portable.usable_levels())


def _pick_level() -> str:
    if not LEVELS:
        raise ImportError(
            "The kernels of this installation were built for another CPU. Install separable-ml "
            "again on this machine."
        )
    forced = os.environ.get("SEPARABLE_CPU")
    if not forced:
        return LEVELS[-1]
    if forced not in LEVELS:
        raise ImportError(
            f"SEPARABLE_CPU={forced!r} asks for a CPU level this machine does not have. "
            f"It has: {', '.join(LEVELS)}. Unset SEPARABLE_CPU to use the best of them."
        )
    return forced


LEVEL: str = _pick_level()

if not TYPE_CHECKING:
    native = import_module(f"separable._core.{LEVEL}")
