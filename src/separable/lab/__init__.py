"""The lab: one self-contained HTML page on which linear models learn step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.lab.lab_page import lab

__all__ = ["lab"]

#: The module of each public name.
_HOMES = {"lab": "separable.lab.lab_page"}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
