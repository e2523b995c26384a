"""A model file as a web service: an ASGI application, and the server that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.serve.application import app
    from separable.serve.limits import Limits
    from separable.serve.server import run

__all__ = ["Limits", "app", "run"]

#: The module of each public name.
_HOMES = {
    "Limits": "separable.serve.limits",
    "app": "separable.serve.application",
    "run": "separable.serve.server",
}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
