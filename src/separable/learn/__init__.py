"""Learning step by step: traces of the online learners, and the algorithms in plain NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.learn.trace_table import Trace
    from separable.learn.tracing import trace

__all__ = ["Trace", "trace"]

_HOMES = {"Trace": "separable.learn.trace_table", "trace": "separable.learn.tracing"}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
