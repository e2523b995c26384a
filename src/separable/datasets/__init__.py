"""Data sets that come with the package; README.md in this folder names their sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.datasets.examples import EXAMPLES, Example, load

__all__ = ["EXAMPLES", "PENGUINS", "Example", "load"]

#: The Palmer penguins as CSV: 344 rows, the species and seven measurements.
PENGUINS = Path(__file__).parent / "penguins.csv"

_HOMES = dict.fromkeys(("EXAMPLES", "Example", "load"), "separable.datasets.examples")

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
