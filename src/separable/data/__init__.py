"""Data ingestion: arrays, sparse matrices, data frames, files and streams to rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.data.checks.checking import check, duplicates_between
    from separable.data.checks.findings import Finding, Findings
    from separable.data.dataset import Dataset
    from separable.data.io.readers import LineError
    from separable.data.io.reading import Scan, read, scan
    from separable.data.io.svmlight import SvmlightReader
    from separable.data.io.vw import VwReader
    from separable.data.reading_report import Progress, ProgressLine, ReadingReport
    from separable.data.table import TableError

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

#: Module of each public name, imported on first access.
_HOMES = {
    "Dataset": "separable.data.dataset",
    "Finding": "separable.data.checks.findings",
    "Findings": "separable.data.checks.findings",
    "LineError": "separable.data.io.readers",
    "Progress": "separable.data.reading_report",
    "ProgressLine": "separable.data.reading_report",
    "ReadingReport": "separable.data.reading_report",
    "Scan": "separable.data.io.reading",
    "SvmlightReader": "separable.data.io.svmlight",
    "TableError": "separable.data.table",
    "VwReader": "separable.data.io.vw",
    "check": "separable.data.checks.checking",
    "duplicates_between": "separable.data.checks.checking",
    "read": "separable.data.io.reading",
    "scan": "separable.data.io.reading",
}


if not TYPE_CHECKING:  # type checkers should see only the names above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
