"""Anything to rows: arrays, sparse matrices, frames, files and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.data.checking import check, duplicates_between
    from separable.data.dataset import Dataset
    from separable.data.findings import Finding, Findings
    from separable.data.line_errors import LineError
    from separable.data.progress import Progress, ProgressLine
    from separable.data.reading import read
    from separable.data.report import ReadingReport
    from separable.data.scanning import Scan, scan
    from separable.data.svmlight import SvmlightReader
    from separable.data.table import TableError
    from separable.data.vw_text import VwReader

__all__ = [
    "Dataset",
    "Finding",
    "Findings",
    "LineError",
    "Progress",
    "ProgressLine",
    "ReadingReport",
    "Scan",
    "SvmlightReader",
    "TableError",
    "VwReader",
    "check",
    "duplicates_between",
    "read",
    "scan",
]

#: Where each public name lives; it is imported when it is asked for.
_HOMES = {
    "Dataset": "separable.data.dataset",
    "Finding": "separable.data.findings",
    "Findings": "separable.data.findings",
    "LineError": "separable.data.line_errors",
    "Progress": "separable.data.progress",
    "ProgressLine": "separable.data.progress",
    "ReadingReport": "separable.data.report",
    "Scan": "separable.data.scanning",
    "SvmlightReader": "separable.data.svmlight",
    "TableError": "separable.data.table",
    "VwReader": "separable.data.vw_text",
    "check": "separable.data.checking",
    "duplicates_between": "separable.data.checking",
    "read": "separable.data.reading",
    "scan": "separable.data.scanning",
}


if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__ = lazy_names(__name__, _HOMES)
