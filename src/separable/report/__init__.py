"""Reports: a model as one HTML page, with its data, metrics and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.report.reporting import report

__all__ = ["report"]

#: The module of each public name.
_HOMES = {"report": "separable.report.reporting"}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
