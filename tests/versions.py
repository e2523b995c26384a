"""Skipping comparisons with libraries that computed something else in an older version."""

from __future__ import annotations

import pytest
import sklearn

#: Older versions have other parameters, or results that were corrected since.
NEWER_SKLEARN = pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9),
    reason="compares with what scikit-learn 1.9 computes",
)
