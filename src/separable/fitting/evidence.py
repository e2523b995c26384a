"""Evidence as a model keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["one_or_list"]


def one_or_list(values: NDArray[np.float64]) -> float | list[float]:
    """Return one number for one model or target, a list for several."""
    numbers: list[float] = values.tolist()
    return numbers[0] if len(numbers) == 1 else numbers
