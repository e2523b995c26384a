"""Type aliases of the arrays that the whole package passes around."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Indices"]

#: An array of float64: weights, scores, dual points, statistics.
Floats: TypeAlias = NDArray[np.float64]
#: An array of positions of rows, columns or classes.
Indices: TypeAlias = NDArray[np.intp]
