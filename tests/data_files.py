"""Data outside the repository: files below the folder that ``SEPARABLE_DATA`` names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_file(*parts: str) -> Path:
    """Return the path of a file of the data folder; without it, skip the test and say why."""
    root = os.environ.get("SEPARABLE_DATA")
    if not root:
        pytest.skip("SEPARABLE_DATA is not set: it names the folder of the data")
    path = Path(root).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"SEPARABLE_DATA holds no {'/'.join(parts)}")
    return path
