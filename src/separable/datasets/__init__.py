"""The small data set shipped for the demo, the documentation and the tests."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PENGUINS"]

#: 344 penguins of three species: numbers and categories, with missing values.
PENGUINS = Path(__file__).parent / "penguins.csv"
