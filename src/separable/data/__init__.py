"""Anything to rows: arrays, sparse matrices, frames, files and streams."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from separable.data.dataset import Dataset
    from separable.data.progress import Progress, ProgressLine
    from separable.data.reading import read
    from separable.data.report import ReadingReport
    from separable.data.scanning import Scan, scan
    from separable.data.table import TableError

__all__ = [
    "Dataset",
    "Progress",
    "ProgressLine",
    "ReadingReport",
    "Scan",
    "TableError",
    "read",
    "scan",
]

#: Where each public name lives; it is imported when it is asked for.
_HOMES = {
    "Dataset": "separable.data.dataset",
    "Progress": "separable.data.progress",
    "ProgressLine": "separable.data.progress",
    "ReadingReport": "separable.data.report",
    "Scan": "separable.data.scanning",
    "TableError": "separable.data.table",
    "read": "separable.data.reading",
    "scan": "separable.data.scanning",
}


def _home_of(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__ = _home_of
