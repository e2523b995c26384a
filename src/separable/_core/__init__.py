"""The compiled core: one extension for each CPU level, the best one picked at import.

``SEPARABLE_CPU=baseline|avx2|avx512`` forces a level. ``native`` is the extension in use and
``LEVEL`` its name.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from separable._core._cpu import supported_levels

if TYPE_CHECKING:
    import separable._core._native as native

__all__ = ["LEVEL", "LEVELS", "native"]

#: The levels this machine can run, slowest first.
LEVELS: tuple[str, ...] = supported_levels()


def _pick_level() -> str:
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
